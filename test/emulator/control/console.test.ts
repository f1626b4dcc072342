import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../support/chromium.ts';
import { profiles, tokenUrls, useEmulator } from '../fixture.ts';

describe('the console of the emulator', () => {
  const server = useEmulator({ profiles, signing: { alg: 'ES256' }, clock: Date.now });
  const form = {
    grant_type: 'password',
    client_id: 'c',
    client_secret: 'c secret',
    username: 'eve',
    password: 'pw-eve',
  };
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.goto(server.emulator.url);
    await page.getByText('live', { exact: true }).waitFor();
  });
  afterAll(() => browser.close());

  it('shows requests as they arrive, with decoded tokens and without secrets', async () => {
    await server.post(tokenUrls.custom, form);
    const request = page.locator('summary', { hasText: 'POST login.example.test/oauth/token' }).first();
    await request.press('Enter');
    await page.getByText('access_token, decoded').first().waitFor();
    expect(await page.locator('#request-list').textContent()).toContain('"sub": "eve"');
    const text = (await page.content()) + (await page.locator('body').textContent());
    for (const secret of ['c secret', 'pw-eve', 'ms~secret', 'gloas-secret', 'c-rt', 'ms-rt'])
      expect(text).not.toContain(secret);
  });

  it('sets a fault that a client sees, with the keyboard alone', async () => {
    await page.locator('#fault-kind').focus();
    await page.keyboard.type('500');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('The fault 500 is injected.').waitFor();
    expect((await server.post(tokenUrls.custom, form)).status).toBe(500);
    await page.getByRole('button', { name: 'Clear faults' }).press('Enter');
    await page.getByText('No faults are injected.').waitFor();
    expect((await server.post(tokenUrls.custom, form)).status).toBe(200);
  });

  it('decodes a token', async () => {
    const { json } = await server.post(tokenUrls.custom, form);
    await page.getByLabel('Token', { exact: true }).fill(json.access_token);
    await page.getByRole('button', { name: 'Inspect' }).press('Enter');
    await page.getByText('jwt: active').waitFor();
    expect(await page.locator('#inspected').textContent()).toContain('https://login.example.test');
  });

  it('shows what is emulated, and requests of other connections without a reload', async () => {
    const issuers = await page.locator('#issuers').textContent();
    expect(issuers).toContain(`${server.emulator.url}/acme.okta.com/oauth2/default`);
    expect(issuers).toContain('https://acme.okta.com/oauth2/default');
    await server.post(tokenUrls.gitlab, { grant_type: 'password' });
    await page.locator('summary', { hasText: 'POST gitlab.com/oauth/token' }).first().waitFor();
  });

  it('adds a user who can then sign in', async () => {
    await page.getByLabel('Login name').fill('grace');
    await page.getByLabel('Password').fill('hopper-1906');
    await page.getByLabel('Groups').fill('navy, compilers');
    await page.getByLabel('Groups').press('Enter');
    await page.getByText('The user grace is added.').waitFor();
    expect(await page.locator('#users').textContent()).toContain('navy, compilers');
    expect(await page.content()).not.toContain('hopper-1906');
    const grace = { ...form, username: 'grace', password: 'hopper-1906' };
    expect((await server.post(tokenUrls.custom, grace)).status).toBe(200);
  });

  it('lets all tokens expire', async () => {
    const { json } = await server.post(tokenUrls.custom, form);
    const userinfo = async () =>
      (await server.get('https://login.example.test/userinfo', { Authorization: `Bearer ${json.access_token}` }))
        .status;
    expect(await userinfo()).toBe(200);
    await page.getByRole('button', { name: 'Expire all tokens' }).press('Enter');
    await page.getByText('All access tokens are expired').waitFor();
    expect(await userinfo()).toBe(401);
  });

  it('fits a phone, and shows messages next to what the user does', async () => {
    const phone = await browser.newPage({ viewport: { width: 360, height: 640 } });
    await phone.goto(server.emulator.url);
    await phone.getByText('live', { exact: true }).waitFor();
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await phone.getByRole('button', { name: 'Rotate the signing key' }).press('Enter');
    const message = phone.getByText('New tokens are signed with the key');
    await message.waitFor();
    const { y } = (await message.boundingBox()) ?? { y: -1 };
    expect(y).toBe(0);
    await phone.close();
  });

  it('begins with a link to the requests for keyboard users', async () => {
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to requests');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#requests$/);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('clear-requests');
  });
});
