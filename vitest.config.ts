import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const home = mkdtempSync(join(tmpdir(), 'oauth-profile-home-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Tests of code that has no state of its own. */
const pure = ['test/{config,profile,providers,script,redaction,oauth,flows}/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      // They share what they import: loading it anew for each file takes longer than most of them.
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: pure } },
    ],
    globalSetup: ['test/support/require-build.ts'],
    // The library reads profiles and keeps tokens below the home: a test's is not that of whoever runs it.
    env: {
      HOME: home,
      XDG_CONFIG_HOME: '',
      XDG_DATA_HOME: '',
      OAUTH_PROFILE_HOME: '',
      OAUTH_PROFILE_KEY: '',
      OAUTH_PROFILE_STORE: '',
    },
    testTimeout: 30_000,
    // Real processes and sockets on two cores: more workers only wait for each other.
    maxWorkers: 2,
  },
});
