import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const home = mkdtempSync(join(tmpdir(), 'oauth-profile-home-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Generating an RSA key takes a second or more, so all emulators of the tests share one. */
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

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
    globalSetup: ['test/support/build.ts'],
    // The library reads profiles and stores tokens in the home directory; tests must not use that of the developer.
    env: {
      HOME: home,
      XDG_CONFIG_HOME: '',
      XDG_DATA_HOME: '',
      OAUTH_PROFILE_HOME: '',
      OAUTH_PROFILE_KEY: '',
      OAUTH_PROFILE_STORE: '',
      OAUTH_PROFILE_EMULATOR_KEY: privateKey,
    },
    // A limit for tests that hang; a busy machine may need long for a process.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Tests start processes and wait for them, so a third worker uses the time of two cores better.
    maxWorkers: 3,
  },
});
