import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../support/directory.ts';
import { ApiServer, bytes, json, redirect, routes, serveBytes } from '../../../support/server.ts';
import { runWs } from '../../run-steps.ts';

const binary = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 37) % 256));

/** Parses a multipart body with Node's own parser. */
async function formOf({
  call,
}: ApiServer): Promise<[string, string | { name: string; type: string; bytes: Buffer }][]> {
  const form = await new Response(call.body, {
    headers: { 'Content-Type': String(call.headers['content-type']) },
  }).formData();
  const parts: [string, string | { name: string; type: string; bytes: Buffer }][] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') parts.push([name, value]);
    else parts.push([name, { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) }]);
  }
  return parts;
}

describe('ws.download', () => {
  it('saves the body byte for byte and creates the directories', async () => {
    const api = await ApiServer.start(bytes(binary, 'image/png'));
    const { last, directory } = await runWs([['ws.download', api.origin, 'size=1', 'out/a/image.png']]);
    expect(last).toMatchObject({ state: 'passed', output: [] });
    expect(api.call.path).toBe('/?size=1');
    expect(readFileSync(join(directory, 'out/a/image.png'))).toEqual(binary);
    expect(readdirSync(join(directory, 'out/a'))).toEqual(['image.png']);
  });

  it('saves a body larger than the limit of other requests', async () => {
    const size = 40 * 1_048_576;
    const api = await ApiServer.start(bytes(gzipSync(Buffer.alloc(size)), undefined, { 'Content-Encoding': 'gzip' }));
    const { last, directory } = await runWs([['ws.download', api.origin, '', 'zeros']]);
    expect(last.failure).toBeUndefined();
    expect(readFileSync(join(directory, 'zeros'))).toHaveLength(size);
  });

  it('saves an empty body as an empty file', async () => {
    const api = await ApiServer.start(bytes(''));
    const { directory } = await runWs([['ws.download', api.origin, '', 'empty']]);
    expect(readFileSync(join(directory, 'empty'), 'utf8')).toBe('');
  });

  it('follows redirects on request', async () => {
    const api = await ApiServer.start(routes({ '/a': redirect(302, '/b'), '/b': bytes('content') }));
    const { directory } = await runWs([['ws.download', `${api.origin}/a`, '', 'x', { redirects: 10 }]]);
    expect(readFileSync(join(directory, 'x'), 'utf8')).toBe('content');
  });

  it.each([
    [404, 'Not Found', 'no such report'],
    [500, 'Internal Server Error', 'no such report'],
    [302, 'Found', 'moved'],
  ])('fails for the status %i and preserves the existing file', async (status, statusText, said) => {
    const directory = createTestDirectory();
    writeFileSync(join(directory, 'report'), 'old');
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(status, { Location: '/x' }).end(said);
    });
    const { last } = await runWs([['ws.download', `${api.origin}/r`, '', 'report']], { directory });
    expect(last.failure).toMatchObject({
      message: expect.stringContaining(said),
      expected: '200-299',
      actual: `${status} ${statusText}`,
    });
    expect(readFileSync(join(directory, 'report'), 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['report']);
  });

  it.each([
    ['is truncated', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', true],
    ['stalls', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', false],
    ['is not gzip', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf', false],
  ])('leaves no file if the response %s', async (_what, written, ends) => {
    const server = await serveBytes(written, (socket) => ends && socket.end());
    const { last, directory } = await runWs([['ws.download', server.url, '', 'new/file', { timeout: '200ms' }]]);
    expect(last.state).toBe('failed');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('leaves no file if it is interrupted', async () => {
    const controller = new AbortController();
    const directory = createTestDirectory();
    const server = await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => {
      const poll = setInterval(() => {
        if (!existsSync(join(directory, 'new'))) return;
        clearInterval(poll);
        controller.abort();
      }, 5);
    });
    const { last } = await runWs([['ws.download', server.url, '', 'new/file']], {
      directory,
      signal: controller.signal,
    });
    expect(last.failure?.code).toBe('aborted');
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each(['.', '/dev/null', '', '${env:MY_SECRET}'])('fails to save to %j', async (path) => {
    const api = await ApiServer.start(bytes('x'));
    const { last, directory } = await runWs([['ws.download', api.origin, '', path]], { env: { MY_SECRET: 'a/b' } });
    expect(last.state).toBe('failed');
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('ws.upload', () => {
  it('posts fields and files that another implementation can parse', async () => {
    const directory = createTestDirectory();
    writeFileSync(join(directory, 'a.png'), binary);
    writeFileSync(join(directory, 'b.json'), '{}');
    writeFileSync(join(directory, 'c'), '');
    const api = await ApiServer.start(json({ ok: true }, 201));
    const { last, value } = await runWs(
      [
        [
          'ws.upload',
          api.origin,
          { title: 'Jürgen ☃', n: 5, empty: '', tag: ['x', 'y'], lines: 'a\nb\r\nc\rd' },
          { image: 'a.png', docs: ['@b.json', 'c'] },
          'r',
        ],
      ],
      { directory },
    );
    expect(last.failure).toBeUndefined();
    expect(value('r.body')).toEqual({ ok: true });
    expect(api.call.method).toBe('POST');
    expect(await formOf(api)).toEqual([
      ['title', 'Jürgen ☃'],
      ['n', '5'],
      ['empty', ''],
      ['tag', 'x'],
      ['tag', 'y'],
      ['lines', 'a\r\nb\r\nc\r\nd'],
      ['image', { name: 'a.png', type: 'image/png', bytes: binary }],
      ['docs', { name: 'b.json', type: 'application/json', bytes: Buffer.from('{}') }],
      ['docs', { name: 'c', type: 'application/octet-stream', bytes: Buffer.alloc(0) }],
    ]);
  });

  it('escapes names so that they cannot start a new part', async () => {
    const directory = createTestDirectory();
    const odd = 'we"ird\r\nX-Evil: 1; name=.txt';
    writeFileSync(join(directory, odd), 'content');
    const api = await ApiServer.start(json({}));
    await runWs([['ws.upload', api.origin, { 'a"b\r\nContent-Type: x\r\n\r\nc': 'v' }, { 'f"\n': odd }, 'r']], {
      directory,
    });
    const raw = api.call.body.toString();
    expect(raw).toContain('name="a%22b%0D%0AContent-Type: x%0D%0A%0D%0Ac"\r\n\r\nv\r\n');
    expect(raw).toContain(
      'name="f%22%0D%0A"; filename="we%22ird%0D%0AX-Evil: 1; name=.txt"\r\nContent-Type: text/plain\r\n',
    );
    expect(raw).not.toMatch(/^X-Evil|^Content-Type: x/m);
    const form = await formOf(api);
    expect(form).toHaveLength(2);
    expect(form[1]?.[1]).toMatchObject({ name: odd, bytes: Buffer.from('content') });
  });

  it('sets its own Content-Type and ignores the header of the script', async () => {
    const directory = createTestDirectory();
    writeFileSync(join(directory, 'a.txt'), 'x');
    const api = await ApiServer.start(json({}));
    await runWs(
      [
        ['ws.header', 'Content-Type', 'application/json'],
        ['ws.upload', api.origin, '', 'file=a.txt', 'r'],
        ['ws.post', api.origin, 'x', 'r'],
      ],
      { directory },
    );
    expect(api.sent('Content-Type')).toEqual([
      expect.stringMatching(/^multipart\/form-data; boundary=/),
      'application/json',
    ]);
    expect(api.calls[0]?.body.toString()).toContain('filename="a.txt"');
  });

  it('streams a large file', async () => {
    const directory = createTestDirectory();
    const size = 20 * 1_048_576;
    writeFileSync(join(directory, 'large.bin'), Buffer.alloc(size, 'ab'));
    const api = await ApiServer.start(json({}));
    const { last } = await runWs([['ws.upload', api.origin, {}, { f: 'large.bin' }, 'r']], { directory });
    expect(last.failure).toBeUndefined();
    expect(Number(api.call.headers['content-length'])).toBe(api.call.body.length);
    expect(api.call.body.length).toBeGreaterThan(size);
  });

  it('reports fields and file sizes without secrets and contents', async () => {
    const directory = createTestDirectory();
    writeFileSync(join(directory, 'a.txt'), 'content of the file');
    const api = await ApiServer.start(json({}));
    const { last, everything } = await runWs(
      [['ws.upload', api.origin, { title: 'T', password: 'hunter22', k: '${env:MY_SECRET}' }, { f: 'a.txt' }, 'r']],
      { directory, env: { MY_SECRET: 'from-the-environment' } },
    );
    expect(last.exchanges[0]?.request.body).toBe('title=T\npassword=••••\nk=••••\nf=<19 bytes of a.txt>');
    expect(everything).not.toMatch(/from-the|content of/);
    expect((await formOf(api)).slice(0, 3)).toEqual([
      ['title', 'T'],
      ['password', 'hunter22'],
      ['k', 'from-the-environment'],
    ]);
  });

  it.each([
    ['a missing file', {}, { f: 'missing' }, 'ENOENT'],
    ['an empty form', {}, {}, 'empty'],
    ['a field that is a map', { a: { b: 1 } }, {}, 'body: a'],
    ['a number as a path', {}, { f: 5 }, 'fileParams: f'],
    ['a secret as a path', {}, { f: '${env:MY_SECRET}' }, 'fileParams: f'],
  ])('fails for %s before anything is sent', async (_what, fields, files, message) => {
    const api = await ApiServer.start(json({}));
    const { last } = await runWs([['ws.upload', api.origin, fields, files, 'r']], { env: { MY_SECRET: 'x' } });
    expect(last.failure?.message).toContain(message);
    expect(api.sockets).toEqual([]);
  });
});

describe('ws.saveResponsePayload', () => {
  it.each([
    ['image/png', binary],
    ['text/plain; charset=latin1', Buffer.from('Jürgen', 'latin1')],
    ['text/plain', Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff])],
    ['application/json', Buffer.from('{ "a" : 1 }\r\n')],
  ])('writes %s byte for byte, and appends to the file on request', async (type, sent) => {
    const api = await ApiServer.start(bytes(sent, type));
    const { directory, result } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['ws.saveResponsePayload', 'r', 'out/payload', false],
      ['ws.saveResponsePayload', 'r', 'out/payload', 'true'],
      ['ws.saveResponsePayload', 'r', 'out/other'],
    ]);
    expect(result.state).toBe('passed');
    expect(readFileSync(join(directory, 'out/payload'))).toEqual(Buffer.concat([sent, sent]));
    expect(readFileSync(join(directory, 'out/other'))).toEqual(sent);
  });

  it('writes the bytes of the current response in the variable', async () => {
    const api = await ApiServer.start((call, response) => response.end(call.path));
    const { directory, steps } = await runWs([
      ['ws.get', `${api.origin}/1`, '', 'a'],
      ['ws.get', `${api.origin}/2`, '', 'b'],
      ['ws.get', `${api.origin}/3`, '', 'a'],
      ['ws.saveResponsePayload', 'a', 'a'],
      ['ws.saveResponsePayload', 'b', 'b'],
      ['base.save', 'a', '${b}'],
      ['!ws.saveResponsePayload', 'a', 'never'],
      ['base.save', 'b', 'x'],
      ['!ws.saveResponsePayload', 'b', 'never'],
      ['!ws.saveResponsePayload', 'none', 'never'],
    ]);
    expect([readFileSync(join(directory, 'a'), 'utf8'), readFileSync(join(directory, 'b'), 'utf8')]).toEqual([
      '/3',
      '/2',
    ]);
    expect(steps.flatMap(({ failure }) => failure?.message ?? [])).toEqual([
      expect.stringContaining('no longer stored'),
      expect.stringContaining('not a response'),
      expect.stringContaining('none is not defined'),
    ]);
    expect(readdirSync(directory).sort()).toEqual(['a', 'b']);
  });

  it('stores the last 64 MiB of payloads', async () => {
    const packed = gzipSync(Buffer.alloc(25 * 1_048_576));
    const api = await ApiServer.start(bytes(packed, 'application/x', { 'Content-Encoding': 'gzip' }));
    const { steps } = await runWs([
      ['ws.get', api.origin, '', 'a'],
      ['ws.get', api.origin, '', 'b'],
      ['ws.get', api.origin, '', 'c'],
      ['!ws.saveResponsePayload', 'a', 'a'],
      ['!ws.saveResponsePayload', 'b', 'b'],
      ['!ws.saveResponsePayload', 'c', 'c'],
    ]);
    expect(steps.slice(3).map(({ state }) => state)).toEqual(['failed', 'passed', 'passed']);
  });

  it('writes outside the directory of the script', async () => {
    const [directory, other] = [createTestDirectory(), createTestDirectory()];
    const api = await ApiServer.start(bytes('x'));
    await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.saveResponsePayload', 'r', join(other, 'absolute')],
        ['ws.saveResponsePayload', 'r', `../${other.split('/').at(-1)}/relative`],
      ],
      { directory },
    );
    expect(readdirSync(other).sort()).toEqual(['absolute', 'relative']);
  });
});
