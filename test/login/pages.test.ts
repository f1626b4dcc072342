import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenForRedirect } from '../../src/interactive/loopback-server.ts';
import { chromiumPath, launchBrowser, phone } from '../support/chromium.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const titles = {
  'signed-in': 'You are logged in',
  denied: 'Login denied',
  failed: 'Login failed',
  unexpected: 'Unexpected login response',
} as const;
const views = [
  ['signed-in', 'light', 'a phone', phone],
  ['denied', 'dark', 'a phone', phone],
  ['failed', 'light', 'a desktop', {}],
  ['unexpected', 'light', 'a phone', phone],
] as const;

/** Layout of the page, measured in the browser. */
const measure = `({
  sideways: document.documentElement.scrollWidth > innerWidth,
  fits: document.querySelector('main').getBoundingClientRect().bottom <= innerHeight,
  size: getComputedStyle(document.body).fontSize,
  corner: getComputedStyle(document.querySelector('main')).borderRadius,
  html: document.documentElement.outerHTML,
})`;

describe.skipIf(chromiumPath === undefined)('the result page of a login', () => {
  it.each(views)(
    '%s is readable with colors %s on %s, and the location bar shows no code and no state',
    async (kind, colorScheme, place, device) => {
      const context = await browser.newContext({ ...device, colorScheme });
      const listener = await listenForRedirect({ host: '127.0.0.1', port: 0, path: '/callback' }, (query) =>
        query.includes('state=expected'),
      );
      void listener.redirect.then((redirect) => redirect.show(kind === 'unexpected' ? 'failed' : kind));
      try {
        const page = await context.newPage();
        const messages: string[] = [];
        page.on('console', (message) => messages.push(message.text()));
        const state = kind === 'unexpected' ? 'other' : 'expected';
        await page.goto(`http://127.0.0.1:${listener.port}/callback?code=my-own-code&state=${state}`);
        await page.getByRole('heading', { name: titles[kind] }).waitFor();
        const { html, ...seen } = await page.evaluate<{ html: string }>(measure);
        expect(seen).toEqual({ sideways: false, fits: true, size: '16px', corner: '12px' });
        expect(html).not.toMatch(/my-own-code|state=/);
        expect(page.url()).toBe(`http://127.0.0.1:${listener.port}/callback`);
        expect(messages.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
        const directory = process.env['SCREENSHOTS'];
        if (directory)
          await page.screenshot({ path: `${directory}/${kind}-${colorScheme}-${place.replace('a ', '')}.png` });
      } finally {
        await listener.close();
        await context.close();
      }
    },
  );
});
