import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/require-build.ts'],
    testTimeout: 30_000,
    // Real processes and sockets on two cores: more workers only wait for each other.
    maxWorkers: 2,
  },
});
