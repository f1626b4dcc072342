import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { SingleFlight } from '../../src/flows/single-flight.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { errorOf } from '../support/wire-request.ts';

/** Work that a test begins and ends. */
function createTokenFixture() {
  const clock = new ManualClock();
  const flights = new SingleFlight<string>(clock);
  const begun: {
    readonly abandoned: AbortSignal;
    readonly close: () => void;
    readonly land: (text: string) => void;
  }[] = [];
  const join = (key: string, { timeoutMs = 1_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    flights.join(key, (abandoned, close) => new Promise((land) => begun.push({ abandoned, close, land })), {
      signal,
      timeout: { ms: timeoutMs, error: () => new Error('too late') },
    });
  return { clock, begun, join };
}

describe('callers who want the same', () => {
  it('share a flight until it closes', async () => {
    const { begun, join } = createTokenFixture();
    const first = [join('a'), join('a'), join('b')];
    await settle();
    expect(begun).toHaveLength(2);
    begun[0]?.close();
    const later = join('a');
    await settle();
    expect(begun).toHaveLength(3);
    for (const [index, { land }] of begun.entries()) land(`landed ${index}`);
    expect(await Promise.all([...first, later])).toEqual(['landed 0', 'landed 0', 'landed 1', 'landed 2']);
  });

  it('board a new flight when the last one is over, though it never closed', async () => {
    const { begun, join } = createTokenFixture();
    const first = join('a');
    await settle();
    begun[0]?.land('one');
    expect(await first).toBe('one');
    const second = join('a');
    await settle();
    begun[1]?.land('two');
    expect(await second).toBe('two');
  });

  it('do not lose a newer flight when an older one closes late', async () => {
    const { begun, join } = createTokenFixture();
    const all = [join('a')];
    await settle();
    begun[0]?.close();
    all.push(join('a'));
    await settle();
    begun[0]?.close();
    begun[0]?.land('one');
    await settle();
    all.push(join('a'));
    await settle();
    expect(begun).toHaveLength(2);
    begun[1]?.land('two');
    expect(await Promise.all(all)).toEqual(['one', 'two', 'two']);
  });

  it('leave alone when they abort; the work hears of it when the last one has left', async () => {
    const { begun, join, clock } = createTokenFixture();
    const [one, other] = [new AbortController(), new AbortController()];
    const left = [errorOf(join('a', { signal: one.signal })), errorOf(join('a', { signal: other.signal }))];
    await settle();
    one.abort();
    expect(await left[0]).toMatchObject({ code: 'aborted' });
    expect(begun[0]?.abandoned.aborted).toBe(false);
    other.abort();
    await left[1];
    expect(begun[0]?.abandoned.aborted).toBe(true);
    expect(clock.waiting).toEqual([]);
  });

  it('leave when their patience ends', async () => {
    const { begun, join, clock } = createTokenFixture();
    const short = expect(join('a', { timeoutMs: 500 })).rejects.toThrow('too late');
    const long = join('a');
    await settle();
    expect(clock.waiting).toEqual([500, 1_000]);
    await clock.advance(500);
    await short;
    begun[0]?.land('one');
    expect(await long).toBe('one');
    expect(clock.waiting).toEqual([]);
  });

  it('let go of their signal when the work is done', async () => {
    const { begun, join } = createTokenFixture();
    const { signal } = new AbortController();
    const waiting = join('a', { signal });
    await settle();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    begun[0]?.land('one');
    expect(await waiting).toBe('one');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('may wait without an end, and leave all the same', async () => {
    const clock = new ManualClock();
    const flights = new SingleFlight<string>(clock);
    const controller = new AbortController();
    const never = () => new Promise<string>(() => {});
    const staying = flights.join('a', never, { signal: undefined });
    expect(flights.join('a', never, { signal: undefined })).toBe(staying);
    const leaving = errorOf(flights.join('a', never, { signal: controller.signal }));
    await settle();
    expect(clock.waiting).toEqual([]);
    controller.abort();
    expect(await leaving).toMatchObject({ code: 'aborted' });
  });

  it('do not board when they have left before', async () => {
    const { begun, join } = createTokenFixture();
    const error = await errorOf(join('a', { signal: AbortSignal.abort('enough') }));
    expect(error).toMatchObject({ code: 'aborted', message: 'the request was aborted', cause: 'enough' });
    await settle();
    expect(begun).toEqual([]);
  });

  it('do not hear of the abort of others who left before them', async () => {
    const { begun, join } = createTokenFixture();
    const first = new AbortController();
    const leaving = errorOf(join('a', { signal: first.signal }));
    await settle();
    first.abort();
    expect(await leaving).toMatchObject({ code: 'aborted' });
    // The first work may still be connecting, and has not closed.
    const staying = join('a');
    await settle();
    expect(begun.map(({ abandoned }) => abandoned.aborted)).toEqual([true, false]);
    begun[1]?.land('a token');
    expect(await staying).toBe('a token');
  });
});
