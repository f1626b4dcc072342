import { oauthProfile } from '../../dist/index.js';
import { dataFor } from '../profile.js';

/** Each call reads and checks the profile anew, as it does for users. @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const data = dataFor(url);
  return async () => (await oauthProfile('p', { data })).access_token;
}
