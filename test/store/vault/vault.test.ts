import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Held } from '../../../src/ports.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { readKeys, seal } from '../../../src/store/encryption.ts';
import { Records } from '../../../src/store/vault/records.ts';
import { anyKey, kept, patient, put, StoreHome } from '../../support/store-home.ts';
import { describeStore } from '../contract.ts';

describeStore(
  'the vault',
  () => {
    const home = new StoreHome();
    const key = anyKey();
    return {
      open: () => home.open(key),
      async intrude(name, next) {
        const ring = readKeys(new Secret(key), 'the key');
        const records = new Records(home.vaultFolder);
        const turn = (records.find(name, ring)?.turn ?? 0) + 1;
        writeFileSync(records.file(name, ring[0]), seal({ name, turn, kept: next }, ring[0]), { mode: 0o600 });
      },
      remove: () => home.remove(),
    };
  },
  { intrusion: true },
);

describe('the vault, beyond what every store does', () => {
  let home: StoreHome;

  beforeEach(() => {
    home = new StoreHome();
  });

  afterEach(() => home.remove());

  it('lets nobody write whose turn is over', async () => {
    const vault = home.open(anyKey());
    const late = await vault.update('a', async (held): Promise<Held> => held, patient);
    await expect(late.write(kept('late'))).rejects.toThrow(TypeError);
    await expect(late.readAgain()).rejects.toThrow(TypeError);
    await expect(late.remove()).rejects.toThrow(TypeError);
    expect(await vault.read('a')).toBeUndefined();
  });

  it('asks those who wait whether what was written does as well, and then they need no turn', async () => {
    const key = anyKey();
    const [holder, waiter] = [home.open(key), home.open(key)];
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const holding = holder.update(
      'a',
      async (held) => {
        begin();
        await held.write(kept('journal'));
        await finished;
      },
      patient,
    );
    await begun;
    const seen: unknown[] = [];
    const calls = Array.from({ length: 5 }, () =>
      waiter.update('a', async () => 'a turn', {
        ...patient,
        contentWith(found, queuedAt) {
          seen.push(found?.head);
          expect(queuedAt).toBeLessThanOrEqual(waiter.now());
          return found?.head === 'journal' ? 'content' : undefined;
        },
      }),
    );
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 5 }, () => 'content'));
    finish();
    await holding;
    expect(await waiter.update('a', async () => 'a turn', patient)).toBe('a turn');
    expect(home.files().filter((file) => !file.endsWith('.sealed'))).toEqual(['vault.json']);
  });

  it('ends the waiting with what the question throws', async () => {
    const key = anyKey();
    const [holder, waiter] = [home.open(key), home.open(key)];
    await put(holder, 'a', kept('one'));
    await holder.update(
      'a',
      async () => {
        const contentWith = () => {
          throw new Error('refused meanwhile');
        };
        await expect(waiter.update('a', async () => 1, { ...patient, contentWith })).rejects.toThrow(
          'refused meanwhile',
        );
      },
      patient,
    );
    expect(home.files().filter((file) => !file.endsWith('.sealed'))).toEqual(['vault.json']);
  });

  it('serves a thousand callers at once', async () => {
    const vault = home.open(anyKey());
    let inside = 0;
    const calls = Array.from({ length: 1000 }, () =>
      vault.update(
        'a',
        async () => {
          expect(++inside).toBe(1);
          await null;
          inside--;
        },
        patient,
      ),
    );
    expect(await Promise.all(calls)).toHaveLength(1000);
  });

  it('makes a new vault where the folder was taken away while it was in use', async () => {
    const vault = home.open(undefined);
    await put(vault, 'a', kept('one'));
    home.removeVault();
    expect(await vault.read('a')).toBeUndefined();
    await put(vault, 'a', kept('two'));
    expect((await home.open(undefined).read('a'))?.head).toBe('two');
  });
});
