import { OAuth2Client, UserRefreshClient } from 'google-auth-library';
import { client } from '../fixtures.js';
import { readToken, writeToken } from './token-file.js';

/**
 * The library has no client_credentials grant, so it refreshes with a token that does not rotate. Concurrent callers of one client share a
 * request, so each caller gets its own client here.
 * @type {import('../clients.js').Client['request']}
 */
export function request(url) {
  /** @type {UserRefreshClient[]} */
  const idle = [];
  return async () => {
    const user = idle.pop() ?? createUser(url);
    const { credentials } = await user.refreshAccessToken();
    idle.push(user);
    return credentials.access_token;
  };
}

/** @type {import('../clients.js').Client['cache']} */
export function cache(url) {
  const user = createUser(url);
  return () => user.getAccessToken();
}

/** @type {import('../clients.js').Client['share']} */
export function share(url, file) {
  const user = new OAuth2Client(settingsFor(url));
  const { expires_at: expiryDate, ...tokens } = readToken(file);
  user.setCredentials({ ...tokens, expiry_date: expiryDate });
  user.on('tokens', ({ access_token: accessToken, refresh_token: refreshToken, expiry_date: endsAt }) =>
    writeToken(file, {
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
