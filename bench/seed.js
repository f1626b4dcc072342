import { writeFileSync } from 'node:fs';
import { cacheWith } from './candidates/msal-account.js';
import { OURS } from './candidates.js';
import { writeKept } from './kept-file.js';
import { refreshingDataFor } from './profile.js';

/** The file that a candidate's `share` begins with: for us the profile, for MSAL its own cache, for others a token that has ended. @param {string} candidate @param {string} file @param {string} url @param {string} refreshToken */
export function seed(candidate, file, url, refreshToken) {
  if (candidate === OURS) writeFileSync(file, JSON.stringify(refreshingDataFor(url, refreshToken)));
  else if (candidate === '@azure/msal-node') writeFileSync(file, cacheWith(refreshToken));
  else writeKept(file, { access_token: 'expired', refresh_token: refreshToken, expires_at: 1 });
}
