import fc from 'fast-check';
import { afterEach, inject } from 'vitest';

// The same values for every mutant. One failure is enough, so it is not shrunk.
fc.configureGlobal({ seed: 1, endOnFailure: true });

/** Values that Stryker provides; its runner declares no types for them. */
const injectValue = inject as unknown as (name: string) => string | undefined;
const worker = globalThis as unknown as Record<
  string,
  { activeMutant?: string | undefined; dead?: string | undefined }
>;
const stryker = worker[injectValue('globalNamespace') ?? ''];

if (stryker !== undefined && injectValue('mode') === 'mutant') {
  // All files share a worker, which would load the remaining files although a test has failed.
  if (stryker.dead === injectValue('activeMutant')) throw new Error('this mutant is killed');
  // The mutant becomes active with the tests of a file, not while they are collected.
  stryker.activeMutant = undefined;
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') stryker.dead = injectValue('activeMutant');
  });
}
