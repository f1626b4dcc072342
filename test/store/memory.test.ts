import { expect, it } from 'vitest';
import { MemoryStore } from '../../src/store/memory.ts';
import { describeStore } from './contract.ts';

describeStore('the memory store', () => {
  const store = new MemoryStore();
  return { open: () => store, remove: () => store.close() };
});

it('the memory store uses the given clock', async () => {
  let time = 1000;
  const store = new MemoryStore({ now: () => time });
  const lock = await store.lock('a', { timeoutMs: 0, signal: undefined });
  expect(lock.queuedAt).toBe(1000);
  time = 2000;
  expect(store.now()).toBe(2000);
});
