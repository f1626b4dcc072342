import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createProxy } from '../../src/proxy.ts';
import { createTestDirectory } from '../support/directory.ts';
import { read, send, startProvider, startProxied, TOKEN, waitForLog } from '../support/proxy.ts';
import { startServer } from '../support/server.ts';

/** Responds with the request as the server received it. */
const echo = (incoming: IncomingMessage, response: ServerResponse): void => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const { method, url, rawHeaders, trailers } = incoming;
    response.end(JSON.stringify({ method, url, rawHeaders, trailers, body: Buffer.concat(chunks).toString() }));
  });
};

test('a request gets the token, and keeps its path, query and body', async () => {
  const { port, target, logged } = await startProxied(echo);
  const { status, body } = await send(port, '/a/../b%2F?q=1&secret=x', {
    method: 'POST',
    body: 'hello',
    headers: { Authorization: 'Basic own', 'X-Own': '1', 'Proxy-Authorization': 'Basic eDp5', 'Content-Length': '5' },
  });
  expect(status).toBe(200);
  const seen = JSON.parse(body);
  expect(seen).toMatchObject({ method: 'POST', url: '/a/../b%2F?q=1&secret=x', body: 'hello' });
  expect(seen.rawHeaders).toEqual([
    ...['Host', `127.0.0.1:${target.port}`, 'X-Own', '1', 'Content-Length', '5'],
    ...['Authorization', `Bearer ${TOKEN}1`, 'Connection', 'keep-alive'],
  ]);
  expect(await waitForLog(logged, 1)).toEqual([
    {
      method: 'POST',
      host: `127.0.0.1:${target.port}`,
      path: '/a/../b%2F',
      status: 200,
      bytes: body.length,
      durationMs: expect.any(Number),
    },
  ]);
});

test('a redirect of the same origin leads back to the proxy, any other is returned unchanged', async () => {
  const { port, target } = await startProxied((incoming, response) => {
    const to = decodeURIComponent(incoming.url?.slice(1) ?? '');
    response.writeHead(302, { Location: to.replace('SELF', incoming.headers.host ?? '') }).end();
  });
  const follow = async (location: string) =>
    (await send(port, `/${encodeURIComponent(location)}`)).headers.location?.replaceAll(String(port), 'PORT');
  expect(await follow('http://SELF/a?b#c')).toBe('http://127.0.0.1:PORT/a?b#c');
  expect(await follow('//SELF//evil.example/')).toBe('http://127.0.0.1:PORT//evil.example/');
  expect(await follow('/relative')).toBe('/relative');
  expect(await follow('https://SELF/a')).toBe(`https://127.0.0.1:${target.port}/a`);
  expect(await follow('https://evil.example/')).toBe('https://evil.example/');
});

test('a header of another name carries the token if the profile says so', async () => {
  const { port } = await startProxied(echo, {}, { api_header: 'X-Api-Token' });
  const { body } = await send(port, '/', { headers: { 'X-Api-Token': 'own', Authorization: 'own' } });
  const { rawHeaders } = JSON.parse(body) as { rawHeaders: string[] };
  expect(rawHeaders).toContain(`${TOKEN}1`);
  expect(rawHeaders).not.toContain('own');
});

test('without a token no request is sent, and the client gets 502 with the reason', async () => {
  const target = await startServer(() => expect.unreachable());
  const { provider, data } = await startProvider([`http://127.0.0.1:${target.port}`]);
  await provider.stop();
  const proxy = await createProxy('api', { data, store: 'memory' });
  onTestFinished(() => proxy.close());
  const { status, headers, body } = await send(Number(new URL(proxy.url).port), '/', { method: 'POST', body: 'x' });
  expect(status).toBe(502);
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(body)).toEqual({
    code: 'connection_failed',
    message: expect.any(String),
    hint: expect.any(String),
  });
});

test('an API that cannot be reached is a 502 that names the reason', async () => {
  const { port, target } = await startProxied(() => {});
  target.server.close();
  await once(target.server, 'close');
  const { status, body } = await send(port, '/');
  expect(status).toBe(502);
  expect(JSON.parse(body)).toMatchObject({ code: 'connection_failed', message: expect.any(String) });
});

