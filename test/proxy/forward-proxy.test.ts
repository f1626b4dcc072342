import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createProxy, type ProxiedRequest, type ProxyOptions } from '../../src/proxy.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { read, send, sendRaw, startProvider, TOKEN, waitForLog } from '../support/proxy.ts';
import { startServer } from '../support/server.ts';

const authority = new Authority();
const tls = authority.issue({ name: 'api', hosts: SERVER_NAMES });

afterEach(() => vi.unstubAllEnvs());

/** A forward proxy for an https API and a plain one, without a caller secret by default. */
async function startForward(options: ProxyOptions = {}) {
  const seen: IncomingMessage[] = [];
  const api = await startServer((incoming, response) => {
    seen.push(incoming);
    incoming.pipe(response);
  }, tls);
  const plain = await startServer((incoming, response) => {
    seen.push(incoming);
    response.end('plain');
  });
  const origins = [`https://localhost:${api.port}`, `http://127.0.0.1:${plain.port}`];
  const { data } = await startProvider(origins, { ca_file: authority.caFile });
  const logged: ProxiedRequest[] = [];
  const settings = { store: 'memory', mode: 'forward', callerSecret: false } as const;
  const proxy = await createProxy('api', { data, ...settings, onRequest: (one) => logged.push(one), ...options });
  onTestFinished(() => proxy.close());
  return { proxy, port: Number(new URL(proxy.url).port), api, plain, seen, logged, data };
}

/** Opens a tunnel. Returns the status of the proxy. */
async function openTunnel(port: number, target: string, headers = {}): Promise<{ status: number; socket: Socket }> {
  const outgoing = request({ port, method: 'CONNECT', path: target, headers, agent: false }).end();
  const [{ statusCode: status }, socket] = (await once(outgoing, 'connect')) as [IncomingMessage, Socket];
  onTestFinished(() => {
    socket.destroy();
  });
  return { status: status ?? 0, socket };
}

/** Sends a request inside of a tunnel. */
async function sendThrough(socket: Socket, ca: string | undefined, headers: Record<string, string>, path = '/') {
  const secure = connectTls({ socket, ca, servername: 'localhost' });
  await once(secure, 'secureConnect');
  const outgoing = request({ createConnection: () => secure, path, headers, method: 'POST' });
  outgoing.end('body');
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return read(response);
}

test('a tunnel to an origin of a profile ends in the proxy, which adds the token', async () => {
  const { proxy, port, api, seen, logged } = await startForward();
  const { socket } = await openTunnel(port, `localhost:${api.port}`);
  const headers = { Host: `localhost:${api.port}`, Authorization: 'Basic own' };
  expect(await sendThrough(socket, proxy.ca, headers, '/a?b')).toMatchObject({ status: 200, body: 'body' });
  expect(seen.map((one) => [one.url, one.headers.authorization])).toEqual([['/a?b', `Bearer ${TOKEN}1`]]);
  expect(await waitForLog(logged, 1)).toMatchObject([
    { method: 'POST', host: `localhost:${api.port}`, path: '/a', status: 200, bytes: 4 },
  ]);
});

test('a tunnel to any other origin is not touched', async () => {
  const { port, seen, logged } = await startForward();
  const other = await startServer((incoming, response) => {
    seen.push(incoming);
    response.end('other');
  }, tls);
  const { socket } = await openTunnel(port, `localhost:${other.port}`);
  const headers = { Host: 'whatever', Authorization: 'Basic own' };
  expect(await sendThrough(socket, authority.ca.cert, headers)).toMatchObject({ status: 200, body: 'other' });
  expect(seen.map((one) => one.headers.authorization)).toEqual(['Basic own']);
  socket.destroy();
  expect(await waitForLog(logged, 1)).toMatchObject([
    { method: 'CONNECT', host: `localhost:${other.port}`, path: '', status: 200 },
  ]);
});

