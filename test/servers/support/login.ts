import { describe, expect, it } from 'vitest';
import { Browser } from '../../support/browser.ts';
import type { Decide, Server } from './describe-server.ts';

/** Declares the tests of a login with a browser. If the user denies access, the server redirects with the error `denied`. */
export function testBrowserLogin(server: Server, deny?: Decide, denied = 'access_denied'): void {
  describe('login with a browser', () => {
    it('token exits with 5 before a login and sends nothing', async () => {
      const { exit, stderr } = await server.run('token web --json');
      expect(exit).toBe(5);
      expect(JSON.parse(stderr)).toMatchObject({
        code: 'login_required',
        hint: expect.stringContaining('oauth-profile login web'),
      });
      expect(server.received).toEqual([]);
    });

    // First, because servers remember a consent.
    if (deny !== undefined)
      it('a user who denies access causes exit status 3, and nothing is stored', async () => {
        const { exit, stdout, stderr } = await server.login('web', deny);
        expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' });
        expect(stderr).toContain(denied);
        expect(await server.isRefreshable('web')).toBe(false);
      });

    it.each([
      ['confidential', 'web'],
      ['public', 'tool'],
    ])('a %s client gets a token that is stored and accepted', async (_, profile) => {
      const login = await server.login(profile);
      expect(login.exit, login.stderr).toBe(0);
      expect(server.tokenRequests('authorization_code')).toHaveLength(1);
      const token = await server.run(`token ${profile}`);
      expect(token).toMatchObject({ exit: 0, stderr: '' });
      expect(await server.accepts(token.stdout)).toBe(true);
      expect(server.tokenRequests('refresh_token')).toEqual([]);
      expect(await server.isRefreshable(profile)).toBe(true);
    });
  });
}

/** Declares the tests of a login with a device code. */
export function testDeviceLogin(server: Server, profiles: string[], approve: Decide, deny?: Decide): void {
  /** Logs in, and decides on the pages. */
  const login = async (profile: string, decide: Decide) => {
    const running = server.startDeviceLogin(profile);
    const [, url = ''] = await running.waitFor(/or open (http\S+), which includes/);
    await decide(new Browser(), url);
    return running.finished;
  };

  describe('login with a device code', () => {
    it.each(profiles)('the client %s gets a token that is stored and accepted', async (profile) => {
      expect(await login(profile, approve)).toMatchObject({ exit: 0 });
      const token = await server.run(`token ${profile}`);
      expect(token).toMatchObject({ exit: 0, stderr: '' });
      expect(await server.accepts(token.stdout)).toBe(true);
      expect(server.tokenRequests('refresh_token')).toEqual([]);
      expect(await server.run(`token ${profile} --force-refresh`)).toMatchObject({ exit: 0, stderr: '' });
    });

    if (deny === undefined) return;
    it('a user who denies access causes exit status 3, and nothing is stored', async () => {
      const { exit, stderr } = await login(profiles[0] ?? '', deny);
      expect(exit).toBe(3);
      expect(stderr).toContain('access_denied');
      expect(await server.isRefreshable(profiles[0] ?? '')).toBe(false);
    });
  });
}

/** Declares the test of a device login at a server without that endpoint. */
export function testNoDeviceLogin(server: Server): void {
  describe('errors', () => {
    it('a device authorization endpoint that does not exist exits with 3', async () => {
      const options = { device_authorization_url: `${server.origin}/no-such-endpoint` };
      server.write({ tool: { options } });
      const { exit, stderr } = await server.run('login tool --device --json');
      expect(exit).toBe(3);
      expect(JSON.parse(stderr)).toMatchObject({
        code: 'provider_rejected',
        hint: expect.stringContaining('tool.options.device_authorization_url'),
      });
    });
  });
}
