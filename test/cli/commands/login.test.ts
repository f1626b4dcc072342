import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Browser, enterCodeByHand, signInByHand } from '../../support/browser.ts';
import { hasTerminals, type Running, runInTerminal, Sandbox, startCommand } from '../../support/cli.ts';
import { startTokenServer } from '../../support/server.ts';
import { anyKey } from '../../support/store.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.write(
    'oauth-profiles.yaml',
    `drive: {type: google, client_id: desktop, client_secret: GOCSPX-not-to-be-seen, scope: openid email}
graph: {type: microsoft, tenant_id: contoso.onmicrosoft.com, client_id: app, scope: openid profile user.read}
`,
  );
});
afterEach(() => sandbox.remove());

const urlShownBy = async (command: Running): Promise<string> =>
  (await command.waitFor(/^ {2}(http\S+)\r?\n/m))[1] ?? '';

/** All files below a directory. */
const filesIn = (directory: string): string[] =>
  existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : [];

describe('login --emulate', () => {
  it('completes a login, stores nothing and shows no secret', async () => {
    const login = startCommand(sandbox, ['login', 'drive', '--emulate', '--no-open', '--verbose']);
    const url = await urlShownBy(login);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/);
    const back = await signInByHand(url);
    expect((await new Browser().visit(back)).text).toContain('You are logged in');
    const { exit, stdout, stderr } = await login.finished;
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^logged in: drive as ada@example\.com;/);
    expect(stderr).toContain('expires in 10 min');
    expect(stderr).toContain('nothing was stored');
    expect(stderr).not.toMatch(/GOCSPX|code-|rt-/);
    expect(filesIn(join(sandbox.home, '.local'))).toEqual([]);
  });

  it('opens the program in BROWSER with the URL', async () => {
    const browser = join(sandbox.directory, 'browser');
    writeFileSync(
      browser,
      `#!/bin/sh\nenv > '${sandbox.directory}/env'; printf %s "$1" > '${sandbox.directory}/opened'\n`,
    );
    chmodSync(browser, 0o755);
    const env = { BROWSER: `${browser} %s`, OAUTH_PROFILE_KEY: anyKey() };
    const login = startCommand(sandbox, ['login', 'drive', '--emulate'], env);
    const url = await urlShownBy(login);
    expect(readFileSync(join(sandbox.directory, 'opened'), 'utf8')).toBe(url);
    expect(readFileSync(join(sandbox.directory, 'env'), 'utf8')).not.toContain('OAUTH_PROFILE_');
    await new Browser().visit(await signInByHand(url));
    expect(await login.finished).toMatchObject({ exit: 0 });
  });

  it('shows the device code of a running emulator', async () => {
    const emulate = startCommand(sandbox, ['emulate', '--json']);
    try {
      let text = '';
      for await (const chunk of emulate.child.stdout ?? []) {
        text += chunk;
        if (text.includes('\n')) break;
      }
      const { url } = JSON.parse(text.split('\n')[0] ?? '');
      const login = startCommand(sandbox, ['login', 'graph', `--emulate=${url}`]);
      const [, page = ''] = await login.waitFor(/open (http\S+)\n/);
      expect(page).toBe(`${url}/login.microsoftonline.com/devicelogin`);
      const [, code = ''] = await login.waitFor(/enter the code (\S+)\s/);
      await enterCodeByHand(page, code);
      expect(await login.finished).toMatchObject({ exit: 0, stdout: expect.stringContaining('as ada@example.com') });
    } finally {
      emulate.child.kill();
      await emulate.finished;
    }
  });
});

describe('Ctrl-C during login', () => {
  it.each([
    ['a browser', ['login', 'drive', '--no-open']],
    ['a browser, emulated', ['login', 'drive', '--no-open', '--emulate']],
  ])('ends the wait for %s with 130 and leaves no listener and no login', async (_, args) => {
    const login = startCommand(sandbox, args, { HTTPS_PROXY: 'http://127.0.0.1:9' });
    const redirect = new URL(new URL(await urlShownBy(login)).searchParams.get('redirect_uri') ?? '');
    const listening = connect(Number(redirect.port), '127.0.0.1');
    await once(listening, 'connect');
    listening.on('error', () => {});
    login.child.kill('SIGINT');
    const { exit, stdout } = await login.finished;
    expect({ exit, stdout }).toEqual({ exit: 130, stdout: '' });
    await expect(once(connect(Number(redirect.port), '127.0.0.1'), 'connect')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    const list = await sandbox.run('oauth-profile list');
    expect(list.stdout).toMatch(/^drive +nothing stored$/m);
  });

  it('ends the wait for a device code', async () => {
    const login = startCommand(sandbox, ['login', 'graph', '--emulate']);
    await login.waitFor(/enter the code/);
    login.child.kill('SIGINT');
    expect(await login.finished).toMatchObject({ exit: 130, stdout: '' });
  });
});

it('login shows a failed metadata request while it waits', async () => {
  const server = await startTokenServer((response) => response.destroy());
  onTestFinished(() => server.stop());
  const url = `http://127.0.0.1:${server.port}`;
  const options = `options: {authorization_url: "${url}/authorize"}`;
  sandbox.write('oauth-profiles.yaml', `acme: {type: custom, url: "${url}/token", client_id: app, ${options}}\n`);
  const login = startCommand(sandbox, ['login', 'acme', '--browser', '--no-open']);
  await urlShownBy(login);
  await login.waitFor(new RegExp(`^warning: cannot read the metadata of 127\\.0\\.0\\.1:${server.port}: .+\\n`, 'm'));
  login.child.kill('SIGINT');
  expect(await login.finished).toMatchObject({ exit: 130, stdout: '' });
});

describe.skipIf(!hasTerminals)('login in a terminal', () => {
  it('accepts the redirect URL of a browser on another machine, and rejects a wrong one', async () => {
    const login = runInTerminal(sandbox, 'oauth-profile login drive --emulate');
    const [, url = ''] = await login.waitFor(/^ {2}(http\S+)\r?\n/m);
    await login.waitFor(/paste the URL/);
    login.write('http://127.0.0.1:1/callback?code=x&state=y\n');
    await login.waitFor(/paste the whole URL/);
    login.write(`${await signInByHand(url)}\n`);
    await login.waitFor(/logged in: drive as ada@example\.com/);
    expect(await login.finished).toMatchObject({ exit: 0 });
  });

  it('is ended by Ctrl-C with 130', async () => {
    const login = runInTerminal(sandbox, 'oauth-profile login drive --emulate');
    await login.waitFor(/paste the URL/);
    login.write('\u0003');
    expect(await login.finished).toMatchObject({ exit: 130 });
  });
});
