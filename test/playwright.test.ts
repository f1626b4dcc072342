import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-playwright-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('the Playwright fixtures provide a token to every worker with one request', { timeout: 120_000 }, async () => {
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(directory, 'playwright.config.mjs'),
    `export default { testDir: '.', workers: 2, fullyParallel: true, reporter: 'line', globalSetup: './start.mjs' };`,
  );
  writeFileSync(
    join(directory, 'start.mjs'),
    `import { createServer } from 'node:http';
export default async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ access_token: 'token-' + ++requests, expires_in: 3600 }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.TOKEN_PORT = String(server.address().port);
  return async () => { server.close(); server.closeAllConnections(); if (requests !== 1) throw new Error(requests + ' requests'); };
};`,
  );
  const test = `import { expect, test as base } from '@playwright/test';
import { oauthFixtures } from ${JSON.stringify(join(root, 'dist', 'playwright.js'))};
const test = base.extend(oauthFixtures);
const url = 'http://127.0.0.1:' + process.env.TOKEN_PORT + '/token';
test.use({ oauthOptions: { data: { robot: { type: 'custom', url, grant_type: 'client_credentials', client_id: 'robot' } } } });
for (const number of [1, 2, 3]) {
  test('a token ' + number, async ({ oauth }) => {
    expect((await oauth('robot').get()).access_token).toBe('token-1');
  });
}
`;
  writeFileSync(join(directory, 'one.spec.mjs'), test);
  writeFileSync(join(directory, 'two.spec.mjs'), test);
  const { stdout, code } = await run();
  expect(stdout).toContain('6 passed');
  expect(code).toBe(0);
});

function run(): Promise<{ stdout: string; code: number | string | undefined | null }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, 'node_modules', '@playwright', 'test', 'cli.js'), 'test'],
      {
        cwd: directory,
        env: { PATH: process.env['PATH'], HOME: directory, CI: '1' },
      },
      (error, stdout, stderr) => resolve({ stdout: stdout + stderr, code: error === null ? 0 : error.code }),
    );
  });
}
