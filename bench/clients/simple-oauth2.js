// @ts-expect-error The package has no types.
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2';
import { client } from '../fixtures.js';
import { shareByFile } from './token-file.js';

/** @type {import('../clients.js').Client['request']} */
export function request(url) {
  const grant = new ClientCredentials(settingsFor(url));
  return async () => (await grant.getToken({})).token.access_token;
}

/** @type {import('../clients.js').Client['share']} */
export function share(url, file) {
  const grant = new AuthorizationCode(settingsFor(url));
  return shareByFile(file, async (stored) => {
    const { token } = await grant.createToken({ ...stored, expires_at: new Date(stored.expires_at) }).refresh();
    return { ...token, expires_at: token.expires_at.getTime() };
  });
}

/** @param {string} url */
function settingsFor(url) {
  const { origin, pathname } = new URL(url);
  return {
    client,
    auth: { tokenHost: origin, tokenPath: pathname, refreshPath: pathname },
    options: { authorizationMethod: 'body' },
  };
}
