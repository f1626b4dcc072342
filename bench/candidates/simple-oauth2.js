// @ts-expect-error It comes without types.
import { ClientCredentials } from 'simple-oauth2';
import { client } from '../profile.js';

/** @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const { origin, pathname } = new URL(url);
  const grant = new ClientCredentials({
    client,
    auth: { tokenHost: origin, tokenPath: pathname },
    options: { authorizationMethod: 'body' },
  });
  return async () => (await grant.getToken({})).token.access_token;
}
