import { expect, it } from 'vitest';
import type { Held } from '../../src/ports.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { kept, patient } from '../support/store-home.ts';
import { describeStore } from './contract.ts';

describeStore(
  'the memory store',
  () => {
    const store = createMemoryStore();
    return { open: () => store, remove: () => store.close() };
  },
  // There is nobody else.
  { intrusion: false },
);

it('takes its time from the clock that it is given', async () => {
  let time = 1000;
  const store = createMemoryStore({ now: () => time });
  expect(await store.update('a', async (held) => held.queuedAt, patient)).toBe(1000);
  time = 2000;
  expect(store.now()).toBe(2000);
});

it('has fingerprints that mean nothing to another store', () => {
  expect(createMemoryStore().fingerprint('token')).not.toBe(createMemoryStore().fingerprint('token'));
});

it('lets nobody write whose turn is over', async () => {
  const store = createMemoryStore();
  const late = await store.update('a', async (held): Promise<Held> => held, patient);
  await expect(late.write(kept('late'))).rejects.toThrow(TypeError);
  await expect(late.remove()).rejects.toThrow(TypeError);
  expect(await store.read('a')).toBeUndefined();
});
