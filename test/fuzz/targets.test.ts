import { describe, expect, it } from 'vitest';
import { allTargets } from './all-targets.ts';
import { explore } from './explore.ts';

/** The same inputs every time: what fails here fails again. `npm run fuzz` tries others, and for longer. */
const SEED = 20_270_101;
const RUNS = 100;

describe.each(allTargets)('$name', (target) => {
  const { runs = RUNS } = target;

  it(`keeps its promises for ${runs} inputs made of valid ones`, async () => {
    const { failure } = await explore(target, { seed: SEED, goesOn: (executions) => executions < runs });
    expect(failure && { input: failure.input, error: failure.error.stack }).toBeUndefined();
  });
});
