import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { openSocket, read, startProxied, waitForLog } from '../support/proxy.ts';

/** Resolves with the next chunk, as a string. */
async function nextChunk(stream: NodeJS.ReadableStream): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Buffer];
  return String(chunk);
}

/** Reads from a socket until the text has arrived. */
async function readUntil(socket: NodeJS.ReadableStream, text: string): Promise<string> {
  let received = '';
  while (!received.includes(text)) received += await nextChunk(socket);
  return received;
}

test('an event stream arrives event by event, its headers first', async () => {
  let stream: ServerResponse | undefined;
  const { port } = await startProxied((_, response) => {
    stream = response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.flushHeaders();
  });
  const outgoing = request({ port, path: '/', agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(response.headers['content-type']).toBe('text/event-stream');
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    stream?.write(event);
    expect(await nextChunk(response)).toBe(event);
  }
  stream?.end();
  await once(response, 'end');
});

test('request and response bodies stream at the same time', async () => {
  const { port } = await startProxied((incoming, response) => {
    response.flushHeaders();
    incoming.pipe(response);
  });
  const outgoing = request({ port, method: 'POST', path: '/', agent: false });
  outgoing.flushHeaders();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  for (const part of ['one', 'two']) {
    outgoing.write(part);
    expect(await nextChunk(response)).toBe(part);
  }
  outgoing.end();
  await once(response, 'end');
});

test('a WebSocket is connected, and its request has the token', async () => {
  const { port, target, logged } = await startProxied(() => {});
  target.server.on('upgrade', ({ headers }, socket, head: Buffer) => {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest('base64')}\r\nX-Seen: ${headers.authorization}\r\n\r\nhello `,
    );
    socket.write(head);
    socket.pipe(socket);
  });
  const socket = openSocket(port);
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\nearly `,
  );
  const head = await readUntil(socket, 'early ');
  expect(head).toMatch(/^HTTP\/1\.1 101 /);
  expect(head).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  expect(head).toMatch(/X-Seen: Bearer .*\r\n\r\nhello early $/s);
  socket.write('frame');
  expect(await nextChunk(socket)).toBe('frame');
  socket.end();
  await once(socket, 'close');
  expect(await waitForLog(logged, 1)).toMatchObject([{ method: 'GET', path: '/ws', status: 101 }]);
});

test('an upgrade that the API rejects is a normal response', async () => {
  const { port, target } = await startProxied(() => {});
  const big = 'x'.repeat(1_000_000);
  target.server.on('upgrade', (_, socket) =>
    socket.end(`HTTP/1.1 403 No\r\nContent-Length: ${big.length}\r\n\r\n${big}`),
  );
  const outgoing = request({ port, path: '/', agent: false, headers: { Connection: 'Upgrade', Upgrade: 'websocket' } });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await read(response)).toMatchObject({ status: 403, body: big });
});

test('h2c is not offered to the API', async () => {
  const { port } = await startProxied((incoming, response) => response.end(JSON.stringify(incoming.headers)));
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABk' };
  const outgoing = request({ port, path: '/', agent: false, headers }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { status, body } = await read(response);
  expect(status).toBe(200);
  expect(Object.keys(JSON.parse(body))).not.toContain('http2-settings');
  expect(JSON.parse(body)).not.toHaveProperty('upgrade');
});

test('100 (Continue) comes from the API', async () => {
  const { port, target } = await startProxied(() => {});
  target.server.on('checkContinue', (incoming: IncomingMessage, response: ServerResponse) => {
    if (incoming.url === '/no') return void response.writeHead(413).end('too large');
    response.writeContinue();
    incoming.pipe(response);
  });
  const start = (path: string) => {
    const headers = { Expect: '100-continue', 'Content-Length': '4' };
    const outgoing = request({ port, path, method: 'PUT', agent: false, headers });
    outgoing.flushHeaders();
    return outgoing;
  };
  const accepted = start('/yes');
  await once(accepted, 'continue');
  accepted.end('body');
  const [response] = (await once(accepted, 'response')) as [IncomingMessage];
  expect(await read(response)).toMatchObject({ status: 200, body: 'body' });

  const rejected = start('/no');
  rejected.on('continue', () => expect.unreachable());
  rejected.on('error', () => {});
  const [early] = (await once(rejected, 'response')) as [IncomingMessage];
  expect(await read(early)).toMatchObject({ status: 413, headers: { connection: 'close' }, body: 'too large' });
});

test('a client that leaves ends the request to the API', async () => {
  const closed = defer();
  const { port, logged } = await startProxied((incoming, response) => {
    response.on('close', closed.resolve);
    if (incoming.url === '/started') response.writeHead(200).write('part');
  });
  const outgoing = request({ port, path: '/started', agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  await once(response, 'data');
  outgoing.destroy();
  await closed.promise;
  expect(await waitForLog(logged, 1)).toMatchObject([{ path: '/started', status: 200, bytes: 4 }]);
});

test('a client that leaves before the response ends the request to the API', async () => {
  const [arrived, closed] = [defer(), defer()];
  const { port, logged } = await startProxied((_, response) => {
    response.on('close', () => closed.resolve(undefined));
    arrived.resolve(undefined);
  });
  const outgoing = request({ port, path: '/', agent: false }).end();
  outgoing.on('error', () => {});
  await arrived.promise;
  outgoing.destroy();
  await closed.promise;
  expect(await waitForLog(logged, 1)).toMatchObject([{ path: '/', status: undefined }]);
});

test('a client that leaves after the response, while it sends its body, ends the request to the API', async () => {
  const closed = defer();
  const { port } = await startProxied((incoming, response) => {
    incoming.socket.on('close', () => closed.resolve());
    response.end('early');
  });
  const outgoing = request({ port, method: 'POST', path: '/', agent: false });
  outgoing.write('part');
  outgoing.on('error', () => {});
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await read(response)).toMatchObject({ body: 'early' });
  outgoing.destroy();
  await closed.promise;
});

test('a response that the API breaks off is broken off for the client', async () => {
  const { port } = await startProxied((incoming, response) => {
    if (incoming.url === '/length') response.setHeader('Content-Length', 1000);
    if (incoming.url !== '/none') response.write('part');
    setImmediate(() => incoming.socket.destroy());
  });
  for (const path of ['/chunked', '/length']) {
    const outgoing = request({ port, path, agent: false }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    await expect(read(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
  }
  const outgoing = request({ port, path: '/none', agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { status, body } = await read(response);
  expect(status).toBe(502);
  expect(JSON.parse(body)).toMatchObject({ code: 'connection_failed' });
});

test('an idle connection that the API has closed is replaced for a GET', async () => {
  let count = 0;
  const { port } = await startProxied((incoming, response) => {
    count++;
    // The second request on a connection is lost.
    if (incoming.socket.bytesRead > 0 && Reflect.get(incoming.socket, 'used')) return void incoming.socket.destroy();
    Reflect.set(incoming.socket, 'used', true);
    response.end('ok');
  });
  for (const _ of [1, 2]) {
    const outgoing = request({ port, path: '/', agent: false }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(await read(response)).toMatchObject({ status: 200, body: 'ok' });
  }
  expect(count).toBe(3);
});

/** A promise with its functions. `Promise.withResolvers` needs Node 22. */
function defer(): { promise: Promise<unknown>; resolve: (value?: unknown) => void } {
  let resolve: (value?: unknown) => void = () => {};
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
