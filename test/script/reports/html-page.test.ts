import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { htmlReport } from '../../../src/script/reports/html.ts';
import type { Report } from '../../../src/script/reports/report.ts';
import { chromiumPath, launchBrowser } from '../../support/chromium.ts';
import { exchange, failure, reportOf, runOf, sampleReport } from './sample-report.ts';

const phone = { viewport: { width: 360, height: 740 } };

describe.skipIf(chromiumPath === undefined)(
  'The HTML report in Chromium (skipped without Chromium: install it, or set CHROMIUM)',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-report-'));
    let browser: Browser;
    const problems: string[] = [];

    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(directory, { recursive: true });
    });

    async function open(report: Report, options: BrowserContextOptions = {}, hash = ''): Promise<Page> {
      const file = join(directory, 'report.html');
      writeFileSync(file, htmlReport(report));
      const page = await (await browser.newContext(options)).newPage();
      problems.length = 0;
      page.on('console', (message) => problems.push(message.text()));
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('dialog', (dialog) => {
        problems.push(`dialog: ${dialog.message()}`);
        return dialog.dismiss();
      });
      page.on('request', (request) => {
        if (!/^(file|data):/.test(request.url())) problems.push(`request: ${request.url()}`);
      });
      await page.goto(pathToFileURL(file).href + hash);
      return page;
    }

    const count = (page: Page, selector: string): Promise<number> =>
      page.evaluate(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((e) => e.checkVisibility()).length`,
      );

    it('filters by state with keyboard-accessible buttons and stores the filter in the URL', async () => {
      const page = await open(sampleReport());
      expect(await page.locator('button[data-show]').allTextContents()).toEqual([
        'All 20',
        'Failed 2',
        'Passed 14',
        'Skipped 4',
      ]);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(page.url()).toMatch(/#failed$/);
      expect(await count(page, '.step')).toBe(2);
      expect(await count(page, '.script')).toBe(2);
      expect(await page.getAttribute('button[data-show=failed]', 'aria-pressed')).toBe('true');
      expect(await page.getAttribute('button[data-show=all]', 'aria-pressed')).toBe('false');
      expect(await page.textContent('#status')).toBe('2 steps');
      await page.click('button[data-show=skipped]');
      expect(await count(page, '.step')).toBe(4);
      await page.goBack();
      expect(await count(page, '.step')).toBe(2);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    it('opens with the filter or at the step in the fragment of the URL', async () => {
      const filtered = await open(sampleReport(), {}, '#passed');
      expect(await count(filtered, '.step')).toBe(14);
      await filtered.context().close();
      const page = await open(sampleReport(), {}, '#s1-3');
      expect(await page.evaluate('document.activeElement.parentElement.id')).toBe('s1-3');
      expect(await page.locator('#s1-3 pre').first().textContent()).toContain('Authorization: Bearer ••••');
      await page.context().close();
    });

    it('searches the text of the steps', async () => {
      const page = await open(sampleReport());
      await page.fill('#search', 'lovelace');
      expect(await count(page, '.step')).toBe(1);
      await page.fill('#search', 'nightly EXPORT');
      expect(await count(page, '.step')).toBe(2);
      await page.fill('#search', 'no such thing');
      expect(await count(page, '.step')).toBe(0);
      expect(await count(page, '.none')).toBe(1);
      await page.press('#search', 'Escape');
      expect(await page.textContent('#status')).toBe('20 steps');
      await page.context().close();
    });

    it('unfolds failed steps, folds all others, and unfolds everything on request', async () => {
      const page = await open(sampleReport());
      expect(await count(page, '.step[open]')).toBe(2);
      await page.click('#fold');
      expect(await count(page, '.step[open]')).toBe(20);
      await page.click('#fold');
      expect(await count(page, '.step[open]')).toBe(0);
      await page.click('.failures a >> nth=1');
      expect(await page.getAttribute('#s3-1', 'open')).toBe('');
      expect(problems).toEqual([]);
      await page.context().close();
    });

    it('copies a request as a curl command, also with the keyboard', async () => {
      const page = await open(sampleReport(), { permissions: ['clipboard-read', 'clipboard-write'] }, '#s1-3-1');
      expect(await page.evaluate('document.activeElement.id')).toBe('s1-3-1');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        `curl --globoff https://graph.microsoft.com/v1.0/me \\\n  -H 'Authorization: Bearer '"$TOKEN" \\\n  -H 'Accept: */*'`,
      );
      expect(problems).toEqual([]);
      await page.context().close();
    });

    it('selects the curl command where there is no clipboard', async () => {
      const page = await open(sampleReport(), {}, '#s1-3-1');
      await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
      await page.click('#s1-3-1 .copy');
      await page.getByRole('button', { name: 'Copy the selected text' }).waitFor();
      expect(await page.evaluate('String(getSelection())')).toContain("-H 'Accept: */*'");
      await page.context().close();
    });

    it.each([true, false])('opens the exchange that an assertion used (JavaScript: %s)', async (javaScriptEnabled) => {
      const page = await open(sampleReport(), { javaScriptEnabled });
      expect(await page.locator('#s2-4-1').isVisible()).toBe(false);
      await page.click('#s2-5 .inside a');
      await page.locator('#s2-4-1').waitFor({ state: 'visible' });
      expect(await page.locator('#s2-4-1:focus').count()).toBe(1);
      await page.context().close();
    });

    it('hides groups without a step that is shown', async () => {
      const page = await open(sampleReport());
      await page.click('#fold');
      expect(await count(page, '.group')).toBe(3);
      await page.click('button[data-show=skipped]');
      expect(await count(page, '.group')).toBe(0);
      await page.fill('#search', 'create an order');
      await page.click('button[data-show=all]');
      expect(await count(page, '.group')).toBe(1);
      await page.context().close();
    });

    it('prints every failure unfolded and without controls, regardless of folding and filters', async () => {
      const page = await open(sampleReport());
      await page.click('#fold');
      await page.click('#fold');
      await page.click('button[data-show=skipped]');
      await page.emulateMedia({ media: 'print' });
      await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
      expect(await count(page, '.failure')).toBe(2);
      expect(await count(page, '#controls')).toBe(0);
      expect(await count(page, '.step.passed')).toBe(0);
      await page.context().close();
    });

    it('is readable without JavaScript', async () => {
      const page = await open(sampleReport(), { javaScriptEnabled: false });
      expect(await page.locator('.failure').count()).toBe(2);
      expect(await page.locator('#controls').isVisible()).toBe(false);
      expect(await page.locator('.none').isVisible()).toBe(false);
      await page.context().close();
    });

    it.each([
      ['light', phone],
      ['light', {}],
      ['dark', {}],
    ] as const)('has enough contrast in %s, on a screen of %j', async (colorScheme, options) => {
      const page = await open(sampleReport(), { ...options, colorScheme });
      await page.click('#fold');
      expect(await page.evaluate(poorContrast)).toEqual([]);
      await page.context().close();
    });

    it('names its landmarks, controls and headings', async () => {
      const page = await open(sampleReport());
      expect(await page.getByRole('main').count()).toBe(1);
      expect(await page.getByRole('banner').count()).toBe(1);
      expect(await page.getByRole('contentinfo').count()).toBe(1);
      expect(await page.getByRole('navigation', { name: 'Failed steps' }).count()).toBe(1);
      expect(await page.getByRole('group', { name: 'Show steps' }).count()).toBe(1);
      expect(await page.getByRole('searchbox', { name: 'Search steps' }).count()).toBe(1);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('✗ 2 steps failed');
      expect(await page.getByRole('heading', { level: 2, name: 'failed: Nightly export' }).count()).toBe(1);
      await page.context().close();
    });

    it('runs no injected script and loads nothing', async () => {
      const hostile = [
        `<script>document.title = 'run'; alert(1)</script>`,
        `<img src="https://evil.example/x.png" onerror="alert(2)">`,
        `"><svg onload="alert(3)">`,
        `' onmouseover='alert(4)`,
        '</details></main></body></html>',
        '</style></pre></title></textarea><!--',
        '\u202egnp.exe\u2066',
        `<a href="javascript:alert(5)">x</a>`,
        '&lt;b&gt; &#60;',
        'w'.repeat(10_000),
      ];
      const runs = hostile.map((text) => {
        const evil = exchange(text, 200, text);
        const header: [string, string] = [text, text];
        const step = {
          title: text,
          command: text,
          failure: failure(text, { code: text, hint: text, expected: `${text}\n1\n`, actual: `${text}\n2\n` }),
          output: [text],
          exchanges: [{ ...evil, request: { ...evil.request, method: text, headers: [header] } }],
        };
        return runOf(text, text, [step, { title: 'x', reason: text }]);
      });
      const page = await open({ ...reportOf(...runs), version: hostile.join('') }, phone);
      await page.click('#fold');
      expect(problems).toEqual([]);
      expect(await page.title()).toBe('✗ 10 scripts, 10 failed · oauth-profile');
      expect(await count(page, 'main > .script > .step[open]')).toBe(20);
      expect(await page.evaluate(`document.querySelectorAll('script, img, iframe, object').length`)).toBe(1);
      expect(await page.evaluate(`document.querySelectorAll('body > footer').length`)).toBe(1);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      const shown = await page.evaluate(
        `[...document.querySelectorAll('.message')].map((message) => message.firstChild.data.trim())`,
      );
      const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16)}`;
      expect(shown).toEqual(hostile.map((text) => text.replace(/[\u202e\u2066]/g, escaped)));
      await page.context().close();
    });

    it('stays usable with 10,000 steps', { timeout: 120_000 }, async () => {
      const steps = Array.from({ length: 1000 }, (_, i) => ({
        title: `ws.get(https://api.example.com/items/${i})`,
        elapsedMs: i,
        ...(i % 100 === 99 ? { failure: failure('no', { expected: '1', actual: '2' }) } : {}),
      }));
      const runs = Array.from({ length: 10 }, (_, i) => runOf(`script ${i}`, `${i}.yaml`, steps));
      const page = await open(reportOf(...runs));
      const shown = async (action: string): Promise<string | null> => {
        await page.evaluate(action);
        return page.textContent('#status');
      };
      const search = (words: string): string =>
        `search.value = ${JSON.stringify(words)}; search.dispatchEvent(new Event('input'))`;
      expect(await shown('')).toBe('10,000 steps');
      expect(await shown(`document.querySelector('[data-show=failed]').click()`)).toBe('100 steps');
      expect(await shown(search('items/299'))).toBe('10 steps');
      expect(await shown(search(''))).toBe('100 steps');
      expect(await shown(`document.querySelector('[data-show=all]').click()`)).toBe('10,000 steps');
      await page.evaluate('fold.click()');
      expect(await page.evaluate(`document.querySelectorAll('.step[open]').length`)).toBe(10_000);
      expect(problems).toEqual([]);
      await page.context().close();
    });
  },
);

/** Runs in the page: finds text whose contrast with its background is below the 4.5 of WCAG AA. */
const poorContrast = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const onto = (below, colour) => {
    canvas.fillStyle = 'rgb(' + below.join(' ') + ')';
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = new Set();
  for (const element of document.querySelectorAll('body *')) {
    if (!element.checkVisibility() || element.closest('.sr, svg, script, :disabled')) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')) continue;
    const ancestors = [];
    for (let at = element; at !== null; at = at.parentElement) ancestors.unshift(getComputedStyle(at).backgroundColor);
    const ground = ancestors.reduce(onto, [255, 255, 255]);
    const ink = onto(ground, getComputedStyle(element).color);
    const [low, high] = [light(ground), light(ink)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) poor.add(element.tagName + '.' + element.className + ' ' + ratio.toFixed(2));
  }
  return [...poor];
})()`;
