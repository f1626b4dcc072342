import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { read, send, startProxied, TOKEN } from '../support/proxy.ts';

/** An API that accepts tokens from this number on. Responds with the number and the body. */
function acceptFrom(minimum: { value: number }) {
  const seen: string[] = [];
  const handle = (incoming: IncomingMessage, response: import('node:http').ServerResponse): void => {
    const { method, headers } = incoming;
    const number = Number(headers.authorization?.replace(`Bearer ${TOKEN}`, ''));
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    incoming.on('end', () => {
      seen.push(`${method} ${number} ${length}`);
      response.writeHead(number < minimum.value ? 401 : 200).end(String(number));
    });
  };
  return { seen, handle };
}

test('a rejected token is replaced once, and the request is repeated with its body', async () => {
  const minimum = { value: 2 };
  const { seen, handle } = acceptFrom(minimum);
  const { port, provider } = await startProxied(handle);
  expect(await send(port, '/', { method: 'POST', body: 'hello' })).toMatchObject({ status: 200, body: '2' });
  expect(seen).toEqual(['POST 1 5', 'POST 2 5']);
  minimum.value = 3;
  const bodies = await Promise.all(Array.from({ length: 10 }, () => send(port, '/')));
  expect(bodies.map(({ status, body }) => [status, body])).toEqual(Array(10).fill([200, '3']));
  expect(provider.requests).toHaveLength(3);
});

test('a body of more than 64 KiB is not repeated, but the next request has the new token', async () => {
  const { seen, handle } = acceptFrom({ value: 2 });
  const { port } = await startProxied(handle);
  const put = (size: number) => send(port, '/', { method: 'PUT', body: 'x'.repeat(size) });
  expect(await put(65_537)).toMatchObject({ status: 401 });
  expect(await put(65_537)).toMatchObject({ status: 200, body: '2' });
  expect(seen).toEqual(['PUT 1 65537', 'PUT 2 65537']);
});

test('a body of 64 KiB is repeated', async () => {
  const { seen, handle } = acceptFrom({ value: 2 });
  const { port } = await startProxied(handle);
  expect(await send(port, '/', { method: 'PUT', body: 'x'.repeat(65_536) })).toMatchObject({ status: 200, body: '2' });
  expect(seen).toEqual(['PUT 1 65536', 'PUT 2 65536']);
});

test('a body that waits for 100 (Continue) can be repeated, whatever its size', async () => {
  const { seen, handle } = acceptFrom({ value: 2 });
  const { port, target } = await startProxied(handle);
  target.server.on('checkContinue', (incoming: IncomingMessage, response) => {
    if (incoming.headers.authorization === `Bearer ${TOKEN}1`) return void response.writeHead(401).end();
    response.writeContinue();
    handle(incoming, response);
  });
  const headers = { Expect: '100-continue', 'Content-Length': '100000' };
  const outgoing = request({ port, path: '/', method: 'PUT', agent: false, headers });
  outgoing.flushHeaders();
  await once(outgoing, 'continue');
  outgoing.end('x'.repeat(100_000));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await read(response)).toMatchObject({ status: 200 });
  expect(seen).toEqual(['PUT 2 100000']);
});

test('an API that rejects every token gets one new token, and its response goes through', async () => {
  const { seen, handle } = acceptFrom({ value: 100 });
  const { port, provider } = await startProxied(handle);
  for (const _ of [1, 2, 3]) expect(await send(port, '/')).toMatchObject({ status: 401, body: '2' });
  expect(seen).toEqual(['GET 1 0', 'GET 2 0', 'GET 2 0', 'GET 2 0']);
  expect(provider.requests).toHaveLength(2);
});

test('a 403 goes through and changes nothing', async () => {
  const { port, provider } = await startProxied((_, response) => response.writeHead(403).end());
  for (const _ of [1, 2]) expect(await send(port, '/')).toMatchObject({ status: 403 });
  expect(provider.requests).toHaveLength(1);
});

test('a token that cannot be replaced is a 502 with the reason', async () => {
  const { port, provider } = await startProxied((_, response) => {
    void provider.stop().then(() => response.writeHead(401).end());
  });
  const { status, body } = await send(port, '/');
  expect(status).toBe(502);
  expect(JSON.parse(body)).toMatchObject({ code: 'connection_failed' });
});
