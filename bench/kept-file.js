import { readFileSync, writeFileSync } from 'node:fs';

/**
 * What a user keeps in a file that several processes share: a token response, and the time when it ends, in milliseconds.
 * @typedef {{ access_token: string, refresh_token: string, expires_at: number }} Kept
 */

/** @param {string} file @returns {Kept} */
export function readKept(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** @param {string} file @param {Kept} kept */
export function writeKept(file, kept) {
  writeFileSync(file, JSON.stringify(kept));
}

/**
 * The code around a library that keeps nothing: the file is read before, and written after.
 * @param {string} file
 * @param {(kept: Kept) => Promise<Kept>} refresh
 * @returns {import('./candidates.js').Get}
 */
export function sharedByFile(file, refresh) {
  return async () => {
    const kept = readKept(file);
    if (kept.expires_at > Date.now()) return kept.access_token;
    const next = await refresh(kept);
    writeKept(file, next);
    return next.access_token;
  };
}
