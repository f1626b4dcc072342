import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../support/launch-browser.ts';
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
    await request.click();
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
});
