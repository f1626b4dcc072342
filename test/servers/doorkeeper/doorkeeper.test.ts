import { describe, expect, it } from 'vitest';
import { testCheckWithoutMetadata } from '../support/check-online.ts';
import { testClientCredentials, testOddSecret, testPassword, testWrongSecret } from '../support/client-credentials.ts';
import { type Decide, describeServer, isAtClient, USER } from '../support/describe-server.ts';
import { testBrowserLogin, testNoDeviceLogin } from '../support/login.ts';
import { testNoRevocation, testRefresh, testRevocation } from '../support/refresh.ts';

/** The consent page has two forms: to allow, and to deny. A client that has a token gets its code without it. */
const decide =
  (form: number): Decide =>
  async (browser, url) => {
    const page = await browser.submit(await browser.visit(url), USER);
    return isAtClient(page) ? page : browser.submit(page, {}, form);
  };
const approve = decide(0);

describeServer(
  'doorkeeper',
  {
    paths: { token: '/oauth/token', authorization: '/oauth/authorize', resource: '/resource' },
    scope: 'read',
    approve,
  },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testOddSecret(server, { client_secret_post: true, client_secret_basic: false, client_secret_basic_raw: true });
    testWrongSecret(server);
    testPassword(server, { client_id: 'web', client_secret: 'web-secret' });
    testBrowserLogin(server, decide(1));
    testNoDeviceLogin(server);
    testRefresh(server, { deadTokenError: 'invalid_grant' });
    testNoRevocation(server);
    testRevocation(server, ['web', 'tool'], '/oauth/revoke');
    testCheckWithoutMetadata(server);

    describe('scope', () => {
      it('a scope that was added after the login requires another login', async () => {
        expect(await server.login('tool')).toMatchObject({ exit: 0 });
        server.write({ tool: { scope: 'read write' } });
        const { exit, stderr } = await server.run('token tool');
        expect(exit, stderr).toBe(5);
        expect(stderr).toContain('oauth-profile login tool');
        expect(await server.login('tool')).toMatchObject({ exit: 0 });
        expect(await server.run('token tool --field scope')).toEqual({ exit: 0, stdout: 'read write\n', stderr: '' });
      });

      it('an unknown scope exits with 3', async () => {
        server.write({ robot: { scope: 'nonsense' } });
        const { exit, stderr } = await server.run('token robot --json');
        expect(exit).toBe(3);
        expect(JSON.parse(stderr)).toMatchObject({
          provider: { error: 'invalid_scope' },
          hint: expect.stringContaining('robot.scope'),
        });
      });
    });

    describe('login without a refresh token', () => {
      it('the access token is stored and used', async () => {
        server.write({ tool: { client_id: 'no-refresh' } });
        expect(await server.login('tool')).toMatchObject({ exit: 0 });
        const token = await server.run('token tool');
        expect(token.exit, token.stderr).toBe(0);
        expect(await server.accepts(token.stdout)).toBe(true);
      });
    });

    describe('type gitlab', () => {
      const lab = () => ({ type: 'gitlab', url: server.url('token'), client_id: 'tool', scope: 'read' });

      it('login, refresh and logout --revoke work with the URL alone', async () => {
        server.write({ lab: lab() });
        expect(await server.login('lab', approve)).toMatchObject({ exit: 0 });
        const token = await server.run('token lab --force-refresh');
        expect(token).toMatchObject({ exit: 0, stderr: '' });
        expect(await server.accepts(token.stdout)).toBe(true);
        const { refresh_token = '' } = await server.response('lab');
        expect(await server.run('logout lab --revoke')).toMatchObject({ exit: 0, stderr: '' });
        const refresh = { grant_type: 'refresh_token', client_id: 'tool', refresh_token };
        expect((await server.post('/oauth/token', refresh)).status).toBe(400);
        expect(await server.accepts(token.stdout)).toBe(false);
      });

      it('a user name and password get a token without a client', async () => {
        server.write({ lab: { type: 'gitlab', url: server.url('token'), ...USER, scope: 'read' } });
        const token = await server.run('token lab');
        expect(token.exit, token.stderr).toBe(0);
        expect(await server.accepts(token.stdout)).toBe(true);
      });
    });
  },
);
