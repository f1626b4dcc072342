import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../../support/chromium.ts';
import { profiles, useEmulator } from '../fixture.ts';

const script = readFileSync(join(import.meta.dirname, 'page', 'attack.js'), 'utf8');

/** Returns what a page learns from its attempts to read and to use the control API at a URL. */
async function attack(page: Page, url: string): Promise<unknown> {
  await page.evaluate(script);
  return page.evaluate(`attack('${url}/_emulator')`);
}

describe('a page of another origin', () => {
  const server = useEmulator({ profiles, signing: { alg: 'ES256' }, clock: Date.now });
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser('--host-resolver-rules=MAP *.example 127.0.0.1');
  });
  afterAll(() => browser.close());

  const call = (method: string, path: string, body: unknown) =>
    fetch(`${server.emulator.url}/_emulator${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  /** Everything that the page could change. */
  const state = async () => {
    const paths = ['users', 'clients', 'faults', 'requests?host=x.test'];
    return Promise.all(
      paths.map(async (path) => (await fetch(`${server.emulator.url}/_emulator/${path}`)).json() as Promise<object>),
    );
  };

  /** A site on another port of this machine. */
  async function startSite(): Promise<number> {
    const site = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>site</title><body></body>');
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    onTestFinished(() => void site.close());
    return (site.address() as AddressInfo).port;
  }

  it.each(['127.0.0.1', 'localhost', 'evil.example'])(
    'on %s can neither read nor use the control API',
    async (name) => {
      await call('PUT', '/users/mallory', { password: 'pw-mallory' });
      await fetch(`${server.emulator.url}/x.test/`);
      const before = await state();
      const page = await browser.newPage();
      onTestFinished(() => page.close());
      await page.goto(`http://${name}:${await startSite()}/`);
      expect(await attack(page, server.emulator.url)).toEqual({
        get: 'failed',
        put: 'failed',
        post: 'opaque',
        reset: 'opaque',
        remove: 'failed',
        events: 'failed',
        script: 'failed',
        form: 'sent',
      });
      expect(await state()).toEqual(before);
    },
  );

  it('that is bound to this machine by DNS (rebinding) can neither read nor use the control API', async () => {
    await call('PUT', '/users/mallory', { password: 'pw-mallory' });
    const before = await state();
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    const url = `http://rebound.example:${server.emulator.port}`;
    const response = await page.goto(`${url}/`);
    expect(response?.status()).toBe(421);
    const results = await attack(page, url);
    const rejected = `421 ${JSON.stringify({ error: 'not_emulated', error_description: `rebound.example:${server.emulator.port} is not emulated` })}`;
    expect(results).toEqual({
      get: rejected,
      put: rejected,
      post: rejected,
      reset: rejected,
      remove: rejected,
      events: 'failed',
      script: 'failed',
      form: 'sent',
    });
    expect(await state()).toEqual(before);
  });

  it('cannot show the console in a frame', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(`http://127.0.0.1:${await startSite()}/`);
    const url = `${server.emulator.url}/`;
    const framed = page.waitForResponse(url);
    await page.setContent(`<iframe src="${url}"></iframe>`);
    expect((await framed).status()).toBe(403);
    const { headers } = await server.get(url);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });
});
