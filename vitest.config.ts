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

/** Tests that change the process: its environment variables, its clock, or built-in modules. */
const isolated = [
  'test/{client,emulator,oauth-profile,playwright,token-source}.test.ts',
  'test/emulator/limits.test.ts',
  'test/emulator/tokens/*.test.ts',
  'test/files/{endless-files,profile-files}.test.ts',
  'test/http/{connector,tls-environment}.test.ts',
  'test/independent/*.test.ts',
  'test/login/emulator.test.ts',
  'test/properties/store.test.ts',
  'test/proxy/forward-proxy.test.ts',
  'test/store/lookup-cost.test.ts',
  'test/store/lock/lock-owner.test.ts',
  'test/store/redis/{connect,connection}.test.ts',
  'test/store/vault/{crash,durable-fs,key-provider}.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...isolated, 'test/servers/**', 'test/npm-tools/**'],
          // These files share a process and its modules: half a second of work for each file would be longer than most tests.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
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
