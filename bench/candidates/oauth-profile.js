import { createTokenSource, oauthProfile } from '../../dist/index.js';
import { dataFor, refreshingDataFor } from '../profile.js';

/** Each call reads and checks the profile anew, as it does for users. @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const data = dataFor(url);
  return async () => (await oauthProfile('p', { data })).access_token;
}

/** @type {import('../candidates.js').Candidate['keep']} */
export function keep(url) {
  const source = createTokenSource('p', { data: dataFor(url), store: 'memory' });
  return () => source.get();
}

/** It needs no file: the environment says where tokens are kept. @type {import('../candidates.js').Candidate['share']} */
export function share(url, _file, refreshToken) {
  const source = createTokenSource('p', { data: refreshingDataFor(url, refreshToken) });
  return async () => (await source.get()).access_token;
}
