import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Browser } from '../../support/browser.ts';
import { testCheckOnline } from '../support/check-online.ts';
import { testClientCredentials, testOddSecret, testWrongSecret } from '../support/client-credentials.ts';
import { type Decide, describeServer, USER } from '../support/describe-server.ts';
import { testBrowserLogin, testDeviceLogin } from '../support/login.ts';
import { testReducedScope, testRefresh, testRevocation } from '../support/refresh.ts';

const signIn = { email: 'ada@example.com', password: USER.password };

/** Calls an endpoint as the scripts of a page do. */
async function call(browser: Browser, page: string, path: string, body: object): Promise<Record<string, unknown>> {
  const { origin } = new URL(page);
  const headers = { 'Content-Type': 'application/json', Origin: origin };
  const { status, text } = await browser.send(`${origin}/api/auth${path}`, JSON.stringify(body), headers);
  if (status !== 200) throw new Error(`${path}: HTTP ${status}: ${text}`);
  return JSON.parse(text);
}

/** Signs in, then decides on the consent page. The pages are those of the application; better-auth has none. */
const decide =
  (decision: { accept: boolean; scope?: string }): Decide =>
  async (browser, url) => {
    const page = await browser.visit(url);
    const query = (location: URL) => location.search.slice(1);
    const oauth_query = query(new URL(page.url));
    const signedIn = await call(browser, page.url, '/sign-in/email', { ...signIn, oauth_query });
    const next = new URL(String(signedIn['url']), page.url);
    // A client that has the consent of the user already gets its code.
    if (next.pathname !== '/consent') return { ...page, url: next.href };
    const done = await call(browser, page.url, '/oauth2/consent', { ...decision, oauth_query: query(next) });
    return { ...page, url: String(done['url']) };
  };

const decideDevice =
  (decision: 'approve' | 'deny'): Decide =>
  async (browser, url) => {
    const page = await browser.visit(url);
    await call(browser, url, '/sign-in/email', signIn);
    const userCode = new URL(url).searchParams.get('user_code');
    await browser.visit(`${new URL(url).origin}/api/auth/device?user_code=${userCode}`);
    await call(browser, url, `/device/${decision}`, { userCode });
    return page;
  };

const scope = 'openid offline_access read';

describeServer(
  'better-auth',
  {
    paths: {
      token: '/api/auth/oauth2/token',
      authorization: '/api/auth/oauth2/authorize',
      device: '/api/auth/device/code',
      resource: '/resource',
    },
    scope,
    clientAuth: 'client_secret_basic',
    approve: decide({ accept: true }),
  },
  (server) => {
    testClientCredentials(server, ['client_secret_basic']);
    testOddSecret(server, { client_secret_post: false, client_secret_basic: true, client_secret_basic_raw: false });
    testWrongSecret(server);
    testBrowserLogin(server, decide({ accept: false }));
    testDeviceLogin(server, ['tool', 'web'], decideDevice('approve'), decideDevice('deny'));
    testRefresh(server, { deadToken: { error: 'invalid_grant' } });
    testReducedScope(server, 'openid offline_access read write', scope, decide({ accept: true, scope }));
    testRevocation(server);
    testCheckOnline(server, '/.well-known/oauth-authorization-server/api/auth', ['robot', 'web']);

    describe('resource indicators', () => {
      const resource = 'https://api.example.com';

      it('the first token after a login is for the resource, and so is a refreshed one', async () => {
        server.write({ tool: { resource } });
        expect(await server.login('tool')).toMatchObject({ exit: 0 });
        const first = await server.run('token tool');
        expect(first).toMatchObject({ exit: 0, stderr: '' });
        expect(decodeJwt(first.stdout).aud).toContain(resource);
        const second = await server.run('token tool --force-refresh');
        expect(decodeJwt(second.stdout).aud).toContain(resource);
      });
    });
  },
);
