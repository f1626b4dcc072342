/** Returns a token. @typedef {() => Promise<unknown>} Get */

/**
 * One library, used as its documentation shows. These functions create what a user would create once; the returned function is measured.
 * @typedef {object} Client
 * @property {(url: string) => Get} request sends a token request on each call and returns the access token
 * @property {(url: string) => Get} cache returns a cached token while it is valid, in the form of the library
 * @property {(url: string, file: string, refreshToken: string) => Get} share refreshes a rotating token that other processes use too
 */

/** The file of each client, ours first. A file is imported only by the process that measures it. */
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
  Map: 'map.js',
};

export const OURS = 'oauth-profile';

/** Reference rows. They are not OAuth clients, so they may be faster than ours. */
export const references = ['node:http', 'undici.request', 'Map'];

/** Clients that send token requests. */
export const requesters = Object.keys(files).filter((name) => name !== 'Map');

/** Clients that cache tokens. */
export const cachers = [OURS, 'Map', '@badgateway/oauth2-client', 'google-auth-library', '@azure/msal-node'];

/** Clients that refresh tokens. oauth4webapi is what openid-client is built on. */
export const refreshers = [
  'openid-client',
  'simple-oauth2',
  '@badgateway/oauth2-client',
  'google-auth-library',
  '@azure/msal-node',
];

/** @param {string} name */
export function clientFile(name) {
  return new URL(`clients/${files[/** @type {keyof typeof files} */ (name)]}`, import.meta.url).href;
}

/** @param {string} name @returns {Promise<Client>} */
export async function loadClient(name) {
  return import(clientFile(name));
}
