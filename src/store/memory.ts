import { randomBytes } from 'node:crypto';
import type { Clock, StoredRecord, TokenStore } from '../ports.ts';
import { fingerprint } from './fingerprint.ts';
import { KeyedMutex } from './lock/keyed-mutex.ts';
import { acceptedRecord, heldRecord } from './record-lock.ts';
import { lockTimeoutError } from './store-errors.ts';

/** Creates a store that ends with the process. */
export function createMemoryStore(clock: Pick<Clock, 'now'> = { now: Date.now }): TokenStore {
  const fingerprintKey = randomBytes(32);
  const records = new Map<string, StoredRecord>();
  const mutex = new KeyedMutex();
  return {
    location: 'the memory of this process',
    fingerprint: (value) => fingerprint(value, fingerprintKey),
    now: () => clock.now(),
    read: async (key) => records.get(key),
    list: async () => [...records].map(([key, record]) => ({ key, record })),
    async lock(key, { timeoutMs, signal, acceptIf }) {
      const queuedAt = clock.now();
      const waits = mutex.isLocked(key);
      const unlock = await mutex.acquire(key, { timeoutMs, signal }, () =>
        lockTimeoutError(`process ${process.pid}`, timeoutMs),
      );
      const record = records.get(key);
      try {
        const accepted = waits ? acceptIf?.(record, queuedAt) : undefined;
        if (accepted !== undefined) {
          unlock();
          return acceptedRecord(accepted, record, queuedAt);
        }
      } catch (error) {
        unlock();
        throw error;
      }
      return heldRecord(record, queuedAt, {
        reload: async () => records.get(key),
        write: async (next) => records.set(key, next) === records,
        remove: async () => void records.delete(key),
        release: async () => unlock(),
      });
    },
    close: () => mutex.close(),
  };
}
