import { existsSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type Browser, chromium } from 'playwright-core';

/** Path of Chromium; `undefined` if it is not installed. */
export const chromiumPath = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => path !== '' && existsSync(path));

/** Starts Chromium without its sandbox, which does not work as root, and without background requests. */
export function launchBrowser(...flags: readonly string[]): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('Chromium is not installed: install it, or set CHROMIUM to its path');
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });
}

/** Screen of a phone. */
export const phone: BrowserContextOptions = {
  viewport: { width: 360, height: 640 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

/** Signs in at a page of the emulator, and allows or denies access. */
export async function signInAt(page: Page, url: string, decision: 'Allow' | 'Deny' = 'Allow'): Promise<void> {
  await page.goto(url);
  await enterPassword(page);
  await page.getByRole('button', { name: decision }).click();
}

/** Enters a device code at a page of the emulator, signs in, and allows or denies access. */
export async function enterCode(
  page: Page,
  url: string,
  code: string,
  decision: 'Allow' | 'Deny' = 'Allow',
): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Next' }).click();
  await enterPassword(page);
  await page.getByRole('button', { name: decision }).click();
}

async function enterPassword(page: Page): Promise<void> {
  await page.getByLabel('User name').fill('ada@example.com');
  await page.getByLabel('Password').fill('lovelace');
  await page.getByRole('button', { name: 'Sign in' }).click();
}
