import type { Clock, TokenStore } from '../../src/ports.ts';
import { MemoryStore } from '../../src/store/memory.ts';

/** A memory store as a plain object, so that a test can replace single functions with the spread syntax. */
export function createPlainMemoryStore(clock?: Pick<Clock, 'now'>): TokenStore {
  const store = new MemoryStore(clock);
  return {
    location: store.location,
    fingerprint: (value) => store.fingerprint(value),
    now: () => store.now(),
    read: (key) => store.read(key),
    list: () => store.list(),
    lock: (key, options) => store.lock(key, options),
    close: () => store.close(),
  };
}