test('a request inside of a tunnel is for the host of the tunnel, and from no foreign page', async () => {
  const { proxy, port, api, seen } = await startForward({ allowedOrigins: ['https://app.example'] });
  const host = `localhost:${api.port}`;
  const statusOf = async (headers: Record<string, string>, path?: string) => {
    const { socket } = await openTunnel(port, host);
    return (await sendThrough(socket, proxy.ca, headers, path)).status;
  };
  expect(await statusOf({ Host: 'evil.example' })).toBe(403);
  expect(await statusOf({ Host: host, Origin: 'https://evil.example' })).toBe(403);
  expect(await statusOf({ Host: host, 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
  expect(await statusOf({ Host: host }, 'http://evil.example/')).toBe(400);
  expect(seen).toHaveLength(0);
  expect(await statusOf({ Host: host, Origin: 'https://app.example', 'Sec-Fetch-Site': 'cross-site' })).toBe(200);
  expect(await statusOf({ Host: host, Origin: `https://${host}`, 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
  expect(await statusOf({ Host: host, 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
});

test('a complete URL is sent on, with the token only for an origin of a profile', async () => {
  const { port, plain, seen } = await startForward();
  const other = await startServer((incoming, response) => {
    seen.push(incoming);
    response.writeHead(302, { Location: '/elsewhere' }).end();
  });
  const headers = { Authorization: 'Basic own', 'Proxy-Connection': 'keep-alive', Host: 'ignored.example' };
  expect(await send(port, `http://127.0.0.1:${plain.port}?q`, { headers })).toMatchObject({ status: 200 });
  expect(await send(port, `http://127.0.0.1:${other.port}/x`, { headers })).toMatchObject({ status: 302 });
  expect(seen.map((one) => [one.headers.host, one.url, one.headers.authorization])).toEqual([
    [`127.0.0.1:${plain.port}`, '/?q', `Bearer ${TOKEN}1`],
    [`127.0.0.1:${other.port}`, '/x', 'Basic own'],
  ]);
  expect(seen.flatMap((one) => Object.keys(one.headers)).filter((name) => name.startsWith('proxy-'))).toEqual([]);
});

test('a tunnel to a plain origin of a profile gets the token too, for example for a WebSocket', async () => {
  const { port, plain, seen } = await startForward();
  const { socket } = await openTunnel(port, `127.0.0.1:${plain.port}`);
  const outgoing = request({ createConnection: () => socket, headers: { Host: `127.0.0.1:${plain.port}` } }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await read(response)).toMatchObject({ body: 'plain' });
  expect(seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}1`);
});

test('a WebSocket inside of a tunnel is connected, and its request has the token', async () => {
  const { proxy, port, api } = await startForward();
  api.server.on('upgrade', ({ headers }, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.write(headers.authorization ?? 'no token');
    socket.pipe(socket);
  });
  const { socket } = await openTunnel(port, `localhost:${api.port}`);
  const secure = connectTls({ socket, ca: proxy.ca, servername: 'localhost' });
  const headers = { Host: `localhost:${api.port}`, Connection: 'Upgrade', Upgrade: 'websocket' };
  const outgoing = request({ createConnection: () => secure, headers }).end();
  const [, upgraded, head] = (await once(outgoing, 'upgrade')) as [IncomingMessage, Socket, Buffer];
  let received = head.toString();
  upgraded.on('data', (chunk: Buffer) => {
    received += chunk;
  });
  upgraded.write(' frame');
  while (!received.endsWith(' frame')) await once(upgraded, 'data');
  expect(received).toBe(`Bearer ${TOKEN}1 frame`);
});

test('the caller secret and --only apply to all requests', async () => {
  const { proxy, port, api, plain, seen } = await startForward({ callerSecret: true, only: true });
  const { username, password } = new URL(proxy.url);
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const withSecret = { 'Proxy-Authorization': basic };
  expect((await openTunnel(port, `localhost:${api.port}`)).status).toBe(407);
  expect((await openTunnel(port, `localhost:${api.port}`, { 'Proxy-Authorization': 'Basic eDp5' })).status).toBe(407);
  expect((await openTunnel(port, `localhost:${api.port}`, withSecret)).status).toBe(200);
  expect((await openTunnel(port, 'localhost:1', withSecret)).status).toBe(403);
  const url = `http://127.0.0.1:${plain.port}/`;
  expect(await send(port, url)).toMatchObject({ status: 407, headers: { 'proxy-authenticate': expect.any(String) } });
  expect(await send(port, url, { headers: withSecret })).toMatchObject({ status: 200 });
  expect(await send(port, 'http://127.0.0.1:1/', { headers: withSecret })).toMatchObject({ status: 403 });
  expect(seen).toHaveLength(1);
});

test('a target that is not exactly a host and port, or a URL, is rejected', async () => {
  const { port, seen } = await startForward();
  for (const target of ['evil.example', 'user@evil.example:443', 'evil.example:443/path', '[::1', ':443', '1:99999']) {
    const response = await sendRaw(port, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect([target, response.slice(9, 12)]).toEqual([target, '400']);
  }
  for (const target of ['/path', 'ftp://evil.example/', 'http://user:pass@evil.example/', 'http://%6cocalhost/']) {
    const response = await sendRaw(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([target, response.slice(9, 12)]).toEqual([target, '400']);
  }
  expect(seen).toHaveLength(0);
});

test('a host that cannot be reached is a 502 with the reason', async () => {
  const { port } = await startForward();
  const response = await sendRaw(port, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(response).toMatch(/^HTTP\/1\.1 502 /);
  expect(response).toContain('"code":"connection_failed"');
});

test('HTTPS_PROXY is used for tunnels and for requests with a token', async () => {
  const { proxy, port, api, seen, data } = await startForward();
  const company = await ConnectProxy.start(api.port);
  vi.stubEnv('HTTPS_PROXY', company.url('user:company-password@'));
  const { socket: tunnel } = await openTunnel(port, 'login.example.test:443');
  const toOther = connectTls({ socket: tunnel, ca: authority.ca.cert, servername: 'login.example.test' });
  await once(toOther, 'secureConnect');
  toOther.destroy();
  await proxy.close();
  const profile = { ...data.api, options: { ...data.api.options, origins: ['https://login.example.test'] } };
  const settings = { store: 'memory', mode: 'forward', callerSecret: false } as const;
  const second = await createProxy('api', { data: { api: profile }, ...settings });
  onTestFinished(() => second.close());
  const { socket } = await openTunnel(Number(new URL(second.url).port), 'login.example.test:443');
  const secure = connectTls({ socket, ca: second.ca, servername: 'login.example.test' });
  await once(secure, 'secureConnect');
  const outgoing = request({ createConnection: () => secure, headers: { Host: 'login.example.test' } }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  expect(seen.map((one) => one.headers.authorization?.slice(0, -1))).toEqual([`Bearer ${TOKEN}`]);
  expect(company.connects.map(({ url }) => url)).toEqual(['login.example.test:443', 'login.example.test:443']);
  expect(company.connects.every(({ headers }) => headers['proxy-authorization'])).toBe(true);
});

test('two profiles with the same origin are an error', async () => {
  const { data } = await startProvider(['https://a.example', 'https://*.b.example']);
  const both = { api: data.api, other: data.api };
  const start = (profiles: string[], variables: object) =>
    createProxy(profiles, { data: variables as typeof data, store: 'memory', mode: 'forward', callerSecret: false });
  await expect(start(['api', 'other'], both)).rejects.toMatchObject({ code: 'usage' });
  const wildcards = { ...data.api, options: { origins: ['https://*.b.example'] } };
  const proxy = await start(['api', 'other'], { api: wildcards, other: wildcards });
  onTestFinished(() => proxy.close());
  const port = Number(new URL(proxy.url).port);
  expect(await sendRaw(port, 'CONNECT x.b.example:443 HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 502 /);
});
