import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Held, Kept, TokenStore } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';

/** One store, and ways to reach it that the port does not have. */
export interface StoreUnderTest {
  /** A handle to the store: what one writes the other finds. */
  open(): TokenStore | Promise<TokenStore>;
  /** Writes without asking for a turn, as a holder does who was thought lost; left out where that cannot happen. */
  intrude?(name: string, kept: Kept): Promise<void>;
  remove(): Promise<void> | void;
}

const patient = { timeoutMs: 20_000, signal: undefined };
const kept = (head: string, content = `{"token":"${head}"}`): Kept => ({ head, content: new Secret(content) });
const shown = (found: Kept | undefined) => found && { head: found.head, content: found.content.reveal() };
const write = (next: Kept) => (held: Held) => held.write(next);

/** A turn that lasts until it is told to end. */
function takeTurn(store: TokenStore, name: string, work: (held: Held) => Promise<unknown> = async () => {}) {
  let end = (): void => {};
  let begin: (held: Held) => void = () => {};
  const begun = new Promise<Held>((resolve) => {
    begin = resolve;
  });
  const ended = store.update(
    name,
    (held) =>
      new Promise((resolve, reject) => {
        begin(held);
        end = () => work(held).then(resolve, reject);
      }),
    patient,
  );
  return { begun, ended, end: () => end() };
}

