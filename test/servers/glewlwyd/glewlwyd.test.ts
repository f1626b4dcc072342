import { createRemoteJWKSet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Browser } from '../../support/browser.ts';
import { testClientCredentials, testOddSecret, testPassword } from '../support/client-credentials.ts';
import { type Decide, describeServer, USER } from '../support/describe-server.ts';
import { testBrowserLogin, testDeviceLogin } from '../support/login.ts';
import { testRefresh, testRevocation } from '../support/refresh.ts';

/** Calls an endpoint as the scripts of the sign-in page do. */
async function call(browser: Browser, method: string, url: string, body: object): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const { status, text } = await browser.send(url, JSON.stringify(body), headers, method);
  if (status !== 200) throw new Error(`${url}: HTTP ${status}: ${text}`);
}

/** The server redirects to its sign-in page, whose scripts sign in, grant the scope and return to `callback_url`. */
const approve: Decide = async (browser, url) => {
  const { origin, searchParams: page } = new URL((await browser.visit(url)).url);
  await call(browser, 'POST', `${origin}/api/auth/`, USER);
  await call(browser, 'PUT', `${origin}/api/auth/grant/${page.get('client_id')}`, { scope: page.get('scope') });
  return browser.visit(`${page.get('callback_url')}&g_continue`);
};

/** Access tokens are JWTs (RFC 9068). */
async function verify(origin: string, token: string): Promise<boolean> {
  const issuer = `${origin}/api/oidc`;
  await jwtVerify(token, createRemoteJWKSet(new URL(`${issuer}/jwks`)), { issuer });
  return true;
}

describeServer(
  'glewlwyd',
  {
    paths: {
      token: '/api/oidc/token',
      authorization: '/api/oidc/auth',
      device: '/api/oidc/device_authorization',
    },
    verify,
    // With `openid`, the server requires a nonce, although OpenID Connect Core §3.1.2.1 makes it optional.
    scope: 'read',
    approve,
  },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testOddSecret(server, { client_secret_post: true, client_secret_basic: false, client_secret_basic_raw: true });
    testPassword(server, { client_id: 'web', client_secret: 'web-secret' }, { status: 403 });
    testBrowserLogin(server);
    testDeviceLogin(server, ['tool', 'web'], approve);
    testRefresh(server, { deadToken: { status: 400 } });
    // The revocation endpoint rejects public clients.
    testRevocation(server, ['web']);

    describe('nonce', () => {
      it('a login with the scope openid works with a nonce in the profile', async () => {
        server.write({ tool: { scope: 'openid read', nonce: 'a-nonce' } });
        expect(await server.login('tool')).toMatchObject({ exit: 0 });
        expect(await server.run('token tool --force-refresh')).toMatchObject({ exit: 0, stderr: '' });
      });
    });

    describe('errors', () => {
      it('a response without a body exits with 3 and shows its status', async () => {
        server.write({ robot: { client_secret: 'wrong-secret' } });
        const { exit, stderr } = await server.run('token robot --json');
        expect(exit).toBe(3);
        expect(JSON.parse(stderr)).toMatchObject({ code: 'provider_rejected', provider: { status: 403 } });
      });
    });

    describe('check --online', () => {
      it('finds the metadata of an issuer with a path and reports the grants that it does not list', async () => {
        const { exit, stdout } = await server.run('check robot --online');
        expect(exit).toBe(2);
        expect(stdout).toContain('does not list the grant client_credentials');
      });
    });
  },
);
