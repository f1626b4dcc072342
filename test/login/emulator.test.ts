import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { deleteLogin, findLogins, revokeToken } from '../../src/flows/login/logout.ts';
import { enterCodeByHand, signInByHand, Browser as Visitor } from '../support/browser.ts';
import { chromiumPath, enterCode, launchBrowser, signInAt } from '../support/chromium.ts';
import { LoginFixture } from '../support/client.ts';

/** Profiles with the real URLs of their providers, without a password or a refresh token. */
const profiles = {
  microsoft: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    client_id: '11111111-2222-4333-8444-555555555555',
    scope: 'openid profile user.read',
  },
  google: {
    type: 'google',
    client_id: 'desktop.apps.googleusercontent.com',
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
let fixture: LoginFixture;
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
  await fixture.close();
});

const start = async (name: Name, fields: object = profiles[name]): Promise<void> => {
  fixture = await LoginFixture.emulated(name, fields as Record<string, unknown>, () => time);
};

/** A clock whose time passes while the command sleeps, after the user has finished in the browser. */
const clockAfter = (user: () => Promise<unknown> | undefined) => ({
  clock: {
    now: () => time,
    sleep: async (ms: number) => {
      await user();
      time += ms;
    },
  },
});

/** Refreshes twice, logs out with revocation where the provider has it, and expects that the refresh token is rejected. */
async function useAndRevoke(name: Name): Promise<void> {
  const first = await fixture.token();
  expect(first.fromCache).toBe(true);
  const second = await fixture.token(true);
  expect(second).toMatchObject({ fromCache: false });
  expect(second.token).not.toBe(first.token);
  time += 60_000;
  const third = await fixture.token(true);
  expect(third.token).not.toBe(second.token);

  const store = await fixture.client.openStore();
  const [found, ...others] = await findLogins(store, name);
  if (found === undefined) expect.fail('no login is stored');
  expect(others).toEqual([]);
  const { profile: login } = fixture;
  let revoked: string | undefined;
  const revoking = deleteLogin(found, store, async (family) => {
    await revokeToken(login, family, fixture.client, store, undefined);
    revoked = family.refreshToken?.reveal();
  });
  if (name === 'microsoft') {
    await expect(revoking).rejects.toMatchObject({ code: 'usage' });
    await deleteLogin(found, store);
  } else {
    await revoking;
    const copied = { ...profiles[name], grant_type: 'refresh_token', refresh_token: String(revoked) };
    await expect(fixture.withFields(copied).token()).rejects.toMatchObject({
      code: 'login_required',
      hint: expect.stringContaining(`run: oauth-profile login ${name}`),
    });
  }
  expect(await store.list()).toEqual([]);
}

describe.skipIf(chromiumPath === undefined)('a login with a browser', () => {
  it.each(all)('to %s returns a token, refreshes it and can be revoked', async (name) => {
    await start(name);
    // The pages of all emulated providers are alike; two of them are tested in a real browser.
    const real = name === 'google' || name === 'microsoft';
    let shown = '';
    const saved = await fixture.loginWithBrowser(async (url) => {
      if (real) await signInAt(page, url);
      else shown = (await new Visitor().visit(await signInByHand(url))).text;
    });
    expect(saved).toMatchObject({ account: name === 'gitlab' ? 'ada' : 'ada@example.com', replaced: false });
    if (real) await page.getByText('You are logged in').waitFor();
    else await vi.waitFor(() => expect(shown).toContain('You are logged in'));
    await useAndRevoke(name);
  });
});

describe.skipIf(chromiumPath === undefined)('a login with a device code', () => {
  it.each(all.filter((name) => name !== 'google'))(
    'to %s returns a token, refreshes it and can be revoked',
    async (name) => {
      await start(name);
      let user: Promise<unknown> | undefined;
      const saved = await fixture.loginWithDevice(
        {
          showCode: ({ verificationUri, userCode }) => {
            const real = name === 'microsoft';
            user = real ? enterCode(page, verificationUri, userCode) : enterCodeByHand(verificationUri, userCode);
          },
          showWaiting: () => {},
        },
        { ports: clockAfter(() => user) },
      );
      expect(saved).toMatchObject({ account: name === 'gitlab' ? 'ada' : 'ada@example.com', replaced: false });
      if (name === 'microsoft') await page.getByText('The device is signed in').waitFor();
      await useAndRevoke(name);
    },
  );

  it('to okta needs no typing with the URL that contains the code', async () => {
    await start('okta');
    let user: Promise<unknown> | undefined;
    await fixture.loginWithDevice(
      {
        showCode: ({ verificationUriComplete = '', userCode }) => {
          expect(verificationUriComplete).toContain(userCode);
          user = enterCode(page, verificationUriComplete, userCode);
        },
        showWaiting: () => {},
      },
      { ports: clockAfter(() => user) },
    );
    await page.getByText('The device is signed in').waitFor();
  });
});

