import { describe, expect, it } from 'vitest';
import type { Decide, Server } from './describe-server.ts';

/** Behaviour of a server. */
interface RefreshBehaviour {
  /** A refresh returns a new refresh token, and the old one is rejected. Default: true. */
  readonly rotates?: boolean;
  /** Error for a refresh token that is no longer valid; `undefined` if the server accepts all. */
  readonly deadTokenError?: string | undefined;
}

/** Declares the tests of refresh tokens. */
export function testRefresh(server: Server, { rotates = true, deadTokenError }: RefreshBehaviour): void {
  describe('refresh', () => {
    it.each(['web', 'tool'])('every refresh of the client %s uses the newest refresh token', async (profile) => {
      await server.login(profile);
      const tokens = [await server.run(`token ${profile}`)];
      for (let count = 0; count < 3; count++) tokens.push(await server.run(`token ${profile} --force-refresh`));
      for (const token of tokens) expect(token).toMatchObject({ exit: 0, stderr: '' });
      expect(await server.accepts(tokens.at(-1)?.stdout ?? '')).toBe(true);
      const sent = server.tokenRequests('refresh_token').map(({ form }) => form['refresh_token']);
      expect(sent).toHaveLength(3);
      expect(new Set(sent).size).toBe(rotates ? 3 : 1);
    });

    it('eight processes at once cause one refresh, and the token family stays valid', async () => {
      await server.login('web');
      const { refresh_token } = await server.response('web');
      // Another machine has the refresh token in its profile and nothing stored.
      server.write({ web: { grant_type: 'refresh_token', refresh_token } });
      const env = { OAUTH_PROFILE_HOME: `${server.sandbox.directory}/other` };
      const results = await Promise.all(Array.from({ length: 8 }, () => server.run('token web', env)));
      expect(new Set(results.map(({ exit, stderr }) => `${exit} ${stderr}`))).toEqual(new Set(['0 ']));
      expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1);
      expect(server.tokenRequests('refresh_token')).toHaveLength(1);
      expect(await server.accepts(results[0]?.stdout ?? '')).toBe(true);
      expect(await server.run('token web --force-refresh', env)).toMatchObject({ exit: 0, stderr: '' });
    });

    if (deadTokenError === undefined) return;
    it('a refresh token that is no longer valid requires a login', async () => {
      await server.login('tool');
      const { refresh_token = '' } = await server.response('tool');
      const refresh = { grant_type: 'refresh_token', client_id: 'tool', refresh_token };
      const response = await server.post(server.settings.paths.token, refresh);
      const { access_token } = (await response.json()) as { access_token: string };
      // Some servers end the old refresh token when the new access token is used for the first time.
      expect(await server.accepts(access_token)).toBe(true);
      const { exit, stderr } = await server.run('token tool --force-refresh --json');
      expect(exit).toBe(5);
      expect(JSON.parse(stderr)).toMatchObject({
        code: 'login_required',
        hint: expect.stringContaining('oauth-profile login tool'),
        provider: { error: deadTokenError },
      });
      // A new login ends the error.
      expect(await server.login('tool')).toMatchObject({ exit: 0 });
      expect(await server.run('token tool --force-refresh')).toMatchObject({ exit: 0, stderr: '' });
    });
  });
}

/** Declares the test of a login whose scope the server reduces: a refresh must not request more (RFC 6749 §6). */
export function testReducedScope(server: Server, requested: string, granted: string, decide?: Decide): void {
  describe('scope', () => {
    it('a refresh works after the server has granted less than was requested', async () => {
      server.write({ tool: { scope: requested } });
      expect(await server.login('tool', decide)).toMatchObject({ exit: 0 });
      expect((await server.response('tool'))['scope']).toBe(granted);
      const refreshed = await server.run('token tool --force-refresh --field scope');
      expect(refreshed).toEqual({ exit: 0, stdout: `${granted}\n`, stderr: '' });
    });
  });
}

/** Declares the tests of `logout --revoke` with the endpoint of the metadata, or with the configured one at `path`. */
export function testRevocation(server: Server, profiles = ['web', 'tool'], path?: string): void {
  describe('revocation', () => {
    it.each(profiles)('logout --revoke ends the refresh token of the client %s at the server', async (profile) => {
      const configured = path === undefined ? {} : { revocation_url: `${server.origin}${path}` };
      server.write({ [profile]: { options: { ...server.loginOptions(), ...configured } } });
      await server.login(profile);
      const { refresh_token = '' } = await server.response(profile);
      expect(await server.run(`logout ${profile} --revoke`)).toMatchObject({ exit: 0, stderr: '' });
      expect(await server.isRefreshable(profile)).toBe(false);
      const secret: Record<string, string> = profile === 'web' ? { client_secret: 'web-secret' } : {};
      const refresh = { grant_type: 'refresh_token', client_id: profile, ...secret, refresh_token };
      expect((await server.post(server.settings.paths.token, refresh)).status).toBe(400);
      expect(await server.run(`token ${profile}`)).toMatchObject({ exit: 5, stdout: '' });
    });
  });
}

/** Declares the test of `logout --revoke` at a server that does not announce a revocation endpoint. */
export function testNoRevocation(server: Server): void {
  describe('revocation', () => {
    it('logout --revoke exits with 2 and keeps the login, since no revocation endpoint is announced', async () => {
      await server.login('tool');
      const { exit, stderr } = await server.run('logout tool --revoke');
      expect(exit).toBe(2);
      expect(stderr).toContain('no revocation endpoint');
      expect(await server.run('token tool --force-refresh')).toMatchObject({ exit: 0, stderr: '' });
      expect(await server.run('logout tool')).toMatchObject({ exit: 0 });
      expect(await server.run('token tool')).toMatchObject({ exit: 5, stdout: '' });
    });
  });
}
