import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../support/browser.ts';
import { type Finished, Sandbox, startCommand } from '../support/cli.ts';
import { type OidcProvider, startLoginServer } from '../support/oidc-provider.ts';

const kinds = {
  'type: oidc': (issuer: string) => ({ type: 'oidc', issuer }),
  'type: custom and options.issuer': (issuer: string) => ({ type: 'custom', options: { issuer } }),
};

/** A server for the tests of a `describe`, and a new sandbox with a profile for each of them. */
function useServer(path: string, kind: keyof typeof kinds) {
  let server: OidcProvider;
  let sandbox: Sandbox;
  beforeAll(async () => {
    server = await startLoginServer(path);
  });
  afterAll(() => server.close());
  beforeEach(() => {
    server.events.length = 0;
    sandbox = new Sandbox();
    const fields = { ...kinds[kind](server.issuer), client_id: 'tool', scope: 'openid offline_access read' };
    sandbox.write('oauth-profiles.json', JSON.stringify({ svc: { ...fields, prompt: 'consent' } }));
  });
  afterEach(() => sandbox.remove());
  return {
    issuer: () => server.issuer,
    events: () => server.events,
    run: (line: string): Promise<Finished> => sandbox.run(`oauth-profile ${line}`),
    start: (...args: string[]) => startCommand(sandbox, args),
  };
}

async function loginWithBrowser({ start }: ReturnType<typeof useServer>): Promise<Finished> {
  const running = start('login', 'svc', '--browser', '--no-open');
  const [, url = ''] = await running.waitFor(/^ {2}(http\S+)\n/m);
  const browser = new Browser();
  const consent = await browser.submit(await browser.visit(url), { login: 'ada', password: 'anything' });
  await new Browser().visit((await browser.submit(consent)).url);
  return running.finished;
}

describe.each([
  ['', 'type: oidc'],
  ['/realms/demo', 'type: oidc'],
  ['/realms/demo', 'type: custom and options.issuer'],
] as const)('oidc-provider with the issuer path "%s" and %s', (path, kind) => {
  const server = useServer(path, kind);

  it('logs in with a browser, explains, refreshes, and revokes at the endpoints of the metadata', async () => {
    const { exit, stderr } = await loginWithBrowser(server);
    expect(exit, stderr).toBe(0);
    const explained = JSON.parse((await server.run('explain svc --json')).stdout);
    expect(explained.url).toBe(`${server.issuer()}/token`);
    expect(explained.form.map(({ name }: { name: string }) => name)).not.toContain('issuer');
    expect(await server.run('token svc --force-refresh')).toMatchObject({ exit: 0, stderr: '' });
    expect(server.events()).toContain('refresh_token');
    expect(await server.run('logout svc --revoke')).toMatchObject({ exit: 0, stderr: '' });
    expect(server.events()).toContain('destroyed');
  });
});

describe('oidc-provider, found by its issuer,', () => {
  const server = useServer('/realms/demo', 'type: oidc');

  it('logs in with a device code', async () => {
    const running = server.start('login', 'svc', '--device');
    const [, url = ''] = await running.waitFor(/or open (http\S+), which includes/);
    const browser = new Browser();
    const confirm = await browser.submit(await browser.visit(url));
    const signIn = await browser.submit(confirm);
    await browser.submit(await browser.submit(signIn, { login: 'ada', password: 'anything' }));
    const { exit, stderr } = await running.finished;
    expect(exit, stderr).toBe(0);
    expect(await server.run('token svc')).toMatchObject({ exit: 0, stderr: '' });
  });

  it('requires a login first, before which check --online agrees with the metadata', async () => {
    expect(await server.run('token svc')).toMatchObject({ exit: 5, stdout: '' });
    const { stdout } = await server.run('check svc --online --json');
    const [{ diagnostics, issues }] = JSON.parse(stdout).profiles;
    expect(issues).toMatchObject([{ variable: 'svc.refresh_token' }]);
    const discovery = diagnostics.filter(({ about }: { about: string }) => about === 'discovery');
    expect(discovery).toMatchObject([{ level: 'ok', where: expect.stringContaining('/.well-known/') }]);
  });
});
