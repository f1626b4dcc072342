import { OAuthProfileError } from '../errors.ts';
import { findShared } from './find-fresh.ts';
import { keepToken } from './keep-token.ts';
import { acquireToken } from './request-token.ts';
import { fromKept, type TokenRecord, toKept, toKeptError } from './stored-record.ts';
import type { Obtained, Task } from './wish.ts';

/** Asks for a token of any grant but a refresh, alone for that token, and keeps it; where it cannot be kept it is handed out all the same. */
export async function askAlone(task: Task, signal: AbortSignal): Promise<Obtained> {
  const { profile, key, ports, store, held, warn } = task;
  const record = fromKept(held.kept, 'token');
  const shared = record && findShared(task, record);
  if (shared !== undefined) return shared;
  const startedAt = store.now();
  const keep = async (found: Pick<TokenRecord, 'tokens' | 'failure'>): Promise<void> => {
    try {
      await held.write(toKept({ kind: 'token', profile: profile.name, ...found }, ''));
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      if (found.failure === undefined) warn(`the token is not kept: ${error.message}`);
    }
  };
  try {
    const reply = await acquireToken(profile, ports, signal);
    await keep({ tokens: { [key]: keepToken(reply, startedAt, store, ports.clock) }, failure: undefined });
    return { reply, reused: false };
  } catch (error) {
    const failure = signal.aborted ? undefined : toKeptError(error);
    if (failure !== undefined) await keep({ tokens: {}, failure: { startedAt, key, error: failure } });
    throw error;
  }
}
