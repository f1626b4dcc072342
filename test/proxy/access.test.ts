import { expect, test } from 'vitest';
import { send, sendRaw, startProxied, TOKEN, waitForLog } from '../support/proxy.ts';

/** A proxy in front of an API that counts its requests. */
async function startCounted(options = {}) {
  const seen: string[] = [];
  const proxied = await startProxied((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    response.end('ok');
  }, options);
  return { ...proxied, seen };
}

test('a foreign Host is rejected', async () => {
  const { port, seen, logged } = await startCounted();
  const hosts = ['evil.example', `evil.example:${port}`, 'localhost', '127.0.0.1', `127.0.0.1.evil.example:${port}`];
  for (const Host of hosts) {
    const { status, headers, body } = await send(port, '/', { headers: { Host } });
    expect([Host, status]).toEqual([Host, 403]);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(JSON.parse(body)).toMatchObject({ code: 'forbidden' });
  }
  expect(await send(port, '/', { headers: { Host: `LOCALHOST:${port}` } })).toMatchObject({ status: 200 });
  expect(seen).toEqual(['GET /']);
  expect((await waitForLog(logged, hosts.length + 1)).map(({ status }) => status)).toEqual([
    ...hosts.map(() => 403),
    200,
  ]);
});

test('a web page is rejected unless its origin is allowed', async () => {
  const { port, seen } = await startCounted({ allowedOrigins: ['http://localhost:3000'] });
  const statusOf = async (headers: Record<string, string>) => (await send(port, '/', { headers })).status;
  expect(await statusOf({ Origin: 'https://evil.example' })).toBe(403);
  expect(await statusOf({ Origin: 'null' })).toBe(403);
  expect(await statusOf({ Origin: `http://127.0.0.1:${port}` })).toBe(403);
  for (const site of ['cross-site', 'same-site', 'same-origin']) {
    expect(await statusOf({ 'Sec-Fetch-Site': site })).toBe(403);
  }
  expect(seen).toEqual([]);
  expect(await statusOf({ Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'cross-site' })).toBe(200);
  // The user has typed the URL.
  expect(await statusOf({ 'Sec-Fetch-Site': 'none' })).toBe(200);
});

test('an allowed origin is written as a browser sends it', async () => {
  const { port } = await startCounted({ allowedOrigins: ['HTTP://App.example:3000/', 'chrome-extension://abc'] });
  for (const Origin of ['http://app.example:3000', 'chrome-extension://abc'])
    expect(await send(port, '/', { headers: { Origin } })).toMatchObject({ status: 200 });
  for (const invalid of ['localhost:3000', 'http://localhost:3000/path', '*', 'null'])
    await expect(startCounted({ allowedOrigins: [invalid] })).rejects.toMatchObject({ code: 'usage' });
});

test('TRACE is rejected, because its response contains the token', async () => {
  const { port, seen } = await startCounted();
  expect(await send(port, '/', { method: 'TRACE' })).toMatchObject({ status: 405 });
  expect(seen).toEqual([]);
});

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const attempts: Record<string, string> = {
  'two lengths': `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
  'a length and chunks': `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'chunks that are not the last encoding': `Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n${smuggled}`,
  'an unknown encoding': `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'an encoding before the chunks': `Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a space before the colon': `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a folded header': `Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a line feed as line end': `X: 1\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a carriage return in a value': `X: 1\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a null character in a value': `X: 1\0\r\n\r\n`,
  'a length with a plus': `Content-Length: +0\r\n\r\n${smuggled}`,
  'a chunk size that is too large': `Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
  'two Host headers': `Host: evil.example\r\n\r\n`,
  'a switch of protocols with a body': `Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 4\r\n\r\nGET `,
};

for (const [name, rest] of Object.entries(attempts)) {
  test(`a request with ${name} is rejected`, async () => {
    const { port, seen } = await startCounted();
    const response = await sendRaw(
      port,
      `POST /first HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n${rest}`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 (?:400|501) /);
    expect(seen.filter((one) => one.includes('smuggled'))).toEqual([]);
    expect(response).not.toContain(TOKEN);
    if (!seen.includes('POST /first')) expect(seen).toEqual([]);
  });
}

const targets: Record<string, string> = {
  'a complete URL': 'http://evil.example/',
  'an asterisk': '*',
  'a host and port': 'evil.example:443',
  'a path without a slash': 'x@evil.example/',
  'a URL with a fragment': '/a#b',
};

for (const [name, target] of Object.entries(targets)) {
  test(`a request for ${name} is rejected`, async () => {
    const { port, seen } = await startCounted();
    const response = await sendRaw(
      port,
      `OPTIONS ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(seen).toEqual([]);
  });
}

test('a request with HTTP/1.0 and chunks is rejected', async () => {
  const { port, seen } = await startCounted();
  const message = `POST / HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  expect(await sendRaw(port, message)).toMatch(/^HTTP\/1\.1 400 /);
  expect(seen).toEqual([]);
});

test('the log of a rejected request contains no password of its URL', async () => {
  const { port, logged } = await startProxied(() => expect.fail());
  await sendRaw(
    port,
    `GET http://u:secret-of-u@h/p?q HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
  );
  expect(await waitForLog(logged, 1)).toMatchObject([{ path: '/p', status: 400 }]);
});

test('CONNECT to a reverse proxy opens no tunnel', async () => {
  const { port, target, seen } = await startCounted();
  const connect = `CONNECT 127.0.0.1:${target.port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  expect(await sendRaw(port, `${connect}GET / HTTP/1.1\r\nHost: x\r\n\r\n`)).toBe('');
  expect(seen).toEqual([]);
});

test('a client cannot remove headers that frame the request, or the token, with Connection', async () => {
  const { port } = await startProxied((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => response.end(`${incoming.headers.authorization} ${incoming.headers['x-own']} ${body}`));
  });
  const response = await sendRaw(
    port,
    `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close, Content-Length, Host, Authorization, X-Own\r\nX-Own: 1\r\nContent-Length: 4\r\n\r\nbody`,
  );
  expect(response).toMatch(new RegExp(`Bearer ${TOKEN}1 undefined body$`));
});

test('pipelined requests are separate requests', async () => {
  const { port, seen } = await startCounted();
  const one = (path: string, last = '') => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${last}\r\n`;
  const response = await sendRaw(port, one('/1') + one('/2') + one('/3', 'Connection: close\r\n'));
  expect(response.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
  expect([...seen].sort()).toEqual(['GET /1', 'GET /2', 'GET /3']);
});
