import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createProxy, type ProxiedRequest, type ProxyOptions, type RunningProxy } from '../../src/proxy.ts';
import { giveJson, type LocalServer, serve, startServer, type TokenServer } from './server.ts';

/** Start of every token of the fixture; its number follows. */
export const TOKEN = 'proxied-access-token-';

/** A provider that issues a new token for each request, and the variables of the profile `api` that uses it. */
export async function startProvider(origins: readonly string[], options: Record<string, unknown> = {}) {
  const provider = await serve((response, { number }) =>
    giveJson(response, 200, { access_token: `${TOKEN}${number}`, token_type: 'Bearer', expires_in: 3600 }),
  );
  const api = {
    type: 'custom',
    url: provider.url,
    grant_type: 'client_credentials',
    client_id: 'proxy-test',
    options: { origins: [...origins], ...options },
  };
  return { provider, data: { api } };
}

/** A reverse proxy in front of a server, with the requests that it logged. */
export interface Proxied {
  readonly proxy: RunningProxy;
  readonly port: number;
  readonly target: LocalServer;
  readonly logged: ProxiedRequest[];
  readonly provider: TokenServer;
}

/** Starts a server and a proxy in front of it. */
export async function startProxied(
  handle: RequestListener,
  options: ProxyOptions = {},
  profileOptions: Record<string, unknown> = {},
): Promise<Proxied> {
  const target = await startServer(handle);
  const { provider, data } = await startProvider([target.origin], profileOptions);
  const logged: ProxiedRequest[] = [];
  const proxy = await createProxy('api', { data, store: 'memory', onRequest: (one) => logged.push(one), ...options });
  onTestFinished(() => proxy.close());
  return { proxy, port: Number(new URL(proxy.url).port), target, logged, provider };
}

/** A response that was read completely. */
export interface Read {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly trailers: IncomingMessage['trailers'];
  readonly body: string;
}

/** Sends a request to a proxy and reads the response. */
export async function send(
  port: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Read> {
  const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return read(response);
}

/** Reads a response. */
export async function read(response: IncomingMessage): Promise<Read> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode: status, headers, trailers } = response;
  return { status, headers, trailers, body: Buffer.concat(chunks).toString() };
}

/** Sends bytes and returns everything that comes back until the connection closes. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return received;
}

/** A connection whose bytes are collected. */
export function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Waits until this many requests have ended: a client may have its response earlier. */
export async function waitForLog(logged: readonly ProxiedRequest[], count: number): Promise<readonly ProxiedRequest[]> {
  while (logged.length < count) await new Promise(setImmediate);
  return logged;
}
