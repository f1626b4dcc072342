import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client';
import { client } from '../fixtures.js';
import { readToken, writeToken } from './token-file.js';

/** @type {import('../clients.js').Client['request']} */
export function request(url) {
  const oauth = createClient(url);
  return async () => (await oauth.clientCredentials()).accessToken;
}

/** @type {import('../clients.js').Client['cache']} */
export function cache(url) {
  const oauth = createClient(url);
  const wrapper = new OAuth2Fetch({ client: oauth, getNewToken: () => oauth.clientCredentials() });
  return () => wrapper.getAccessToken();
}

/** @type {import('../clients.js').Client['share']} */
export function share(url, file) {
  const wrapper = new OAuth2Fetch({
    client: createClient(url),
    getNewToken: () => null,
    getStoredToken() {
      const { access_token: accessToken, refresh_token: refreshToken, expires_at: expiresAt } = readToken(file);
      return { accessToken, refreshToken, expiresAt };
    },
    storeToken: ({ accessToken, refreshToken, expiresAt }) =>
      writeToken(file, { access_token: accessToken, refresh_token: refreshToken ?? '', expires_at: expiresAt ?? 0 }),
    // The timer would keep the process running for an hour.
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
