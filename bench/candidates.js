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
 * @property {(url: string, file: string, refreshToken: string) => Get} share refreshes a token that rotates and that other processes use too, and has the access token
 */

/** Everything that is compared, ours first, and the file of each; it is loaded only by the process that measures it. */
const files = {
  'oauth-profile': 'oauth-profile.js',
  'node:http': 'node-http.js',
  'undici.request': 'undici.js',
  fetch: 'fetch.js',
  oauth4webapi: 'oauth4webapi.js',
  'openid-client': 'openid-client.js',
  'simple-oauth2': 'simple-oauth2.js',
  '@badgateway/oauth2-client': 'badgateway.js',
  'google-auth-library': 'google-auth-library.js',
  '@azure/msal-node': 'msal-node.js',
  '@azure/msal-node, silent': 'msal-node-silent.js',
  'a map': 'map.js',
};

export const OURS = 'oauth-profile';

/** Who can ask for a token. */
export const requesters = Object.keys(files).filter((name) => !['@azure/msal-node, silent', 'a map'].includes(name));

/** Not libraries for tokens, but what one is made of: they may be ahead of us. */
export const parts = ['node:http', 'undici.request', 'a map'];

/** Where a candidate is imported from. @param {string} name */
export function candidateFile(name) {
  return new URL(`candidates/${files[/** @type {keyof typeof files} */ (name)]}`, import.meta.url).href;
}

/** @param {string} name @returns {Promise<Candidate>} */
export async function loadCandidate(name) {
  return import(candidateFile(name));
}
