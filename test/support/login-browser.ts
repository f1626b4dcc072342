import type { BrowserContextOptions, Page } from 'playwright-core';

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
