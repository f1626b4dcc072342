import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { findLogins, forget, revocationEndpoint, revokeToken } from '../../src/flows/login/logout.ts';
import { Browser as Visitor } from '../support/independent-browser.ts';
import { chromiumPath, launchBrowser } from '../support/launch-browser.ts';
import { enterCode, signInAt } from '../support/login-browser.ts';
import { enterCodeByHand, signInByHand } from '../support/login-visits.ts';
import { LoginWorld } from '../support/login-world.ts';

/** Profiles as people write them, with the addresses of production; none has a password or a refresh token. */
const profiles = {
  microsoft: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    client_id: '11111111-2222-4333-8444-555555555555',
    scope: 'openid user.read',
  },
  google: {
    type: 'google',
    client_id: 'desk.apps.googleusercontent.com',
    client_secret: 'GOCSPX-not-a-secret',
    scope: 'openid email',
  },
  okta: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: '0oa1',
    client_secret: 'okta-app-secret',
    scope: 'openid profile',
  },
  gitlab: {
    type: 'gitlab',
    client_id: 'gitlab-app',
    client_secret: 'gloas-0123456789abcdef',
    scope: 'openid read_user',
  },
  custom: {
    type: 'custom',
    url: 'https://id.example.com/oauth/token',
    client_id: 'tool',
    client_secret: 'tool-secret',
    scope: 'openid read',
    options: {
      authorization_url: 'https://id.example.com/oauth/authorize',
      device_authorization_url: 'https://id.example.com/oauth/device_authorization',
    },
  },
};
type Name = keyof typeof profiles;
const all = Object.keys(profiles) as Name[];

let browser: Browser;
let page: Page;
let world: LoginWorld;
let time: number;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  page = await browser.newPage();
  time = Date.now();
});
afterEach(async () => {
  await page.close();
  await world.close();
});

const begin = async (name: Name, fields: object = profiles[name]): Promise<void> => {
  world = await LoginWorld.emulated(name, fields as Record<string, unknown>, () => time);
};

/** Time passes for everybody when somebody waits, after the person at the browser is done. */
const clockAfter = (person: () => Promise<unknown> | undefined) => ({
  clock: {
    now: () => time,
    sleep: async (ms: number) => {
      await person();
      time += ms;
    },
  },
});

/** Refreshes until the provider has rotated, revokes, and finds everything dead. */
async function useAndRevoke(name: Name): Promise<void> {
  const first = await world.token();
  expect(first.reused).toBe(true);
  const second = await world.token(true);
  expect(second).toMatchObject({ reused: false });
  expect(second.token).not.toBe(first.token);
  time += 60_000;
  const third = await world.token(true);
  expect(third.token).not.toBe(second.token);

  const store = await world.session.openStore();
  const [found, ...others] = await findLogins(store, name);
  if (found === undefined) expect.fail('no login is kept');
  expect(others).toEqual([]);
  const { profile: login } = world;
  const { ports } = world.session;
  const endpoint = await revocationEndpoint(login, ports, await world.signInPorts(), undefined);
  if (name === 'microsoft') {
    expect(endpoint).toBeUndefined();
    await forget(found, store);
  } else {
    if (endpoint === undefined) expect.fail('no address to revoke at');
    let revoked: string | undefined;
    await forget(found, store, async (token, kept) => {
      await revokeToken(login, endpoint, token, kept, ports, store, undefined);
      revoked = token.reveal();
    });
    // Whoever copied it has nothing any more.
    const thief = world.withPasted({ ...profiles[name], grant_type: 'refresh_token', refresh_token: String(revoked) });
    await expect(thief.token()).rejects.toMatchObject({
      code: 'login_required',
      hint: expect.stringContaining(`run: oauth-profile login ${name}`),
    });
  }
  expect(await store.list()).toEqual([]);
}

describe.skipIf(chromiumPath === undefined)('a sign-in with a browser', () => {
  it.each(all)('%s: signs in, hands out the token, refreshes, and is revoked', async (name) => {
    await begin(name);
    // Pages of the emulator are alike, redirects are not.
    const real = name === 'google' || name === 'microsoft';
    let shown = '';
    const kept = await world.loginWithBrowser(async (address) => {
      if (real) await signInAt(page, address);
      else shown = (await new Visitor().visit(await signInByHand(address))).text;
    });
    expect(kept).toMatchObject({ account: 'ada@example.com', replaced: false });
    if (real) await page.getByText('You are signed in').waitFor();
    else await vi.waitFor(() => expect(shown).toContain('You are signed in'));
    await useAndRevoke(name);
  });
});

