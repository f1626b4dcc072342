import { writeFileSync } from 'node:fs';
import { cacheWith } from './candidates/msal-account.js';
import { writeKept } from './kept-file.js';

/** The file that a candidate's `share` begins with: for MSAL its own cache, for others a token that has ended. Ours does without. @param {string} candidate @param {string} file @param {string} refreshToken */
export function seed(candidate, file, refreshToken) {
  if (candidate === '@azure/msal-node') writeFileSync(file, cacheWith(refreshToken));
  else writeKept(file, { access_token: 'expired', refresh_token: refreshToken, expires_at: 1 });
}
