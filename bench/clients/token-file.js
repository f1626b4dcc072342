import { readFileSync, writeFileSync } from 'node:fs';

/** A token response in a file that several processes share; `expires_at` is in milliseconds. @typedef {{ access_token: string, refresh_token: string, expires_at: number }} StoredToken */

/** @param {string} file @returns {StoredToken} */
export function readToken(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** @param {string} file @param {StoredToken} token */
export function writeToken(file, token) {
  writeFileSync(file, JSON.stringify(token));
}

/**
 * Reads the file before, and writes it after a refresh: the code that a user writes around a library without a store.
 * @param {string} file
 * @param {(token: StoredToken) => Promise<StoredToken>} refresh
 * @returns {import('../clients.js').Get}
 */
export function shareByFile(file, refresh) {
  return async () => {
    const token = readToken(file);
    if (token.expires_at > Date.now()) return token.access_token;
    const next = await refresh(token);
    writeToken(file, next);
    return next.access_token;
  };
}