describe.skipIf(chromiumPath === undefined)('a sign-in with a device code', () => {
  it.each(all.filter((name) => name !== 'google'))(
    '%s: signs in, hands out the token, refreshes, and is revoked',
    async (name) => {
      await begin(name);
      let person: Promise<unknown> | undefined;
      const kept = await world.loginWithDevice(
        {
          showCode: ({ verificationUri, userCode }) => {
            const real = name === 'microsoft';
            person = real ? enterCode(page, verificationUri, userCode) : enterCodeByHand(verificationUri, userCode);
          },
          showWaiting: () => {},
        },
        { ports: clockAfter(() => person) },
      );
      expect(kept).toMatchObject({ account: 'ada@example.com', replaced: false });
      if (name === 'microsoft') await page.getByText('The device is signed in').waitFor();
      await useAndRevoke(name);
    },
  );

  it('okta: the address that has the code in it needs no typing', async () => {
    await begin('okta');
    let person: Promise<unknown> | undefined;
    await world.loginWithDevice(
      {
        showCode: ({ verificationUriComplete = '', userCode }) => {
          expect(verificationUriComplete).toContain(userCode);
          person = enterCode(page, verificationUriComplete, userCode);
        },
        showWaiting: () => {},
      },
      { ports: clockAfter(() => person) },
    );
    await page.getByText('The device is signed in').waitFor();
  });
});

describe.skipIf(chromiumPath === undefined)('a sign-in that comes to nothing', () => {
  const nothingKept = async () => expect(await (await world.session.openStore()).list()).toEqual([]);

  it('is told to the person who says no, in the browser and in the terminal', async () => {
    await begin('google');
    const login = world.loginWithBrowser((address) => void signInAt(page, address, 'Deny'));
    await expect(login).rejects.toMatchObject({
      code: 'provider_rejected',
      message: 'google refused profile google (access_denied: The user denied access.)',
      hint: expect.stringContaining('run: oauth-profile login google'),
    });
    await page.getByText('Nobody was signed in').waitFor();
    await nothingKept();
  });

  it('is told to the person who declines a device code', async () => {
    await begin('microsoft');
    let person: Promise<unknown> | undefined;
    const login = world.loginWithDevice(
      {
        showCode: ({ verificationUri, userCode }) => {
          person = enterCode(page, verificationUri, userCode, 'Deny');
        },
        showWaiting: () => {},
      },
      { ports: clockAfter(() => person) },
    );
    await expect(login).rejects.toMatchObject({
      code: 'provider_rejected',
      hint: 'the person said no; to try again, run: oauth-profile login microsoft',
    });
    await nothingKept();
  });

  it('ends with the time of a device code that nobody enters', async () => {
    await begin('gitlab');
    let polls = 0;
    const login = world.loginWithDevice(
      { showCode: () => {}, showWaiting: () => void polls++ },
      { ports: clockAfter(() => undefined) },
    );
    await expect(login).rejects.toMatchObject({ code: 'timeout' });
    // 300 seconds, every five.
    expect(polls).toBeGreaterThan(50);
    await nothingKept();
  });

  it('goes on while the window is closed, and ends with Ctrl-C', async () => {
    await begin('google');
    const controller = new AbortController();
    let redirect = '';
    const login = world.loginWithBrowser(
      async (address) => {
        redirect = new URL(address).searchParams.get('redirect_uri') ?? '';
        await page.goto(address);
        await page.close();
        controller.abort();
      },
      { signal: controller.signal },
    );
    await expect(login).rejects.toMatchObject({ code: 'aborted' });
    page = await browser.newPage();
    await expect(page.goto(redirect)).rejects.toThrow('ERR_CONNECTION_REFUSED');
    await nothingKept();
  });

  it('is not one that somebody else began: a wrong state changes nothing, and the right one still counts', async () => {
    await begin('google');
    let other: Promise<string | null> | undefined;
    const kept = await world.loginWithBrowser(async (address) => {
      const redirect = new URL(address).searchParams.get('redirect_uri');
      await page.goto(`${redirect}?code=stolen&state=wrong`);
      other = page.locator('h1').textContent();
      await other;
      await signInAt(page, address);
    });
    expect(await other).toBe('This is not the sign-in that was begun');
    expect(kept.account).toBe('ada@example.com');
    await page.getByText('You are signed in').waitFor();
  });

  it('happens once: the redirect cannot be loaded again', async () => {
    await begin('microsoft');
    await world.loginWithBrowser((address) => void signInAt(page, address));
    await page.getByText('You are signed in').waitFor();
    expect(page.url()).toMatch(/^http:\/\/localhost:\d+\/\?code=/);
    await expect(page.reload()).rejects.toThrow('ERR_CONNECTION_REFUSED');
  });

  it('needs a port that is free', async () => {
    await begin('google');
    const port = world.emulator?.port;
    await expect(world.loginWithBrowser(() => {}, { wish: { port } })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--port'),
    });
  });
});
