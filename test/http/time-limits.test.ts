import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TimeLimits } from '../../src/http/time-limits.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

describe('time limits', () => {
  it('call back once, when their time is over and not before', () => {
    const limits = new TimeLimits();
    const onEnd = vi.fn();
    limits.start(100, onEnd);
    vi.advanceTimersByTime(99);
    expect(onEnd).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onEnd).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
    expect(onEnd).toHaveBeenCalledTimes(1);
  });

  it('say nothing once they are stopped, however often that happens', () => {
    const limits = new TimeLimits();
    const [stopped, other] = [vi.fn(), vi.fn()];
    const limit = limits.start(100, stopped);
    limits.start(100, other);
    limits.stop(limit);
    limits.stop(limit);
    vi.advanceTimersByTime(100);
    expect(stopped).not.toHaveBeenCalled();
    expect(other).toHaveBeenCalledTimes(1);
  });

  it('end in time behind a longer one that started first', () => {
    const limits = new TimeLimits();
    const ended: string[] = [];
    limits.start(500, () => ended.push('long'));
    limits.start(100, () => ended.push('short'));
    vi.advanceTimersByTime(100);
    expect(ended).toEqual(['short']);
    vi.advanceTimersByTime(400);
    expect(ended).toEqual(['short', 'long']);
  });

  it('may be stopped and started by one that ends', () => {
    const limits = new TimeLimits();
    const ended: string[] = [];
    const limit = limits.start(100, () => {
      limits.stop(limit);
      limits.stop(next);
      limits.start(50, () => ended.push('started'));
      ended.push('first');
    });
    const next = limits.start(200, () => ended.push('stopped'));
    vi.advanceTimersByTime(300);
    expect(ended).toEqual(['first', 'started']);
  });

  it('leave no timer that keeps the process', () => {
    const unref = vi.spyOn(globalThis, 'setTimeout');
    new TimeLimits().start(100, () => {});
    const [timer] = unref.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(timer?.hasRef()).toBe(false);
  });

  it('end exactly when single timers would, in any order of starts, stops and waits', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('start' as const), ms: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ do: fc.constant('stop' as const), which: fc.nat(20) }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 30 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        vi.useFakeTimers();
        const limits = new TimeLimits();
        const [ours, theirs]: [string[], string[]] = [[], []];
        const started: (() => void)[] = [];
        for (const one of steps) {
          if (one.do === 'wait') vi.advanceTimersByTime(one.ms);
          if (one.do === 'stop') started[one.which]?.();
          if (one.do !== 'start') continue;
          const number = started.length;
          const limit = limits.start(one.ms, () => ours.push(`${number} at ${performance.now()}`));
          const timer = setTimeout(() => theirs.push(`${number} at ${performance.now()}`), one.ms);
          started.push(() => {
            limits.stop(limit);
            clearTimeout(timer);
          });
        }
        vi.advanceTimersByTime(100);
        expect(ours.sort()).toEqual(theirs.sort());
      }),
    );
  });
});