test('a Unix socket is only for its user, and is removed', async () => {
  const directory = createTestDirectory();
  const target = await startServer(echo);
  const { data } = await startProvider([`http://127.0.0.1:${target.port}`]);
  const socketPath = join(directory, 'proxy.sock');
  const proxy = await createProxy('api', { data, store: 'memory', socket: socketPath });
  expect(proxy.url).toBe(`unix:${socketPath}`);
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  const outgoing = request({ socketPath, path: '/x', agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(JSON.parse((await read(response)).body)).toMatchObject({ url: '/x' });
  await expect(createProxy('api', { data, store: 'memory', socket: socketPath })).rejects.toMatchObject({
    code: 'usage',
  });
  await proxy.close();
  expect(existsSync(socketPath)).toBe(false);
});

test('the proxy listens on loopback only', async () => {
  const { port } = await startProxied(echo);
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((one) => one !== undefined && !one.internal && one.family === 'IPv4');
  for (const one of others) {
    const [error] = await once(connect(port, one?.address), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  }
  await expect(startProxied(echo, { port })).rejects.toMatchObject({ code: 'usage' });
});

test('a profile without origins, or with more than one, needs a choice', async () => {
  const { data } = await startProvider([]);
  await expect(createProxy('api', { data, store: 'memory' })).rejects.toMatchObject({
    code: 'profile_invalid',
    issues: [{ variable: 'api.options.origins' }],
  });
  const { data: several } = await startProvider(['https://a.example', 'https://*.b.example']);
  const start = (target?: string) => createProxy('api', { data: several, store: 'memory', target });
  await expect(start()).rejects.toMatchObject({ code: 'usage' });
  await expect(start('https://c.example')).rejects.toMatchObject({ code: 'usage' });
  await expect(start('http://a.example')).rejects.toMatchObject({ code: 'usage' });
  const proxy = await start('https://x.b.example');
  expect(proxy.target).toBe('https://x.b.example');
  await proxy.close();
  await expect(createProxy(['api', 'other'], { data, store: 'memory' })).rejects.toThrow(TypeError);
});

test('a caller secret is required and never sent on', async () => {
  const { port, proxy } = await startProxied(echo, { callerSecret: true });
  const secret = proxy.callerSecret ?? '';
  expect(new URL(proxy.url).password).toBe(secret);
  expect(await send(port, '/')).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.any(String) } });
  expect(await send(port, '/', { headers: { Authorization: 'Bearer wrong' } })).toMatchObject({ status: 401 });
  const basic = `Basic ${Buffer.from(`any:${secret}`).toString('base64')}`;
  for (const Authorization of [basic, `Bearer ${secret}`]) {
    const { status, body } = await send(port, '/', { headers: { Authorization } });
    expect(status).toBe(200);
    expect(body).not.toContain(secret);
    expect(body).not.toContain(basic);
  }
});

test('trailers pass in both directions', async () => {
  const { port } = await startProxied((incoming, response) => {
    incoming.resume().on('end', () => {
      response.writeHead(200, { Trailer: 'X-Sum' }).write('body');
      response.addTrailers({ 'X-Sum': incoming.trailers['x-sum'] ?? '' });
      response.end();
    });
  });
  const outgoing = request({ port, method: 'POST', path: '/', headers: { Trailer: 'X-Sum', TE: 'trailers' } });
  outgoing.write('chunk');
  outgoing.addTrailers({ 'X-Sum': 'abc', Authorization: 'Bearer smuggled' });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await read(response)).toMatchObject({ status: 200, body: 'body', trailers: { 'x-sum': 'abc' } });
});

test('fetch of Node (undici) works with the proxy, for any method', async () => {
  const { proxy } = await startProxied(echo);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const response = await fetch(`${proxy.url}/x`, { method, body: method });
    expect(await response.json()).toMatchObject({ method, url: '/x', body: method });
  }
});

test.each([
  ['a control character in its reason phrase', 'HTTP/1.1 200 a\x1bb\r\nContent-Length: 2\r\n\r\nok', 'ok'],
  ['trailers announced without chunks', 'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 2\r\n\r\nok', 'ok'],
])('a response with %s is sent on', async (_, response, body) => {
  const { port, target } = await startProxied(() => {});
  target.server.removeAllListeners('request').on('request', (request) => request.socket.end(response, 'latin1'));
  for (const _round of [1, 2]) expect(await send(port, '/')).toMatchObject({ status: 200, body });
});
