import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import whole from './vitest.config.ts';

/** Whose tests have to notice a change in a folder: its own, and those beside it that are as quick. */
const judges: Readonly<Record<string, readonly string[]>> = {
  config: ['config'],
  profile: ['profile', 'providers'],
  oauth: ['oauth', 'profile', 'providers'],
  flows: ['flows'],
};

const folderOf = (file: string): string => basename(dirname(file));

/** The tests of the changed file go first, then those of its folder, small ones before large: the first failure ends a mutant. */
class NearestFirst extends BaseSequencer {
  override async sort(tests: TestSpecification[]): Promise<TestSpecification[]> {
    // One file for a mutant, all of them for the first run, which has none.
    const { related = [] } = this.ctx.config;
    const wanted = new Set(related.flatMap((file) => judges[folderOf(file)] ?? []));
    const mutated = related[0] ?? '';
    const distance = (file: string): number => {
      if (basename(file, '.test.ts') === basename(mutated, '.ts')) return 0;
      return folderOf(file) === folderOf(mutated) ? 1 : 2;
    };
    return tests
      .filter(({ moduleId }) => wanted.has(folderOf(moduleId)))
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
