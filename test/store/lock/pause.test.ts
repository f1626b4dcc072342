import { expect, it } from 'vitest';
import { pause } from '../../../src/store/lock/pause.ts';

const LONG_MS = 60_000;

it('ends when the signal comes', async () => {
  const caller = new AbortController();
  const pausing = pause(LONG_MS, caller.signal);
  caller.abort();
  await expect(pausing).resolves.toBeUndefined();
});

it('does not begin where the signal came before, as while Redis was asked', async () => {
  await expect(pause(LONG_MS, AbortSignal.abort())).resolves.toBeUndefined();
});
