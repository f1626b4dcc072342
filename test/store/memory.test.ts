import { expect, it } from 'vitest';
import { Secret } from '../../src/redaction/secret.ts';
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

it('the memory store drops the oldest cached tokens, and no refresh tokens', async () => {
  const store = new MemoryStore();
  const write = async (key: string, version: string): Promise<void> => {
    const lock = await store.lock(key, { timeoutMs: 0, signal: undefined });
    await lock.write({ version, content: new Secret('{}') });
    await lock.release();
  };
  await write('family', 'hash of a refresh token');
  for (let number = 0; number < 1_500; number++) await write(`token ${number % 1_200}`, '');
  expect(await store.list()).toHaveLength(1_001);
  expect(await store.read('family')).toBeDefined();
  // Written a second time, so that it is newer than the others.
  expect(await store.read('token 299')).toBeDefined();
  expect(await store.read('token 499')).toBeUndefined();
  expect(await store.read('token 500')).toBeDefined();
});
