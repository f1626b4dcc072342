import type { TokenStore } from '../ports.ts';
import type { Profile } from '../profile/profile.ts';
import { parseCacheRecord, serializeRecord } from './records.ts';
import { cacheKeyIn, readAccessToken } from './token-cache.ts';
import { findFamily, hasRefreshToken, withLock } from './token-family.ts';

/**
 * Removes a token that a server rejected from the cache, so that the next caller, in this process or another, gets a new one. Returns whether it was
 * the cached one. The token of a login without a refresh token stays: it cannot be replaced without the user.
 */
export async function discardCachedToken(store: TokenStore, profile: Profile, rejected: string): Promise<boolean> {
  const key = cacheKeyIn(store, profile);
  const recordKey = hasRefreshToken(profile) ? (await findFamily(profile, store)).key : key;
  return withLock(store, recordKey, async (lock) => {
    const record = parseCacheRecord(lock.record);
    if (record === undefined || (record.kind === 'family' && record.refreshToken === undefined)) return false;
    const { [key]: cached, ...tokens } = record.tokens;
    if (!readAccessToken(cached, profile)?.test((token) => token === rejected)) return false;
    return lock.write(serializeRecord({ ...record, tokens }));
  });
}
