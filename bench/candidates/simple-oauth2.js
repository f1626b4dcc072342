// @ts-expect-error It comes without types.
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2';
import { sharedByFile } from '../kept-file.js';
import { client } from '../profile.js';

/** @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const grant = new ClientCredentials(settingsFor(url));
  return async () => (await grant.getToken({})).token.access_token;
}

/** It keeps no token; a caller's variable does. @type {import('../candidates.js').Candidate['keep']} */
export function keep(url) {
  const grant = new ClientCredentials(settingsFor(url));
  /** @type {{ expired(): boolean } | undefined} */
  let token;
  return async () => {
    if (token === undefined || token.expired()) token = await grant.getToken({});
    return token;
  };
}

/** @type {import('../candidates.js').Candidate['share']} */
export function share(url, file) {
  const grant = new AuthorizationCode(settingsFor(url));
  return sharedByFile(file, async (kept) => {
    const { token } = await grant.createToken({ ...kept, expires_at: new Date(kept.expires_at) }).refresh();
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
