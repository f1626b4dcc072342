import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client';
import { readKept, writeKept } from '../kept-file.js';
import { client } from '../profile.js';

/** @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const oauth = createClient(url);
  return async () => (await oauth.clientCredentials()).accessToken;
}

/** @type {import('../candidates.js').Candidate['keep']} */
export function keep(url) {
  const oauth = createClient(url);
  const wrapper = new OAuth2Fetch({ client: oauth, getNewToken: () => oauth.clientCredentials() });
  return () => wrapper.getAccessToken();
}

/** @type {import('../candidates.js').Candidate['share']} */
export function share(url, file) {
  const wrapper = new OAuth2Fetch({
    client: createClient(url),
    getNewToken: () => null,
    getStoredToken() {
      const { access_token: accessToken, refresh_token: refreshToken, expires_at: expiresAt } = readKept(file);
      return { accessToken, refreshToken, expiresAt };
    },
    storeToken: ({ accessToken, refreshToken, expiresAt }) =>
      writeKept(file, { access_token: accessToken, refresh_token: refreshToken ?? '', expires_at: expiresAt ?? 0 }),
    // Its timer would keep the process alive for an hour.
    scheduleRefresh: false,
  });
  return () => wrapper.getAccessToken();
}

/** @param {string} url */
function createClient(url) {
  return new OAuth2Client({
    clientId: client.id,
    clientSecret: client.secret,
    tokenEndpoint: url,
    authenticationMethod: 'client_secret_post',
  });
}
