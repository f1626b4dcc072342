import type { BrowserContextOptions, Page } from 'playwright-core';

/** A phone, as far as a page can tell. */
export const phone: BrowserContextOptions = {
  viewport: { width: 360, height: 640 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

/** The person signs in at a page of the emulator, and agrees or not. */
export async function signInAt(page: Page, address: string, decision: 'Allow' | 'Deny' = 'Allow'): Promise<void> {
  await page.goto(address);
  await enterPassword(page);
  await page.getByRole('button', { name: decision }).click();
}

/** The person enters a device code at a page of the emulator, signs in, and agrees or not. */
export async function enterCode(
  page: Page,
  address: string,
  code: string,
  decision: 'Allow' | 'Deny' = 'Allow',
): Promise<void> {
  await page.goto(address);
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
