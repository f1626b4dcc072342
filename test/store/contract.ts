import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RecordLock, StoredRecord, TokenStore } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { longWait, plaintext, put, storedRecord, withLock } from '../support/store.ts';

/** The store that a suite tests. */
export interface StoreUnderTest {
  /** Opens a handle. All handles share their records. */
  open(): TokenStore | Promise<TokenStore>;
  /** Writes a record without its lock, as an owner does that was presumed dead. Omitted if the store's locks cannot be lost. */
  writeWithoutLock?(key: string, record: StoredRecord): Promise<void>;
  remove(): Promise<void> | void;
}

const shortWait = { timeoutMs: 50, signal: undefined };
const nextTask = () => new Promise((resolve) => setImmediate(resolve));

/** Tests the guarantees that every store gives. */
export function describeStore(
  title: string,
  create: () => Promise<StoreUnderTest> | StoreUnderTest,
  { locksCanBeLost = false }: { readonly locksCanBeLost?: boolean } = {},
): void {
  describe(title, () => {
    let under: StoreUnderTest;
    let store: TokenStore;
    let other: TokenStore;

    beforeEach(async () => {
      under = await create();
      store = await under.open();
      other = await under.open();
    });

    afterEach(async () => {
      await Promise.all([store.close(), other.close()]);
      await under.remove();
    });

    describe('records', () => {
      it('an unknown key has no record', async () => {
        expect(await store.read('a')).toBeUndefined();
        expect(await store.list()).toEqual([]);
        expect(await withLock(store, 'a', ({ record }) => record)).toBeUndefined();
      });

      it('a written record is read through every handle', async () => {
        await put(store, 'a', storedRecord('one'));
        for (const handle of [store, other]) {
          expect(plaintext(await handle.read('a'))).toEqual(plaintext(storedRecord('one')));
        }
      });

      it('a second write replaces the record', async () => {
        await put(store, 'a', storedRecord('one'));
        await put(other, 'a', storedRecord('two'));
        expect(plaintext(await store.read('a'))).toEqual(plaintext(storedRecord('two')));
      });

      it.each([
        ['special characters', '{"a":"é€😀\\u0000\\n\\"\\\\"}'],
        ['an empty string', ''],
        ['200,000 characters', JSON.stringify({ token: 'x'.repeat(200_000) })],
      ])('a content of %s is preserved', async (_, content) => {
        await put(store, 'a', storedRecord('one', content));
        expect((await other.read('a'))?.content.reveal()).toBe(content);
      });

      it('any string is a key, and different strings are different keys', async () => {
        const keys = ['a', 'A', 'a/b', '../../a', 'a\0b', '.', 'é', 'e\u0301', '__proto__', ' a', 'n'.repeat(1000)];
        for (const key of keys) await put(store, key, storedRecord(`version of ${key}`));
        for (const key of keys) expect((await other.read(key))?.version).toBe(`version of ${key}`);
        const listed = await other.list();
        expect(listed.map(({ key }) => key).sort()).toEqual([...keys].sort());
        for (const record of listed) {
          expect(plaintext(record)).toEqual(plaintext(storedRecord(`version of ${record.key}`)));
        }
      });

      it('remove deletes one record and no other', async () => {
        await put(store, 'a', storedRecord('one'));
        await put(store, 'b', storedRecord('two'));
        await withLock(store, 'a', (lock) => lock.remove());
        expect(await other.read('a')).toBeUndefined();
        expect((await other.list()).map(({ key }) => key)).toEqual(['b']);
      });

      it('one lock owner can remove and write in any order', async () => {
        await withLock(store, 'a', async (lock) => {
          await lock.remove();
          expect(await lock.write(storedRecord('one'))).toBe(true);
          await lock.remove();
          expect(await lock.reload()).toBeUndefined();
          expect(await lock.write(storedRecord('two'))).toBe(true);
        });
        expect((await other.read('a'))?.version).toBe('two');
      });

      it('one lock owner can write several times, with and without reserved space', async () => {
        await withLock(store, 'a', async (lock) => {
          expect(await lock.write(storedRecord('one'), { reserve: true })).toBe(true);
          expect(plaintext(await lock.reload())).toEqual(plaintext(storedRecord('one')));
          expect(await lock.write(storedRecord('one', '{"more":1}'), { reserve: true })).toBe(true);
          expect(await lock.write(storedRecord('two', 'x'.repeat(30_000)))).toBe(true);
          expect(await lock.write(storedRecord('three'))).toBe(true);
        });
        expect(plaintext(await other.read('a'))).toEqual(plaintext(storedRecord('three')));
      });

      it('a record is read by its aliases, and with its key', async () => {
        await put(store, 'a', storedRecord('one', '{}', 'a', 'x', 'y'));
        for (const name of ['a', 'x', 'y']) expect(await other.read(name)).toMatchObject({ key: 'a', version: 'one' });
        expect((await other.list()).map(({ key }) => key)).toEqual(['a']);
        await put(other, 'a', storedRecord('two', '{}', 'y', 'z'));
        for (const name of ['a', 'y', 'z']) expect(await store.read(name)).toMatchObject({ key: 'a', version: 'two' });
        expect(await store.read('x')).toBeUndefined();
        await withLock(store, 'a', (lock) => lock.remove());
        for (const name of ['a', 'x', 'y', 'z']) expect(await other.read(name)).toBeUndefined();
      });

      it('a key takes precedence over an alias, and an alias has no lock or record of its own', async () => {
        await put(store, 'a', storedRecord('one', '{}', 'b'));
        expect(await withLock(store, 'b', (lock) => lock.reload())).toBeUndefined();
        await put(store, 'b', storedRecord('two'));
        expect(await other.read('b')).toMatchObject({ key: 'b', version: 'two' });
        await withLock(store, 'b', (lock) => lock.remove());
        expect(await other.read('b')).toMatchObject({ key: 'a', version: 'one' });
      });

      it('every handle reports the same location', () => {
        expect(store.location).not.toBe('');
        expect(other.location).toBe(store.location);
      });
    });

    describe('fingerprints', () => {
      it('a value has the same fingerprint through every handle, as a string or a Secret', () => {
        expect(store.fingerprint(new Secret('token'))).toBe(store.fingerprint('token'));
        expect(other.fingerprint('token')).toBe(store.fingerprint('token'));
      });

      it('different values have different fingerprints that do not contain them', () => {
        const all = ['', 'token', 'token ', 'Token', 'tokeñ'].map((value) => store.fingerprint(value));
        expect(new Set(all).size).toBe(all.length);
        for (const one of all) expect(one).toMatch(/^[\w-]{22,}$/);
      });
    });

    describe('locks', () => {
      it('a lock has one owner at a time, whichever handle the callers use', async () => {
        let owners = 0;
        const increment = async (lock: RecordLock) => {
          expect(++owners).toBe(1);
          const number = Number(lock.record?.version ?? 0) + 1;
          await nextTask();
          await lock.write(storedRecord(String(number)));
          expect(--owners).toBe(0);
        };
        const calls = Array.from({ length: 40 }, (_, index) =>
          withLock(index % 2 === 0 ? store : other, 'a', increment),
        );
        await Promise.all(calls);
        expect((await store.read('a'))?.version).toBe('40');
      });

      it('callers of one handle get the lock in the order of their calls', async () => {
        const order: number[] = [];
        const calls = Array.from({ length: 20 }, (_, index) => withLock(store, 'a', () => order.push(index)));
        await Promise.all(calls);
        expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
      });

      it('the record is read when the lock is acquired', async () => {
        const first = await store.lock('a', longWait);
        const second = other.lock('a', longWait);
        await first.write(storedRecord('one'));
        await first.release();
        const lock = await second;
        expect(lock.record?.version).toBe('one');
        await lock.release();
      });

      it('different keys are locked independently', async () => {
        const first = await store.lock('a', longWait);
        await withLock(store, 'b', () => {});
        await withLock(other, 'c', () => {});
        await first.release();
      });

      it('records can be read while another caller holds the lock', async () => {
        await put(store, 'a', storedRecord('one'));
        const first = await store.lock('a', longWait);
        expect((await store.read('a'))?.version).toBe('one');
        expect((await other.list()).map(({ version }) => version)).toEqual(['one']);
        await first.release();
      });

      it('queuedAt is the time of the call, not of the acquisition', async () => {
        const first = await store.lock('a', longWait);
        const before = store.now();
        const second = store.lock('a', longWait);
        const after = store.now();
        await first.release();
        const lock = await second;
        // A client knows a server's clock to a few milliseconds only.
        expect(lock.queuedAt).toBeGreaterThanOrEqual(before - 20);
        expect(lock.queuedAt).toBeLessThanOrEqual(after + 20);
        await lock.release();
      });

      it('release can be called twice and releases once', async () => {
        const first = await store.lock('a', longWait);
        await first.release();
        const second = await store.lock('a', longWait);
        await first.release();
        await expect(other.lock('a', shortWait)).rejects.toMatchObject({ code: 'store_locked' });
        await second.release();
      });

      it('a released lock cannot be used', async () => {
        const lock = await store.lock('a', longWait);
        await lock.release();
        await expect(lock.write(storedRecord('late'))).rejects.toThrow(TypeError);
        await expect(lock.reload()).rejects.toThrow(TypeError);
        await expect(lock.remove()).rejects.toThrow(TypeError);
        expect(await store.read('a')).toBeUndefined();
      });
    });

    describe.each(['the same handle', 'another handle'])('waiting through %s', (which) => {
      let waiter: TokenStore;

      beforeEach(() => {
        waiter = which === 'another handle' ? other : store;
      });

      it('rejects with store_locked after the timeout', async () => {
        const first = await store.lock('a', longWait);
        await expect(waiter.lock('a', shortWait)).rejects.toMatchObject({
          code: 'store_locked',
          hint: expect.any(String),
        });
        expect(await first.write(storedRecord('one'))).toBe(true);
        await first.release();
        expect(await withLock(store, 'a', ({ record }) => record?.version)).toBe('one');
      });

      it('rejects with aborted on a signal, and the next waiter gets the lock', async () => {
        const first = await store.lock('a', longWait);
        const controller = new AbortController();
        const reason = new Error('interrupted');
        const waiting = waiter.lock('a', { timeoutMs: 20_000, signal: controller.signal });
        const next = store.lock('a', longWait);
        controller.abort(reason);
        await expect(waiting).rejects.toMatchObject({ code: 'aborted', cause: reason });
        await first.release();
        await (await next).release();
      });

      it('ends without the lock if acceptIf accepts the record that the owner wrote', async () => {
        const first = await store.lock('a', longWait);
        const acceptIf = (record: StoredRecord | undefined, queuedAt: number) => {
          // A client knows a server's clock to a few milliseconds only.
          expect(queuedAt).toBeLessThanOrEqual(waiter.now() + 20);
          return record?.version === 'new' ? { token: record.version } : undefined;
        };
        const calls = Array.from({ length: 5 }, () => waiter.lock('a', { ...longWait, acceptIf }));
        await nextTask();
        await first.write(storedRecord('journal'));
        await first.write(storedRecord('new'));
        await first.release();
        for (const lock of await Promise.all(calls)) {
          expect(lock.accepted).toEqual({ token: 'new' });
          expect(lock.record?.version).toBe('new');
          await expect(lock.reload()).rejects.toThrow(TypeError);
          await expect(lock.write(storedRecord('late'))).rejects.toThrow(TypeError);
          await expect(lock.remove()).rejects.toThrow(TypeError);
        }
        // None of the five, which have not been released, holds the lock.
        await withLock(store, 'a', () => {});
      });

      it('ends with the error that acceptIf throws', async () => {
        const first = await store.lock('a', longWait);
        const failure = new Error('rejected by the provider');
        const acceptIf = (record: StoredRecord | undefined): undefined => {
          if (record?.version === 'failed') throw failure;
        };
        const waiting = waiter.lock('a', { ...longWait, acceptIf });
        waiting.catch(() => {});
        await nextTask();
        await first.write(storedRecord('failed'));
        await first.release();
        await expect(waiting).rejects.toBe(failure);
        await withLock(store, 'a', () => {});
      });

      it('ends with the lock if acceptIf accepts nothing', async () => {
        const first = await store.lock('a', longWait);
        const acceptIf = vi.fn(() => undefined);
        const waiting = waiter.lock('a', { ...longWait, acceptIf });
        await nextTask();
        await first.write(storedRecord('one'));
        await first.release();
        const lock = await waiting;
        expect(lock.accepted).toBeUndefined();
        expect(lock.record?.version).toBe('one');
        expect(await lock.write(storedRecord('two'))).toBe(true);
        await lock.release();
        expect(acceptIf).toHaveBeenCalled();
      });
    });

    describe('limits', () => {
      it('a signal that is already aborted prevents the acquisition', async () => {
        const aborted = store.lock('a', { timeoutMs: 1000, signal: AbortSignal.abort() });
        await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
        await withLock(store, 'a', () => {}, shortWait);
      });

      it('neither the timeout nor the signal affects a lock that is held', async () => {
        const controller = new AbortController();
        const lock = await store.lock('a', { timeoutMs: 10, signal: controller.signal });
        controller.abort();
        await new Promise((resolve) => setTimeout(resolve, 30));
        expect(await lock.write(storedRecord('one'))).toBe(true);
        await lock.release();
        expect((await other.read('a'))?.version).toBe('one');
      });

      it('callers that give up do not affect those queued after them', async () => {
        const first = await store.lock('a', longWait);
        const calls = [longWait, shortWait, longWait, shortWait, longWait].map((wait, index) =>
          withLock(store, 'a', () => index, wait),
        );
        const results = Promise.allSettled(calls);
        await Promise.allSettled([calls[1], calls[3]]);
        await first.release();
        expect((await results).map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))).toEqual([
          0,
          'store_locked',
          2,
          'store_locked',
          4,
        ]);
      });
    });

    describe('close', () => {
      it('waits for held locks', async () => {
        const lock = await store.lock('a', longWait);
        let closed = false;
        const closing = store.close().then(() => {
          closed = true;
        });
        await nextTask();
        expect(closed).toBe(false);
        await lock.write(storedRecord('one'));
        await lock.release();
        await closing;
        expect((await other.read('a'))?.version).toBe('one');
        if (other !== store) await withLock(other, 'a', () => {});
      });

      it('can be called twice, and later calls of lock are rejected', async () => {
        await store.close();
        await store.close();
        await expect(store.lock('a', longWait)).rejects.toThrow(TypeError);
      });
    });

    if (locksCanBeLost)
      describe('compare-and-set', () => {
        it('a write fails if another owner changed the version, and succeeds after a reload', async () => {
          await put(store, 'a', storedRecord('one'));
          await withLock(store, 'a', async (lock) => {
            await under.writeWithoutLock?.('a', storedRecord('other'));
            expect(await lock.write(storedRecord('two'))).toBe(false);
            expect((await lock.reload())?.version).toBe('other');
            expect(await lock.write(storedRecord('two'))).toBe(true);
          });
          expect((await other.read('a'))?.version).toBe('two');
        });

        it('a write fails if another owner created the record', async () => {
          await withLock(store, 'a', async (lock) => {
            await under.writeWithoutLock?.('a', storedRecord('other'));
            expect(await lock.write(storedRecord('one'))).toBe(false);
          });
          expect((await other.read('a'))?.version).toBe('other');
        });

        it('a write succeeds if another owner changed the content but not the version', async () => {
          await put(store, 'a', storedRecord('one'));
          await withLock(store, 'a', async (lock) => {
            await under.writeWithoutLock?.('a', storedRecord('one', '{"journal":1}'));
            expect(await lock.write(storedRecord('two'))).toBe(true);
          });
          expect((await other.read('a'))?.version).toBe('two');
        });
      });
  });
}
