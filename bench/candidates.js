/**
 * Gets a token, each time that it is called.
 * @typedef {() => Promise<unknown>} Get
 */

/**
 * One way to get tokens, used as its documentation shows it. Whatever a user would make once is made once, by these functions; the function
 * that they return is what is measured.
 * @typedef {object} Candidate
 * @property {(url: string) => Get} connect asks the token endpoint each time, and has the access token
 * @property {(url: string) => Get} keep hands out what it keeps while that is fresh, in the library's own form
 * @property {(url: string, file: string) => Get} share refreshes a token that rotates and that other processes use too, and has the access token
 */

/** Everything that is compared, ours first; each is loaded only by the process that measures it. */
const modules = /** @satisfies {Record<string, () => Promise<Partial<Candidate>>>} */ ({
  'oauth-profile': () => import('./candidates/oauth-profile.js'),
  'node:http': () => import('./candidates/node-http.js'),
  'undici.request': () => import('./candidates/undici.js'),
  fetch: () => import('./candidates/fetch.js'),
  oauth4webapi: () => import('./candidates/oauth4webapi.js'),
  'openid-client': () => import('./candidates/openid-client.js'),
  'simple-oauth2': () => import('./candidates/simple-oauth2.js'),
  '@badgateway/oauth2-client': () => import('./candidates/badgateway.js'),
  'google-auth-library': () => import('./candidates/google-auth-library.js'),
  '@azure/msal-node': () => import('./candidates/msal-node.js'),
  '@azure/msal-node, silent': () => import('./candidates/msal-node-silent.js'),
  'a map': () => import('./candidates/map.js'),
});

export const OURS = 'oauth-profile';

/** Who can ask for a token. */
export const requesters = Object.keys(modules).filter((name) => !['@azure/msal-node, silent', 'a map'].includes(name));

/** Not libraries for tokens, but what one is made of: they may be ahead of us. */
export const parts = ['node:http', 'undici.request', 'a map'];

/** @param {string} name @returns {Promise<Candidate>} */
export async function loadCandidate(name) {
  const load = modules[/** @type {keyof typeof modules} */ (name)];
  return /** @type {Candidate} */ (await load());
}
