import { OAuth2Client, UserRefreshClient } from 'google-auth-library';
import { readKept, writeKept } from '../kept-file.js';
import { client } from '../profile.js';

/**
 * It has no client_credentials: it refreshes, with a refresh token that does not rotate. Callers of one client share a request, so each has a
 * client of its own here.
 * @type {import('../candidates.js').Candidate['connect']}
 */
export function connect(url) {
  /** @type {UserRefreshClient[]} */
  const idle = [];
  return async () => {
    const user = idle.pop() ?? createUser(url);
    const { credentials } = await user.refreshAccessToken();
    idle.push(user);
    return credentials.access_token;
  };
}

/** @type {import('../candidates.js').Candidate['keep']} */
export function keep(url) {
  const user = createUser(url);
  return () => user.getAccessToken();
}

/** @type {import('../candidates.js').Candidate['share']} */
export function share(url, file) {
  const user = new OAuth2Client(settingsFor(url));
  const { expires_at: expiryDate, ...tokens } = readKept(file);
  user.setCredentials({ ...tokens, expiry_date: expiryDate });
  user.on('tokens', ({ access_token: accessToken, refresh_token: refreshToken, expiry_date: endsAt }) =>
    writeKept(file, {
      access_token: accessToken ?? '',
      refresh_token: refreshToken ?? tokens.refresh_token,
      expires_at: endsAt ?? 0,
    }),
  );
  return async () => (await user.getAccessToken()).token;
}

/** @param {string} url */
function createUser(url) {
  return new UserRefreshClient({ ...settingsFor(url), refreshToken: 'refresh-token.0' });
}

/** @param {string} url */
function settingsFor(url) {
  return { clientId: client.id, clientSecret: client.secret, endpoints: { oauth2TokenUrl: url } };
}
