import { randomBytes } from 'node:crypto';
import type { Clock, Kept, TokenStore } from '../ports.ts';
import { fingerprint } from './fingerprint.ts';
import { Turns } from './lock/keyed-mutex.ts';
import { locked } from './store-errors.ts';

/** A store that ends with the process. */
export function createMemoryStore(clock: Pick<Clock, 'now'> = { now: Date.now }): TokenStore {
  const key = randomBytes(32);
  const records = new Map<string, Kept>();
  const turns = new Turns();
  return {
    place: 'the memory of this process',
    fingerprint: (text) => fingerprint(text, key),
    now: () => clock.now(),
    read: async (name) => records.get(name),
    list: async () => [...records].map(([name, kept]) => ({ name, kept })),
    update(name, change, wait) {
      const queuedAt = clock.now();
      const late = () => locked(`process ${process.pid}`, wait.timeoutMs);
      return turns.take(name, wait, late, async () => {
        let over = false;
        const whileHeld = async <R>(act: () => R): Promise<R> => {
          if (over) throw new TypeError('the turn of this change is over');
          return act();
        };
        try {
          return await change({
            kept: records.get(name),
            queuedAt,
            readAgain: () => whileHeld(() => records.get(name)),
            write: (next) => whileHeld(() => records.set(name, next) === records),
            remove: () => whileHeld(() => void records.delete(name)),
          });
        } finally {
          over = true;
          turns.leave(name);
        }
      });
    },
    close: () => turns.close(),
  };
}
