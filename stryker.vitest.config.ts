import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import whole from './vitest.config.ts';

/** The directories of tests that run for mutants of a directory. */
const testDirectories: Readonly<Record<string, readonly string[]>> = {
  config: ['config'],
  profile: ['profile', 'providers'],
  oauth: ['oauth', 'profile', 'providers'],
  flows: ['flows'],
};

const directoryOf = (file: string): string => basename(dirname(file));

/** Runs the tests of the mutated file first, then those of its directory, small files first: the first failure ends a mutant. */
class NearestFirst extends BaseSequencer {
  override async sort(tests: TestSpecification[]): Promise<TestSpecification[]> {
    // The mutated file; all files in the first run, which has no mutant.
    const { related = [] } = this.ctx.config;
    const wanted = new Set(related.flatMap((file) => testDirectories[directoryOf(file)] ?? []));
    const mutated = related[0] ?? '';
    const distance = (file: string): number => {
      if (basename(file, '.test.ts') === basename(mutated, '.ts')) return 0;
      return directoryOf(file) === directoryOf(mutated) ? 1 : 2;
    };
    return tests
      .filter(({ moduleId }) => wanted.has(directoryOf(moduleId)))
      .map((test) => ({ test, distance: distance(test.moduleId), size: statSync(test.moduleId).size }))
      .sort((one, other) => one.distance - other.distance || one.size - other.size)
      .map(({ test }) => test);
  }
}

export default defineConfig({
  test: {
    include: ['test/{config,profile,oauth,flows,providers}/**/*.test.ts'],
    env: { ...whole.test?.env },
    testTimeout: 30_000,
    setupFiles: ['stryker.setup.ts'],
    // A worker for each file costs more than the tests in it.
    isolate: false,
    maxWorkers: 1,
    sequence: { sequencer: NearestFirst },
  },
});
