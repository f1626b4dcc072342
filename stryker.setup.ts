import fc from 'fast-check';
import { afterEach, inject } from 'vitest';

// The same values for every mutant; one failure is enough, whatever its smallest example would be.
fc.configureGlobal({ seed: 1, endOnFailure: true });

/** What Stryker tells the tests; its runner declares no types for it. */
const told = inject as unknown as (name: string) => string | undefined;
const worker = globalThis as unknown as Record<
  string,
  { activeMutant?: string | undefined; dead?: string | undefined }
>;
const stryker = worker[told('globalNamespace') ?? ''];

if (stryker !== undefined && told('mode') === 'mutant') {
  // All files share a worker, which would go on to read the rest of them though a test has failed.
  if (stryker.dead === told('activeMutant')) throw new Error('this mutant is dead');
  // It begins with the tests of a file, as in a worker of its own, and not while they are listed.
  stryker.activeMutant = undefined;
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') stryker.dead = told('activeMutant');
  });
}
