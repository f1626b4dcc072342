import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type CallControl, SingleFlight } from '../../src/flows/single-flight.ts';
import { errorOf } from '../support/errors.ts';
import { ManualClock, settle } from '../support/ports.ts';

/** Work that a test ends. */
function createFixture() {
  const clock = new ManualClock();
  const singleFlight = new SingleFlight(clock);
  const started: (CallControl & { readonly finish: (result: string) => void; fail: (error: Error) => void })[] = [];
  const run = (key: string, { timeoutMs = 1_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    singleFlight.run(
      key,
      (control) =>
        new Promise<string>((finish, fail) => {
          started.push({ ...control, finish, fail });
        }),
      { signal, timeout: { ms: timeoutMs, error: () => new Error('timeout') } },
    );
  return { clock, started, run };
}

describe('callers with the same key', () => {
  it('share one run until it is closed', async () => {
    const { started, run } = createFixture();
    const first = [run('a'), run('a'), run('b')];
    await settle();
    expect(started).toHaveLength(2);
    started[0]?.close();
    const later = run('a');
    await settle();
    expect(started).toHaveLength(3);
    for (const [index, { finish }] of started.entries()) finish(`result ${index}`);
    expect(await Promise.all([...first, later])).toEqual(['result 0', 'result 0', 'result 1', 'result 2']);
  });

  it('share an error', async () => {
    const { started, run } = createFixture();
    const errors = Promise.all([run('a'), run('a')].map((one) => one.catch((error) => error)));
    await settle();
    const error = new Error('no');
    started[0]?.fail(error);
    expect(await errors).toEqual([error, error]);
  });

  it('start a new run when the last one has ended, even if it was not closed', async () => {
    const { started, run } = createFixture();
    const first = run('a');
    await settle();
    started[0]?.finish('one');
    expect(await first).toBe('one');
    const second = run('a');
    await settle();
    started[1]?.finish('two');
    expect(await second).toBe('two');
  });

  it('join the newer run when an older one is closed again', async () => {
    const { started, run } = createFixture();
    const all = [run('a')];
    await settle();
    started[0]?.close();
    all.push(run('a'));
    await settle();
    started[0]?.close();
    started[0]?.finish('one');
    await settle();
    all.push(run('a'));
    await settle();
    expect(started).toHaveLength(2);
    started[1]?.finish('two');
    expect(await Promise.all(all)).toEqual(['one', 'two', 'two']);
  });

  it('do not join a run that every caller has left', async () => {
    const { started, run } = createFixture();
    const controller = new AbortController();
    const left = errorOf(run('a', { signal: controller.signal }));
    await settle();
    controller.abort();
    expect(await left).toMatchObject({ code: 'aborted' });
    // The first work may still be connecting.
    const staying = run('a');
    await settle();
    expect(started.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    started[1]?.finish('a token');
    expect(await staying).toBe('a token');
  });
});

describe('an abort', () => {
  it('detaches only its caller, and the work is aborted when the last caller has left', async () => {
    const { started, run, clock } = createFixture();
    const [one, other] = [new AbortController(), new AbortController()];
    const left = [errorOf(run('a', { signal: one.signal })), errorOf(run('a', { signal: other.signal }))];
    await settle();
    one.abort();
    expect(await left[0]).toMatchObject({ code: 'aborted' });
    expect(started[0]?.signal.aborted).toBe(false);
    other.abort();
    await left[1];
    expect(started[0]?.signal.aborted).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  it('before the call starts nothing', async () => {
    const { started, run } = createFixture();
    const error = await errorOf(run('a', { signal: AbortSignal.abort('reason') }));
    expect(error).toMatchObject({ code: 'aborted', cause: 'reason' });
    await settle();
    expect(started).toEqual([]);
  });

  it('is no longer listened for when the work has ended', async () => {
    const { started, run } = createFixture();
    const { signal } = new AbortController();
    const waiting = run('a', { signal });
    await settle();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    started[0]?.finish('one');
    expect(await waiting).toBe('one');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('a timeout', () => {
  it('detaches only its caller', async () => {
    const { started, run, clock } = createFixture();
    const short = expect(run('a', { timeoutMs: 500 })).rejects.toThrow('timeout');
    const long = run('a');
    await settle();
    expect(clock.pending).toEqual([500, 1_000]);
    await clock.advance(500);
    await short;
    started[0]?.finish('one');
    expect(await long).toBe('one');
    expect(clock.pending).toEqual([]);
  });

  it('is optional, and a caller without one can still be aborted', async () => {
    const clock = new ManualClock();
    const singleFlight = new SingleFlight(clock);
    const controller = new AbortController();
    const never = () => new Promise<string>(() => {});
    const staying = singleFlight.run('a', never, { signal: undefined });
    expect(singleFlight.run('a', never, { signal: undefined })).toBe(staying);
    const leaving = errorOf(singleFlight.run('a', never, { signal: controller.signal }));
    await settle();
    expect(clock.pending).toEqual([]);
    controller.abort();
    expect(await leaving).toMatchObject({ code: 'aborted' });
  });
});
