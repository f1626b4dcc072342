import { createTokenSource, oauthProfile } from '../../dist/index.js';
import { dataFor, refreshDataFor } from '../fixtures.js';

/** Each call parses and validates the profile again, as it does for users. @type {import('../clients.js').Client['request']} */
export function request(url) {
  const data = dataFor(url);
  return async () => (await oauthProfile('p', { data })).access_token;
}

/** @type {import('../clients.js').Client['cache']} */
export function cache(url) {
  const source = createTokenSource('p', { data: dataFor(url), store: 'memory' });
  return () => source.getAccessToken();
}

/** It needs no file: the environment selects the store. @type {import('../clients.js').Client['share']} */
export function share(url, _file, refreshToken) {
  const source = createTokenSource('p', { data: refreshDataFor(url, refreshToken) });
  return async () => (await source.get()).access_token;
}
