import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const home = mkdtempSync(join(tmpdir(), 'oauth-profile-home-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Tests of code without global state. */
const pure = ['test/{config,profile,providers,script,redaction,oauth,flows}/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      // These tests share their modules: importing them for each file takes longer than most tests.
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: [...pure, 'test/servers/**', 'test/npm-tools/**'],
        },
      },
    ],
    globalSetup: ['test/support/require-build.ts'],
    // The library reads profiles and stores tokens in the home directory; tests must not use that of the developer.
    env: {
      HOME: home,
      XDG_CONFIG_HOME: '',
      XDG_DATA_HOME: '',
      OAUTH_PROFILE_HOME: '',
      OAUTH_PROFILE_KEY: '',
      OAUTH_PROFILE_STORE: '',
    },
    testTimeout: 30_000,
    // Tests start processes and wait for them, so a third worker uses the time of two cores better.
    maxWorkers: 3,
  },
});