describe.skipIf(chromiumPath === undefined)('a login', () => {
  const expectEmptyStore = async () => expect(await (await fixture.client.openStore()).list()).toEqual([]);

  it('that the user denies is reported in the browser and in the terminal, and nothing is stored', async () => {
    await start('google');
    const login = fixture.loginWithBrowser((url) => void signInAt(page, url, 'Deny'));
    await expect(login).rejects.toMatchObject({
      code: 'provider_rejected',
      provider: { error: 'access_denied' },
      hint: expect.stringContaining('run: oauth-profile login google'),
    });
    await page.getByText('Login denied').waitFor();
    await expectEmptyStore();
  });

  it('whose device code the user denies is reported, and nothing is stored', async () => {
    await start('microsoft');
    let user: Promise<unknown> | undefined;
    const login = fixture.loginWithDevice(
      {
        showCode: ({ verificationUri, userCode }) => {
          user = enterCode(page, verificationUri, userCode, 'Deny');
        },
        showWaiting: () => {},
      },
      { ports: clockAfter(() => user) },
    );
    await expect(login).rejects.toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('run: oauth-profile login microsoft'),
    });
    await expectEmptyStore();
  });

  it('ends when the device code expires before the user enters it', async () => {
    await start('gitlab');
    let polls = 0;
    const login = fixture.loginWithDevice(
      { showCode: () => {}, showWaiting: () => void polls++ },
      { ports: clockAfter(() => undefined) },
    );
    await expect(login).rejects.toMatchObject({ code: 'timeout' });
    // A poll every 5 s for 300 s.
    expect(polls).toBeGreaterThan(50);
    await expectEmptyStore();
  });

  it('continues after the browser window is closed, and ends with Ctrl-C', async () => {
    await start('google');
    const controller = new AbortController();
    let redirect = '';
    const login = fixture.loginWithBrowser(
      async (url) => {
        redirect = new URL(url).searchParams.get('redirect_uri') ?? '';
        await page.goto(url);
        await page.close();
        controller.abort();
      },
      { signal: controller.signal },
    );
    await expect(login).rejects.toMatchObject({ code: 'aborted' });
    page = await browser.newPage();
    await expect(page.goto(redirect)).rejects.toThrow('ERR_CONNECTION_REFUSED');
    await expectEmptyStore();
  });

  it('ignores a redirect with a wrong state and continues to wait for the right one', async () => {
    await start('google');
    let heading: Promise<string | null> | undefined;
    const saved = await fixture.loginWithBrowser(async (url) => {
      const redirect = new URL(url).searchParams.get('redirect_uri');
      await page.goto(`${redirect}?code=stolen&state=wrong`);
      heading = page.locator('h1').textContent();
      await heading;
      await signInAt(page, url);
    });
    expect(await heading).toBe('Unexpected login response');
    expect(saved.account).toBe('ada@example.com');
    await page.getByText('You are logged in').waitFor();
  });

  it('accepts one redirect, which cannot be loaded again', async () => {
    await start('microsoft');
    await fixture.loginWithBrowser((url) => void signInAt(page, url));
    await page.getByText('You are logged in').waitFor();
    expect(page.url()).toMatch(/^http:\/\/localhost:\d+\/$/);
    await expect(page.reload()).rejects.toThrow('ERR_CONNECTION_REFUSED');
  });

  it('reports that the given port is in use', async () => {
    await start('google');
    const port = fixture.emulator?.port;
    await expect(fixture.loginWithBrowser(() => {}, { options: { port } })).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--port'),
    });
  });
});
