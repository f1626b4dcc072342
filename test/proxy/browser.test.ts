import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProxy } from '../../src/proxy.ts';
import { Authority } from '../support/certificates.ts';
import { chromiumPath, launchBrowser } from '../support/chromium.ts';
import { startProvider, startProxied, TOKEN } from '../support/proxy.ts';
import { startServer } from '../support/server.ts';

/** JavaScript for a page that tries to read `secret` from a server in every way that a page has. */
const attackOn = (base: string): string => `(async () => {
  const outcome = (promise) => promise.then(() => 'done', () => 'failed');
  const loaded = (element, src) => new Promise((resolve, reject) => {
    Object.assign(element, { onload: resolve, onerror: reject, src });
    document.body.append(element);
  });
  const read = async (response) => {
    if (!(await response.text()).includes('secret')) throw new Error('no secret');
  };
  const opened = (socket) => new Promise((resolve, reject) => {
    Object.assign(socket, { onopen: resolve, onerror: reject });
  });
  return {
    cors: await outcome(fetch('${base}/cors').then(read)),
    noCors: await outcome(fetch('${base}/no-cors', { mode: 'no-cors' }).then(read)),
    post: await outcome(fetch('${base}/post', { method: 'POST', mode: 'no-cors', body: 'x' }).then(read)),
    image: await outcome(loaded(new Image(), '${base}/image')),
    script: await outcome(loaded(document.createElement('script'), '${base}/script')),
    socket: await outcome(opened(new WebSocket('${base.replace('http', 'ws')}/socket'))),
  };
})()`;

describe.runIf(chromiumPath !== undefined)('a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    // The resolver of Chromium plays the DNS server of an attacker.
    browser = await launchBrowser('--host-resolver-rules=MAP rebound.example 127.0.0.1');
  });
  afterAll(() => browser?.close());

  test('a web page cannot send a request through the proxy', async () => {
    const seen: string[] = [];
    const { port, logged } = await startProxied((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end('secret');
    });
    const evil = await startServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>evil</title>');
    });
    const page = await browser.newPage();
    await page.goto(`http://localhost:${evil.port}/`);
    const results = await page.evaluate(attackOn(`http://127.0.0.1:${port}`));
    expect(results).toEqual({
      cors: 'failed',
      noCors: 'failed',
      post: 'failed',
      image: 'failed',
      script: 'failed',
      socket: 'failed',
    });
    const response = await page.goto(`http://rebound.example:${port}/rebound`);
    expect(response?.status()).toBe(403);
    expect(seen).toEqual([]);
    expect([...new Set(logged.map(({ status }) => status))]).toEqual([403]);
  });

  test('a page whose origin is allowed can use the proxy', async () => {
    const { port } = await startProxied((_, response) => {
      response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end('data');
    });
    const page = await browser.newPage();
    const app = await startServer((_, response) => response.end('app'));
    const allowed = `http://localhost:${app.port}`;
    const second = await startProxied(
      (_, response) => {
        response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end('data');
      },
      { allowedOrigins: [allowed] },
    );
    await page.goto(allowed);
    const get = (url: string) => page.evaluate(`fetch('${url}').then((r) => r.text(), () => 'failed')`);
    expect(await get(`http://127.0.0.1:${second.port}/`)).toBe('data');
    expect(await get(`http://127.0.0.1:${port}/`)).toBe('failed');
  });

  test('a browser that uses the forward proxy gets pages with the token', async () => {
    const authority = new Authority();
    const seen: (string | undefined)[] = [];
    const api = await startServer(
      (request, response) => {
        seen.push(request.headers.authorization);
        response.end('page');
      },
      authority.issue({ name: 'api', hosts: 'DNS:localhost' }),
    );
    const { data } = await startProvider([`https://localhost:${api.port}`], { ca_file: authority.caFile });
    const proxy = await createProxy('api', { data, store: 'memory', mode: 'forward' });
    const { host, username, password } = new URL(proxy.url);
    const context = await browser.newContext({
      // By default, Chromium does not use a proxy for this machine.
      proxy: { server: `http://${host}`, username, password, bypass: '<-loopback>' },
      ignoreHTTPSErrors: true,
    });
    try {
      const page = await context.newPage();
      const response = await page.goto(`https://localhost:${api.port}/`);
      expect(await response?.text()).toBe('page');
      expect((await response?.securityDetails())?.issuer).toBe('oauth-profile proxy (temporary CA)');
      expect(seen[0]).toBe(`Bearer ${TOKEN}1`);
    } finally {
      await context.close();
      await proxy.close();
    }
  });
});
