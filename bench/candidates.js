/**
 * One way to get a token: `connect` makes whatever a user would make once, the function it returns gets one token.
 * @typedef {{ connect: (url: string) => () => Promise<unknown> }} Candidate
 */

/** Everything that is compared, ours first; each is loaded only by the process that measures it. */
export const candidates = /** @satisfies {Record<string, () => Promise<Candidate>>} */ ({
  'oauth-profile': () => import('./candidates/oauth-profile.js'),
  'node:http': () => import('./candidates/node-http.js'),
  'undici.request': () => import('./candidates/undici.js'),
  fetch: () => import('./candidates/fetch.js'),
  oauth4webapi: () => import('./candidates/oauth4webapi.js'),
  'openid-client': () => import('./candidates/openid-client.js'),
  'simple-oauth2': () => import('./candidates/simple-oauth2.js'),
});

/** @typedef {keyof typeof candidates} CandidateName */

/** @param {string} name @returns {Promise<Candidate>} */
export function loadCandidate(name) {
  return candidates[/** @type {CandidateName} */ (name)]();
}
