import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../support/browser.ts';
import { type Finished, type Running, Sandbox, startCommand } from '../support/cli.ts';
import { type OidcProvider, RESOURCE, startLoginServer } from '../support/oidc-provider.ts';

/** Signs in and consents on the pages of the server. Returns the redirect URL, which is not visited. */
async function approve(url: string): Promise<string> {
  const browser = new Browser();
  const consent = await browser.submit(await browser.visit(url), { login: 'ada', password: 'anything' });
  return (await browser.submit(consent)).url;
}

describe.each(['', '/realms/demo'])('oidc-provider with the issuer path "%s"', (path) => {
  let server: OidcProvider;
  let sandbox: Sandbox;
  beforeAll(async () => {
    server = await startLoginServer(path);
  });
  afterAll(() => server.close());
  beforeEach(() => {
    server.events.length = 0;
    sandbox = new Sandbox();
    write({});
  });
  afterEach(() => sandbox.remove());

  /** Writes the profile `svc`. */
  function write(fields: Record<string, string | undefined>, { issuer } = server): void {
    const options = { authorization_url: `${issuer}/auth`, device_authorization_url: `${issuer}/device/auth` };
    const base = { type: 'custom', url: `${issuer}/token`, client_id: 'tool' };
    const svc = { ...base, scope: 'openid offline_access read', prompt: 'consent', ...fields, options };
    sandbox.write('oauth-profiles.json', JSON.stringify({ svc }));
  }

  const run = (line: string, env: Record<string, string> = {}): Promise<Finished> =>
    sandbox.run(`oauth-profile ${line}`, env);

  /** Logs in. `change` may change the redirect URL. */
  async function login(change: (redirect: URL) => void = () => {}): Promise<Finished> {
    const running: Running = startCommand(sandbox, ['login', 'svc', '--browser', '--no-open']);
    try {
      const [, url = ''] = await running.waitFor(/^ {2}(http\S+)\n/m);
      const redirect = new URL(await approve(url));
      change(redirect);
      await new Browser().visit(redirect.href);
      return await running.finished;
    } finally {
      running.child.kill();
    }
  }

  it('gives a refresh token for offline_access with prompt: consent', async () => {
    const { exit, stderr } = await login();
    expect(exit, stderr).toBe(0);
    expect(await run('token svc --force-refresh')).toMatchObject({ exit: 0, stderr: '' });
    expect(server.events).toContain('refresh_token');
  });

  it('gives no refresh token without prompt: consent; the access token is stored, and the hint names the prompt', async () => {
    write({ prompt: undefined });
    const { exit, stderr } = await login();
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain('svc.prompt');
    expect(await run('token svc')).toMatchObject({ exit: 0, stderr: '' });
    expect(await run('token svc --force-refresh')).toMatchObject({ exit: 5, stdout: '' });
  });

  it('gives a refresh token without prompt: consent if its metadata lists the prompt', async () => {
    const listing = await startLoginServer(path, { prompt_values_supported: ['none', 'login', 'consent'] });
    try {
      write({ prompt: undefined }, listing);
      const { exit, stderr } = await login();
      expect(exit, stderr).toBe(0);
      expect(await run('token svc --force-refresh')).toMatchObject({ exit: 0, stderr: '' });
      expect(listing.events).toContain('refresh_token');
    } finally {
      await listing.close();
    }
  });

  it('publishes metadata that agrees with the profile, before and after a login', async () => {
    const discovery = async () => {
      const { stdout } = await run('check svc --online --json');
      const { diagnostics } = JSON.parse(stdout).profiles[0];
      return diagnostics.filter(({ about }: { about: string }) => about === 'discovery');
    };
    const agrees = [{ level: 'ok', where: expect.stringContaining('/.well-known/') }];
    expect(await discovery()).toMatchObject(agrees);
    await login();
    expect(await discovery()).toMatchObject(agrees);
    expect((await run('check svc --online')).exit).toBe(0);
  });

  it('is compared with the profile before the first login', async () => {
    const requiringJar = await startLoginServer(path, { require_signed_request_object: true });
    try {
      write({}, requiringJar);
      const profile = JSON.parse(sandbox.read('oauth-profiles.json'));
      profile.svc.options.authorization_url += 'orize';
      sandbox.write('oauth-profiles.json', JSON.stringify(profile));
      const { exit, stdout } = await run('check svc --online --json');
      const { diagnostics } = JSON.parse(stdout).profiles[0];
      expect(exit).toBe(2);
      expect(diagnostics.filter(({ about }: { about: string }) => about === 'discovery')).toMatchObject([
        { level: 'warning', where: 'svc.options.authorization_url' },
        { level: 'error', where: 'svc.options.authorization_url', message: expect.stringContaining('RFC 9101') },
      ]);
    } finally {
      await requiringJar.close();
    }
  });

  it('revokes the refresh token of a logout --revoke', async () => {
    await login();
    const { refresh_token } = JSON.parse((await run('token svc --json --reveal')).stdout);
    expect(await run('logout svc --revoke')).toMatchObject({ exit: 0, stderr: '' });
    expect(server.events).toContain('destroyed');
    const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'tool', refresh_token });
    expect((await fetch(`${server.issuer}/token`, { method: 'POST', body })).status).toBe(400);
  });

  it.each([
    ['of another host', (redirect: URL) => redirect.searchParams.set('iss', 'https://evil.example.com')],
    [
      'of another path',
      (redirect: URL) => redirect.searchParams.set('iss', new URL('/realms/evil', server.issuer).href),
    ],
    ['that is missing', (redirect: URL) => redirect.searchParams.delete('iss')],
  ])('announces iss, so a code with an issuer %s is not sent', async (_, change) => {
    const { exit, stdout } = await login(change);
    expect({ exit, stdout }).toEqual({ exit: 4, stdout: '' });
    expect(server.events).toEqual([]);
    expect(JSON.parse((await run('list --json')).stdout).profiles).toEqual([{ profile: 'svc', defined: true }]);
  });

  it('drops an unknown scope, and refreshes work without it', async () => {
    write({ scope: 'openid offline_access read unknown' });
    await login();
    const refreshed = await run('token svc --force-refresh --field scope');
    expect(refreshed).toEqual({ exit: 0, stdout: 'openid offline_access read\n', stderr: '' });
  });

  it('gives tokens for the resource after a login and after a refresh', async () => {
    write({ resource: RESOURCE });
    await login();
    const first = await run('token svc');
    expect(first).toMatchObject({ exit: 0, stderr: '' });
    expect(decodeJwt(first.stdout).aud).toBe(RESOURCE);
    expect(server.events).toEqual(['authorization_code']);
    expect(decodeJwt((await run('token svc --force-refresh')).stdout).aud).toBe(RESOURCE);
  });

  it('gives tokens for the resource after a login with a device code', async () => {
    write({ resource: RESOURCE });
    const running = startCommand(sandbox, ['login', 'svc', '--device']);
    const [, url = ''] = await running.waitFor(/or open (http\S+), which includes/);
    const browser = new Browser();
    // The page submits the code by itself; then the user confirms it.
    const confirm = await browser.submit(await browser.visit(url));
    const signIn = await browser.submit(confirm);
    await browser.submit(await browser.submit(signIn, { login: 'ada', password: 'anything' }));
    const { exit, stderr } = await running.finished;
    expect(exit, stderr).toBe(0);
    const first = await run('token svc');
    expect(decodeJwt(first.stdout).aud).toBe(RESOURCE);
    expect(server.events.filter((event) => event === 'refresh_token')).toEqual([]);
  });

  it('gets one refresh of eight processes, and the token family stays valid', async () => {
    await login();
    const { refresh_token } = JSON.parse((await run('token svc --json --reveal')).stdout);
    // Another machine has the refresh token in its profile and nothing stored.
    write({ grant_type: 'refresh_token', refresh_token });
    const env = { OAUTH_PROFILE_HOME: `${sandbox.directory}/other` };
    const results = await Promise.all(Array.from({ length: 8 }, () => run('token svc', env)));
    expect(new Set(results.map(({ exit, stderr }) => `${exit} ${stderr}`))).toEqual(new Set(['0 ']));
    expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1);
    expect(server.events.filter((event) => event === 'refresh_token')).toHaveLength(1);
    expect(await run('token svc --force-refresh', env)).toMatchObject({ exit: 0, stderr: '' });
  });
});
