import type { Kept } from '../ports.ts';
import type { Profile } from '../profile/profile.ts';
import { endOf, reviveToken } from './keep-token.ts';
import { type FamilyRecord, fromKeptError, readRecord, type TokenRecord } from './stored-record.ts';
import type { Obtained, Task, Wish } from './wish.ts';

/** The kept token, where it is fresh. */
export function findFresh(
  profile: Profile,
  wish: Wish,
  kept: Kept | undefined,
  key: string,
  now: number,
): Obtained | undefined {
  if (kept === undefined) return undefined;
  const record = readRecord(kept);
  if (record.kind === 'login') return undefined;
  const end = record.tokens[key] && endOf(record.tokens[key], profile);
  if (end === undefined || end - now <= wish.minTtlMs) return undefined;
  return accepted(wish, revive(profile, record, key, now));
}

/** What an attempt brought that began after the caller queued: its token, whatever life that has left, or its failure. */
export function findShared(task: Task, record: TokenRecord | FamilyRecord): Obtained | undefined {
  return shared(task, record, task.held.queuedAt);
}

/** The same for a caller who waits for a turn, and may not need it any more. */
export function findContent(
  task: Omit<Task, 'held' | 'ports' | 'warn'>,
  kept: Kept | undefined,
  queuedAt: number,
): Obtained | undefined {
  const record = kept && readRecord(kept);
  return record === undefined || record.kind === 'login' ? undefined : shared(task, record, queuedAt);
}

function shared(
  { profile, key, wish, store }: Omit<Task, 'held' | 'ports' | 'warn'>,
  record: TokenRecord | FamilyRecord,
  queuedAt: number,
): Obtained | undefined {
  const { failure, tokens } = record;
  if (failure?.key === key && failure.startedAt >= queuedAt) throw fromKeptError(failure.error);
  const token = tokens[key];
  if (token === undefined) return undefined;
  const end = endOf(token, profile);
  const fresh = !wish.anew && end !== undefined && end - store.now() > wish.minTtlMs;
  if (!fresh && token.startedAt < queuedAt) return undefined;
  return accepted(wish, revive(profile, record, key, store.now()));
}

/** What was found, unless it is the very token that an API has refused. */
export function accepted({ rejected }: Wish, found: Obtained | undefined): Obtained | undefined {
  const same = rejected?.test((one) => found?.reply.accessToken.test((other) => one === other) === true);
  return same ? undefined : found;
}

/** A kept token as the reply that it was. */
export function revive(
  profile: Profile,
  record: TokenRecord | FamilyRecord,
  key: string,
  now: number,
): Obtained | undefined {
  const token = record.tokens[key];
  const refreshToken = record.kind === 'family' ? record.refreshToken : undefined;
  const reply = token && reviveToken(profile, token, refreshToken, now);
  return reply && { reply, reused: true };
}
