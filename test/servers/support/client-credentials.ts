import { describe, expect, it } from 'vitest';
import { runModule } from '../../support/build.ts';
import { ODD_SECRET, type Server, USER } from './describe-server.ts';

type ClientAuth = 'client_secret_post' | 'client_secret_basic' | 'client_secret_basic_raw';

/** Declares the tests of `client_credentials`. */
export function testClientCredentials(server: Server, clientAuths: readonly ClientAuth[]): void {
  describe('client credentials', () => {
    it.each(clientAuths)('%s gets a token that the resource server accepts', async (client_auth) => {
      server.write({ robot: { options: { client_auth } } });
      const token = await server.run('token robot');
      expect(token).toMatchObject({ exit: 0, stderr: '' });
      expect(await server.accepts(token.stdout)).toBe(true);
      const { form, headers } = server.received[0] ?? { form: {}, headers: {} };
      expect('client_secret' in form).toBe(client_auth === 'client_secret_post');
      expect('authorization' in headers).toBe(client_auth !== 'client_secret_post');
    });

    it('a second command reuses the token', async () => {
      server.write({ robot: { options: { client_auth: clientAuths[0] } } });
      const first = await server.run('token robot');
      const second = await server.run('token robot');
      expect(second).toEqual(first);
      expect(server.tokenRequests('client_credentials')).toHaveLength(1);
    });

    if (server.settings.paths.resource === undefined) return;
    it('fetch() of the library requests a token and calls the resource server', async () => {
      const robot = {
        type: 'custom',
        url: server.url('token'),
        grant_type: 'client_credentials',
        client_id: 'robot',
        client_secret: 'robot-secret',
        scope: 'read',
        options: { client_auth: clientAuths[0] },
      };
      const text = `const { createTokenSource } = await import(process.env.ENTRY);
        const source = createTokenSource('robot', { data: { robot: ${JSON.stringify(robot)} }, origins: ['${server.origin}'] });
        const responses = await Promise.all([1, 2, 3].map(() => source.fetch('${server.url('resource')}')));
        console.log(responses.map(({ status }) => status).join());`;
      const { stdout } = await runModule(text, { HOME: server.sandbox.home });
      expect(stdout).toBe('200,200,200\n');
      expect(server.tokenRequests('client_credentials')).toHaveLength(1);
    });
  });
}

/** Declares the tests of a secret with special characters. `accepted` lists what the server accepts. */
export function testOddSecret(server: Server, accepted: Record<ClientAuth, boolean>): void {
  describe('secrets with special characters', () => {
    it.each(Object.entries(accepted))('%s works: %s', async (client_auth, works) => {
      server.write({ robot: { client_id: 'odd', client_secret: ODD_SECRET, options: { client_auth } } });
      const { exit, stderr } = await server.run('token robot --json');
      expect(exit).toBe(works ? 0 : 3);
      if (works || client_auth !== 'client_secret_basic') return;
      const { provider, hint } = JSON.parse(stderr);
      if (provider.error === 'invalid_client') expect(hint).toContain('client_secret_basic_raw');
    });
  });
}

/** Declares the tests of a wrong client secret. The server responds with `error`. */
export function testWrongSecret(server: Server, error = 'invalid_client'): void {
  describe('errors', () => {
    it('a wrong client secret exits with 3 and names the variable', async () => {
      server.write({ robot: { client_secret: 'wrong-secret' } });
      const { exit, stdout, stderr } = await server.run('token robot --json');
      expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' });
      expect(JSON.parse(stderr)).toMatchObject({
        code: 'provider_rejected',
        hint: expect.stringContaining('robot.client_secret'),
        provider: { error },
      });
    });

    it('an unknown grant exits with 3 and names the variable', async () => {
      server.write({ robot: { grant_type: 'urn:example:unknown' } });
      const { exit, stderr } = await server.run('token robot --json');
      expect(exit).toBe(3);
      expect(JSON.parse(stderr)).toMatchObject({
        code: 'provider_rejected',
        provider: { error: 'unsupported_grant_type' },
        hint: expect.stringContaining('robot.grant_type'),
      });
    });

    it('a URL without an endpoint exits with 3', async () => {
      server.write({ robot: { url: `${server.origin}/no-such-endpoint` } });
      expect(await server.run('token robot')).toMatchObject({ exit: 3, stdout: '' });
    });
  });
}

/** Declares the tests of the password grant with a client. A wrong password gets the response `rejected`. */
export function testPassword(
  server: Server,
  client: Record<string, string>,
  rejected: { error: string } | { status: number } = { error: 'invalid_grant' },
): void {
  const { user = USER } = server.settings;
  describe('password', () => {
    it('a user name and password get a token', async () => {
      server.write({ user: { ...client, grant_type: 'password', ...user, scope: 'read' } });
      const token = await server.run('token user');
      expect(token).toMatchObject({ exit: 0, stderr: expect.not.stringContaining('error') });
      expect(await server.accepts(token.stdout)).toBe(true);
    });

    it('a wrong password exits with 3 and is not tried again', async () => {
      server.write({ user: { ...client, grant_type: 'password', ...user, password: 'wrong-password', scope: 'read' } });
      const { exit, stderr } = await server.run('token user --json');
      expect(exit).toBe(3);
      expect(JSON.parse(stderr)).toMatchObject({ code: 'provider_rejected', provider: rejected });
      expect(server.tokenRequests('password')).toHaveLength(1);
    });
  });
}
