import { describe, expect, it } from 'vitest';
import { fetchThrough } from '../../src/http/fetch.ts';
import { callApiWith } from '../support/ports.ts';
import { ApiServer, redirect } from '../support/server.ts';

describe('a fetch through the API transport', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(201, 'Made', [
        ['X-A', '1'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ] as never);
      response.end('{"ok":true}');
    });
    const request = new Request(`${api.origin}/x?y=1`, { method: 'PUT', headers: { 'X-B': '2' }, body: 'Jürgen' });
    const response = await fetchThrough(callApiWith(), request);
    expect(api.call).toMatchObject({ method: 'PUT', path: '/x?y=1', headers: { 'x-b': '2' } });
    expect(api.call.body.toString()).toBe('Jürgen');
    expect([response.status, response.statusText, response.headers.get('x-a')]).toEqual([201, 'Made', '1']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    await expect(response.json()).resolves.toEqual({ ok: true });
  });

  it.each([204, 304])('returns no body with status %i', async (status) => {
    const api = await ApiServer.start((_call, response) => response.writeHead(status).end());
    const response = await fetchThrough(callApiWith(), new Request(api.origin));
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it('does not follow redirects', async () => {
    const api = await ApiServer.start(redirect(302, 'http://127.0.0.1:9/'));
    expect((await fetchThrough(callApiWith(), new Request(api.origin))).status).toBe(302);
  });

  it('is aborted with the signal of the request', async () => {
    const controller = new AbortController();
    const api = await ApiServer.start(() => controller.abort());
    const request = new Request(api.origin, { signal: controller.signal });
    await expect(fetchThrough(callApiWith(), request)).rejects.toMatchObject({ code: 'aborted' });
  });
});
