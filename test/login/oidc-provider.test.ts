import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chromiumPath, launchBrowser } from '../support/chromium.ts';
import { Sandbox, startCommand } from '../support/cli.ts';
import { type OidcProvider, startLoginServer } from '../support/oidc-provider.ts';

let server: OidcProvider;
let browser: Browser;
let page: Page;
let sandbox: Sandbox;
beforeAll(async () => {
  [server, browser] = await Promise.all([startLoginServer(), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});
beforeEach(async () => {
  page = await browser.newPage();
  // The pages of oidc-provider load a font from the internet.
  await page.route(
    (url) => url.hostname !== '127.0.0.1' && url.hostname !== 'localhost',
    (route) => route.abort(),
  );
  server.events.length = 0;
  sandbox = new Sandbox();
  sandbox.write(
    'oauth-profiles.yaml',
    `svc:
  type: custom
  url: ${server.issuer}/token
  client_id: tool
  scope: openid offline_access
  prompt: consent
  options:
    authorization_url: ${server.issuer}/auth
    device_authorization_url: ${server.issuer}/device/auth
`,
  );
});
afterEach(async () => {
  await page.close();
  sandbox.remove();
});

/** Signs in with the pages of the server. */
async function signIn(): Promise<void> {
  await page.locator('input[name=login]').fill('ada');
  await page.locator('input[name=password]').fill('anything');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]', { hasText: 'Continue' }).click();
}

describe.skipIf(chromiumPath === undefined)('oidc-provider', () => {
  it('accepts a login with a browser, rotations and logout --revoke', async () => {
    const login = startCommand(sandbox, ['login', 'svc', '--no-open']);
    const [, url = ''] = await login.waitFor(/^ {2}(http\S+)\n/m);
    await page.goto(url);
    await signIn();
    await page.getByText('You are logged in').waitFor();
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(await login.finished).toMatchObject({ exit: 0, stdout: expect.stringContaining('ada') });

    const first = await sandbox.run('oauth-profile token svc');
    expect(first).toMatchObject({ exit: 0, stderr: '' });
    expect(server.events).toEqual(['authorization_code']);
    const second = await sandbox.run('oauth-profile token svc --force-refresh');
    const third = await sandbox.run('oauth-profile token svc --force-refresh');
    expect(second).toMatchObject({ exit: 0, stderr: '' });
    expect(third).toMatchObject({ exit: 0, stderr: '' });
    expect(new Set([first.stdout, second.stdout, third.stdout]).size).toBe(3);
    expect(server.events.filter((event) => event === 'refresh_token')).toHaveLength(2);
    const { stdout: listed } = await sandbox.run('oauth-profile list --json');
    expect(JSON.parse(listed).profiles).toMatchObject([{ profile: 'svc', refreshable: true, account: 'ada' }]);

    const logout = await sandbox.run('oauth-profile logout svc --revoke');
    expect(logout).toMatchObject({ exit: 0, stderr: '' });
    expect(server.events).toContain('destroyed');
    expect((await sandbox.run('oauth-profile list')).stdout).toMatch(/^svc +nothing stored$/m);
    // Without the login, the profile has no grant.
    expect((await sandbox.run('oauth-profile token svc')).exit).not.toBe(0);
  });

  it('accepts a login with a device code', async () => {
    const login = startCommand(sandbox, ['login', 'svc', '--device', '--json']);
    const [, code = ''] = await login.waitFor(/enter the code (\S+)\s/);
    const [, url = ''] = await login.waitFor(/open (http\S+)\n/);
    await page.goto(url);
    await page.locator('input[name=user_code]').fill(code);
    await page.locator('button[type=submit]').click();
    await page.locator('button[type=submit]', { hasText: 'Continue' }).click();
    await signIn();
    await page.getByText('Sign-in Success').waitFor();
    const { exit, stdout } = await login.finished;
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ profile: 'svc', account: 'ada', replaced: false });
  });

  it('reports that the user cancelled, and nothing is stored', async () => {
    const login = startCommand(sandbox, ['login', 'svc', '--no-open']);
    const [, url = ''] = await login.waitFor(/^ {2}(http\S+)\n/m);
    await page.goto(url);
    await page.getByText('Cancel').click();
    await page.getByText('Login denied').waitFor();
    const { exit, stdout, stderr } = await login.finished;
    expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' });
    expect(stderr).toContain('access_denied');
    expect(stderr).toContain('run: oauth-profile login svc');
    expect((await sandbox.run('oauth-profile list')).stdout).toMatch(/^svc +nothing stored$/m);
  });
});
