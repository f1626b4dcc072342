import { accessToken } from '../fixtures.js';

/** The fastest possible cache: an entry of a Map behind a promise, which never expires. @type {import('../clients.js').Client['cache']} */
export function cache() {
  const map = new Map([['p', accessToken]]);
  return async () => map.get('p');
}
