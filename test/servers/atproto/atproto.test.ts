import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { describeServer, type Server } from '../support/describe-server.ts';

const scope = 'atproto transition:generic';
/** A client on loopback, which needs no registration (https://atproto.com/specs/oauth#clients). */
const CLIENT_ID = `http://localhost?${new URLSearchParams({ redirect_uri: 'http://127.0.0.1/callback', scope })}`;

/** Writes the profile `tool`. */
function write(server: Server, options: Record<string, string>): void {
  server.write({ tool: { client_id: CLIENT_ID, options: { ...server.loginOptions('tool'), ...options } } });
}

/** Logs in with the profile `tool`, whose tokens are bound to a key. */
async function login(server: Server): Promise<void> {
  write(server, { dpop: 'true' });
  const { exit, stderr } = await server.login('tool');
  expect(exit, stderr).toBe(0);
}

describeServer(
  'atproto',
  {
    paths: { token: '/oauth/token', authorization: '/oauth/authorize' },
    scope,
    approve: (browser, url) => browser.visit(url),
  },
  (server) => {
    describe('login with a browser', () => {
      it('a pushed request and a code with proofs give a token that is bound to the key', async () => {
        await login(server);
        const pushed = server.received.filter(({ path }) => path === '/oauth/par');
        // The first one lacks the nonce of the server.
        expect(pushed).toHaveLength(2);
        expect(pushed[1]?.form).toMatchObject({ client_id: CLIENT_ID, dpop_jkt: expect.any(String) });
        expect(server.tokenRequests('authorization_code')).toHaveLength(1);
        const { access_token = '', token_type } = await server.response('tool');
        expect(token_type).toBe('DPoP');
        expect(decodeJwt(access_token)).toMatchObject({ cnf: { jkt: pushed[1]?.form['dpop_jkt'] } });
      });

      it('a profile without dpop is rejected, and nothing is stored', async () => {
        write(server, {});
        const { exit, stderr } = await server.login('tool');
        expect(exit, stderr).toBe(3);
        expect(await server.isRefreshable('tool')).toBe(false);
      });
    });

    describe('refresh', () => {
      it('every refresh uses the newest refresh token, whatever nonces the server requires', async () => {
        await login(server);
        const tokens = [await server.run('token tool')];
        for (let count = 0; count < 3; count++) tokens.push(await server.run('token tool --force-refresh'));
        for (const token of tokens) expect(token).toMatchObject({ exit: 0, stderr: '' });
        expect(new Set(tokens.map(({ stdout }) => stdout)).size).toBe(4);
        // Each process sends its first request without a nonce.
        const sent = server.tokenRequests('refresh_token').map(({ form }) => form['refresh_token']);
        expect([sent.length, new Set(sent).size]).toEqual([6, 3]);
      });

      it('eight processes that refresh at once use no refresh token twice', async () => {
        await login(server);
        const results = await Promise.all(Array.from({ length: 8 }, () => server.run('token tool --force-refresh')));
        expect(new Set(results.map(({ exit, stderr }) => `${exit} ${stderr}`))).toEqual(new Set(['0 ']));
        // A request without a nonce does not use it.
        const sent = server.tokenRequests('refresh_token').map(({ form }) => form['refresh_token']);
        expect(sent.length).toBeLessThanOrEqual(2 * new Set(sent).size);
        expect(await server.run('token tool --force-refresh')).toMatchObject({ exit: 0, stderr: '' });
      });
    });

    describe('revocation', () => {
      it('logout --revoke ends the refresh token at the server', async () => {
        await login(server);
        expect(await server.run('logout tool --revoke')).toMatchObject({ exit: 0, stderr: '' });
        expect(await server.isRefreshable('tool')).toBe(false);
      });
    });
  },
);
