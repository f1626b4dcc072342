import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { testClientCredentials } from '../support/client-credentials.ts';
import { type Decide, describeServer } from '../support/describe-server.ts';
import { testBrowserLogin } from '../support/login.ts';
import { testRefresh } from '../support/refresh.ts';

const approve: Decide = async (browser, url) => {
  const consent = await browser.submit(await browser.visit(url), { login: 'ada', password: 'anything' });
  return browser.submit(consent);
};

const decode = (part = ''): JWTPayload => JSON.parse(Buffer.from(part, 'base64url').toString());
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describeServer(
  'apache-mod-oauth2',
  { paths: { token: '/token', authorization: '/auth', resource: '/resource' }, scope: 'offline_access read', approve },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testBrowserLogin(server);
    testRefresh(server, { deadToken: { error: 'invalid_grant' } });

    describe('resource', () => {
      it('the Authorization header of token --header is accepted', async () => {
        const { stdout } = await server.run('token robot --header');
        const [name = '', value = ''] = stdout.trim().split(': ');
        expect((await fetch(server.url('resource'), { headers: { [name]: value } })).status).toBe(200);
        expect((await fetch(server.url('resource'))).status).toBe(401);
      });

      it('a forged token is rejected', async () => {
        const token = (await server.run('token robot')).stdout.trim();
        expect(await server.accepts(token)).toBe(true);
        const [header = '', payload = '', signature = ''] = token.split('.');
        const claims = decode(payload);
        const protectedHeader = { alg: 'RS256', ...decode(header) };
        const { privateKey, publicKey } = await generateKeyPair('RS256');
        const sign = (more: object = {}) =>
          new SignJWT(claims).setProtectedHeader({ ...protectedHeader, ...more }).sign(privateKey);
        const forged = [
          `${header}.${encode({ ...claims, client_id: 'admin' })}.${signature}`,
          `${encode({ ...protectedHeader, alg: 'none' })}.${payload}.`,
          await sign(),
          await sign({ jwk: await exportJWK(publicKey), kid: undefined }),
          await sign({ kid: 'another' }),
          'not-a-jwt',
        ];
        for (const one of forged)
          expect({ one, accepted: await server.accepts(one) }).toEqual({ one, accepted: false });
        expect(await server.accepts(token)).toBe(true);
      });

      it('a token for another API is rejected', async () => {
        server.write({ robot: { resource: 'https://other.example.com' } });
        const token = await server.run('token robot');
        expect(token).toMatchObject({ exit: 0, stderr: '' });
        expect(decode(token.stdout.split('.')[1]).aud).toBe('https://other.example.com');
        expect(await server.accepts(token.stdout)).toBe(false);
      });
    });
  },
);