/** What every store promises, however it keeps it. */
export function describeStore(
  title: string,
  create: () => Promise<StoreUnderTest> | StoreUnderTest,
  options: { readonly intrusion: boolean },
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

    describe('keeping', () => {
      it('finds nothing where nothing was kept', async () => {
        expect(await store.read('a')).toBeUndefined();
        expect(await store.list()).toEqual([]);
        expect(await store.update('a', async (held) => held.kept, patient)).toBeUndefined();
      });

      it('gives back what was kept, also through another handle', async () => {
        expect(await store.update('a', write(kept('one')), patient)).toBe(true);
        for (const handle of [store, other]) expect(shown(await handle.read('a'))).toEqual(shown(kept('one')));
      });

      it('keeps the newest of several', async () => {
        await store.update('a', write(kept('one')), patient);
        await other.update('a', write(kept('two')), patient);
        expect(shown(await store.read('a'))).toEqual(shown(kept('two')));
      });

      it.each([
        ['text of every kind', '{"a":"é€😀\\u0000\\n\\"\\\\"}'],
        ['nothing', ''],
        ['a very long text', JSON.stringify({ token: 'x'.repeat(200_000) })],
      ])('keeps %s as it is', async (_, content) => {
        await store.update('a', write(kept('one', content)), patient);
        expect((await other.read('a'))?.content.reveal()).toBe(content);
      });

      it('takes any name, and confuses none with another', async () => {
        const names = ['a', 'A', 'a/b', '../../a', 'a\0b', '.', 'é', 'e\u0301', '__proto__', ' a', 'n'.repeat(1000)];
        for (const name of names) await store.update(name, write(kept(`of ${name}`)), patient);
        for (const name of names) expect((await other.read(name))?.head).toBe(`of ${name}`);
        const listed = await other.list();
        expect(listed.map(({ name }) => name).sort()).toEqual([...names].sort());
        for (const one of listed) expect(shown(one.kept)).toEqual(shown(kept(`of ${one.name}`)));
      });

      it('forgets what is removed, and only that', async () => {
        await store.update('a', write(kept('one')), patient);
        await store.update('b', write(kept('two')), patient);
        await store.update('a', (held) => held.remove(), patient);
        expect(await other.read('a')).toBeUndefined();
        expect((await other.list()).map(({ name }) => name)).toEqual(['b']);
      });

      it('lets a name be removed that is not there, and kept again afterwards', async () => {
        await store.update(
          'a',
          async (held) => {
            await held.remove();
            expect(await held.write(kept('one'))).toBe(true);
            await held.remove();
            expect(await held.readAgain()).toBeUndefined();
            expect(await held.write(kept('two'))).toBe(true);
          },
          patient,
        );
        expect((await other.read('a'))?.head).toBe('two');
      });

      it('lets one holder write several times, with room reserved in between', async () => {
        await store.update(
          'a',
          async (held) => {
            expect(await held.write(kept('one'), { reserve: true })).toBe(true);
            expect(shown(await held.readAgain())).toEqual(shown(kept('one')));
            expect(await held.write(kept('one', '{"more":1}'), { reserve: true })).toBe(true);
            expect(await held.write(kept('two', 'x'.repeat(30_000)))).toBe(true);
            expect(await held.write(kept('three'))).toBe(true);
          },
          patient,
        );
        expect(shown(await other.read('a'))).toEqual(shown(kept('three')));
      });

      it('says where it is', () => {
        expect(store.place).not.toBe('');
        expect(other.place).toBe(store.place);
      });
    });

    describe('fingerprints', () => {
      it('are the same for the same text, secret or not, through any handle', () => {
        expect(store.fingerprint(new Secret('token'))).toBe(store.fingerprint('token'));
        expect(other.fingerprint('token')).toBe(store.fingerprint('token'));
      });

      it('differ for different texts, and do not show them', () => {
        const all = ['', 'token', 'token ', 'Token', 'tokeñ'].map((text) => store.fingerprint(text));
        expect(new Set(all).size).toBe(all.length);
        for (const one of all) expect(one).toMatch(/^[\w-]{22,}$/);
      });
    });

    describe('taking turns', () => {
      it('gives back what the change gives', async () => {
        expect(await store.update('a', async () => 'result', patient)).toBe('result');
      });

      it('passes on what the change throws, keeps what it had written, and lets the next in', async () => {
        const failing = store.update(
          'a',
          async (held) => {
            await held.write(kept('one'));
            throw new Error('later');
          },
          patient,
        );
        await expect(failing).rejects.toThrow('later');
        expect(await other.update('a', async (held) => held.kept?.head, patient)).toBe('one');
      });

      it('lets in one at a time, whichever handle they use', async () => {
        let inside = 0;
        const change = async (held: Held) => {
          expect(++inside).toBe(1);
          const number = Number(held.kept?.head ?? 0) + 1;
          await new Promise((resolve) => setImmediate(resolve));
          await held.write(kept(String(number)));
          expect(--inside).toBe(0);
        };
        const calls = Array.from({ length: 40 }, (_, at) =>
          (at % 2 === 0 ? store : other).update('a', change, patient),
        );
        await Promise.all(calls);
        expect((await store.read('a'))?.head).toBe('40');
      });

      it('lets callers of one handle in in the order in which they came', async () => {
        const order: number[] = [];
        const calls = Array.from({ length: 20 }, (_, at) =>
          store.update('a', async () => void order.push(at), patient),
        );
        await Promise.all(calls);
        expect(order).toEqual([...order].sort((one, two) => one - two));
        expect(order).toHaveLength(20);
      });

      it('reads again when the turn comes', async () => {
        const first = takeTurn(store, 'a', write(kept('one')));
        await first.begun;
        const second = other.update('a', async (held) => held.kept?.head, patient);
        first.end();
        expect(await second).toBe('one');
      });

      it('does not let names wait for each other', async () => {
        const first = takeTurn(store, 'a');
        await first.begun;
        expect(await store.update('b', async () => 'at once', patient)).toBe('at once');
        expect(await other.update('c', async () => 'at once', patient)).toBe('at once');
        first.end();
        await first.ended;
      });

      it('is read by anybody at any time', async () => {
        await store.update('a', write(kept('one')), patient);
        const first = takeTurn(store, 'a');
        await first.begun;
        expect((await store.read('a'))?.head).toBe('one');
        expect((await other.list()).map(({ kept: { head } }) => head)).toEqual(['one']);
        first.end();
        await first.ended;
      });

      it('says when the caller began to wait, not when the turn came', async () => {
        const first = takeTurn(store, 'a');
        await first.begun;
        const from = store.now();
        const second = store.update('a', async (held) => held.queuedAt, patient);
        const until = store.now();
        first.end();
        // A store whose time is a server's knows it to a few milliseconds.
        expect(await second).toBeGreaterThanOrEqual(from - 20);
        expect(await second).toBeLessThanOrEqual(until + 20);
      });
    });

    describe('waiting', () => {
      it.each(['the same', 'another'])(
        'fails with store_locked when the turn does not come, through %s handle',
        async (which) => {
          const first = takeTurn(store, 'a', write(kept('one')));
          await first.begun;
          const change = vi.fn();
          const late = (which === 'another' ? other : store).update('a', async () => change(), {
            timeoutMs: 50,
            signal: undefined,
          });
          await expect(late).rejects.toMatchObject({ code: 'store_locked', hint: expect.any(String) });
          first.end();
          expect(await first.ended).toBe(true);
          expect(await store.update('a', async (held) => held.kept?.head, patient)).toBe('one');
          expect(change).not.toHaveBeenCalled();
        },
      );

      it.each(['the same', 'another'])('ends when the signal comes, through %s handle', async (which) => {
        const first = takeTurn(store, 'a');
        await first.begun;
        const controller = new AbortController();
        const reason = new Error('enough');
        const change = vi.fn();
        const waiting = (which === 'another' ? other : store).update('a', async () => change(), {
          timeoutMs: 20_000,
          signal: controller.signal,
        });
        const behind = store.update('a', async () => 'served', patient);
        controller.abort(reason);
        await expect(waiting).rejects.toMatchObject({ code: 'aborted', cause: reason });
        first.end();
        expect(await behind).toBe('served');
        expect(change).not.toHaveBeenCalled();
      });

      it('does not begin when the signal came before', async () => {
        const change = vi.fn();
        const signal = AbortSignal.abort();
        const refused = store.update('a', async () => change(), { timeoutMs: 1000, signal });
        await expect(refused).rejects.toMatchObject({ code: 'aborted' });
        expect(change).not.toHaveBeenCalled();
      });

      it('never ends a change that has begun', async () => {
        const controller = new AbortController();
        const written = await store.update(
          'a',
          async (held) => {
            controller.abort();
            await new Promise((resolve) => setTimeout(resolve, 30));
            return held.write(kept('one'));
          },
          { timeoutMs: 10, signal: controller.signal },
        );
        expect(written).toBe(true);
        expect((await other.read('a'))?.head).toBe('one');
      });

      it('serves everybody behind one who gave up', async () => {
        const first = takeTurn(store, 'a');
        await first.begun;
        const waits = [
          patient,
          { timeoutMs: 30, signal: undefined },
          patient,
          { timeoutMs: 30, signal: undefined },
          patient,
        ];
        const calls = waits.map((wait, at) => store.update('a', async () => at, wait));
        const results = Promise.allSettled(calls);
        await Promise.allSettled([calls[1], calls[3]]);
        first.end();
        expect((await results).map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))).toEqual([
          0,
          'store_locked',
          2,
          'store_locked',
          4,
        ]);
      });
    });

    describe('closing', () => {
      it('waits for changes under way', async () => {
        const first = takeTurn(store, 'a', write(kept('one')));
        await first.begun;
        let closed = false;
        const closing = store.close().then(() => {
          closed = true;
        });
        await new Promise((resolve) => setImmediate(resolve));
        expect(closed).toBe(false);
        first.end();
        await closing;
        expect((await other.read('a'))?.head).toBe('one');
        if (other !== store) expect(await other.update('a', async () => 'free', patient)).toBe('free');
      });

      it('can be done twice, and ends updates', async () => {
        await store.close();
        await store.close();
        await expect(store.update('a', async () => {}, patient)).rejects.toThrow(TypeError);
      });
    });

    if (options.intrusion)
      describe('compare and set', () => {
        const intrude = (name: string, next: Kept) => under.intrude?.(name, next);

        it('writes nothing over the head of somebody else', async () => {
          await store.update('a', write(kept('one')), patient);
          await store.update(
            'a',
            async (held) => {
              await intrude('a', kept('foreign'));
              expect(await held.write(kept('two'))).toBe(false);
              expect((await held.readAgain())?.head).toBe('foreign');
              expect(await held.write(kept('two'))).toBe(true);
            },
            patient,
          );
          expect((await other.read('a'))?.head).toBe('two');
        });

        it('writes nothing where somebody else wrote first', async () => {
          const written = await store.update(
            'a',
            async (held) => {
              await intrude('a', kept('foreign'));
              return held.write(kept('one'));
            },
            patient,
          );
          expect(written).toBe(false);
          expect((await other.read('a'))?.head).toBe('foreign');
        });

        it('writes over a journal of somebody else, who left the head as it was', async () => {
          await store.update('a', write(kept('one')), patient);
          const written = await store.update(
            'a',
            async (held) => {
              await intrude('a', kept('one', '{"journal":1}'));
              return held.write(kept('two'));
            },
            patient,
          );
          expect(written).toBe(true);
          expect((await other.read('a'))?.head).toBe('two');
        });
      });
  });
}
