import { existsSync } from 'node:fs';
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
