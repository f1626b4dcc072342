import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ApiServer, bytes, json, redirect, routes } from '../../../support/api-server.ts';
import { runWs, testFolder } from '../../../support/run-ws.ts';
import { serveBytes } from '../../../support/wire-server.ts';

const binary = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 37) % 256));

/** A multipart body, read by the parser of another implementation. */
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
  it('saves what is answered, byte for byte, and makes the folders', async () => {
    const api = await ApiServer.start(bytes(binary, 'image/png'));
    const { last, folder } = await runWs([['ws.download', api.origin, 'size=1', 'out/a/image.png']]);
    expect(last).toMatchObject({ state: 'passed', output: [] });
    expect(api.call.path).toBe('/?size=1');
    expect(readFileSync(join(folder, 'out/a/image.png'))).toEqual(binary);
    expect(readdirSync(join(folder, 'out/a'))).toEqual(['image.png']);
  });

  it('saves more than a response may have', async () => {
    const size = 40 * 1_048_576;
    const api = await ApiServer.start(bytes(gzipSync(Buffer.alloc(size)), undefined, { 'Content-Encoding': 'gzip' }));
    const { last, folder } = await runWs([['ws.download', api.origin, '', 'zeros']]);
    expect(last.failure).toBeUndefined();
    expect(readFileSync(join(folder, 'zeros'))).toHaveLength(size);
  });

  it('saves nothing as an empty file', async () => {
    const api = await ApiServer.start(bytes(''));
    const { folder } = await runWs([['ws.download', api.origin, '', 'empty']]);
    expect(readFileSync(join(folder, 'empty'), 'utf8')).toBe('');
  });

  it('follows redirects where it is asked to', async () => {
    const api = await ApiServer.start(routes({ '/a': redirect(302, '/b'), '/b': bytes('content') }));
    const { folder } = await runWs([['ws.download', `${api.origin}/a`, '', 'x', { followRedirects: true }]]);
    expect(readFileSync(join(folder, 'x'), 'utf8')).toBe('content');
  });

  it.each([
    [404, 'Not Found', 'no such report'],
    [500, 'Internal Server Error', 'no such report'],
    [302, 'Found', 'moved'],
  ])('with the status %i fails and keeps the old file', async (status, statusText, said) => {
    const folder = testFolder();
    writeFileSync(join(folder, 'report'), 'old');
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(status, { Location: '/x' }).end(said);
    });
    const { last } = await runWs([['ws.download', `${api.origin}/r`, '', 'report']], { folder });
    expect(last.failure).toMatchObject({
      message: `${api.origin}/r answered ${status} ${statusText}: ${said}`,
      expected: '200-299',
      actual: `${status} ${statusText}`,
    });
    expect(readFileSync(join(folder, 'report'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['report']);
  });

  it.each([
    ['is cut off', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', true],
    ['stops', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', false],
    ['is no gzip', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf', false],
  ])('that %s leaves nothing', async (_what, written, ends) => {
    const server = await serveBytes(written, (socket) => ends && socket.end());
    const { last, folder } = await runWs([['ws.download', server.url, '', 'new/file', { timeout: '200ms' }]]);
    expect(last.state).toBe('failed');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that is interrupted leaves nothing', async () => {
    const controller = new AbortController();
    const folder = testFolder();
    const server = await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => {
      const look = setInterval(() => {
        if (!existsSync(join(folder, 'new'))) return;
        clearInterval(look);
        controller.abort();
      }, 5);
    });
    const { last } = await runWs([['ws.download', server.url, '', 'new/file']], { folder, signal: controller.signal });
    expect(last.failure?.code).toBe('aborted');
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['.', '/dev/null', '', '${env:MY_SECRET}'])('cannot be saved to %j', async (path) => {
    const api = await ApiServer.start(bytes('x'));
    const { last, folder } = await runWs([['ws.download', api.origin, '', path]], { env: { MY_SECRET: 'a/b' } });
    expect(last.state).toBe('failed');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('ws.upload', () => {
  it('posts fields and files as another implementation reads them', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'a.png'), binary);
    writeFileSync(join(folder, 'b.json'), '{}');
    writeFileSync(join(folder, 'c'), '');
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
      { folder },
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

  it('escapes names so that none can begin a part of its own', async () => {
    const folder = testFolder();
    const odd = 'we"ird\r\nX-Evil: 1; name=.txt';
    writeFileSync(join(folder, odd), 'content');
    const api = await ApiServer.start(json({}));
    await runWs([['ws.upload', api.origin, { 'a"b\r\nContent-Type: x\r\n\r\nc': 'v' }, { 'f"\n': odd }, 'r']], {
      folder,
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

  it('sets its own content type, whatever a header says', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'a.txt'), 'x');
    const api = await ApiServer.start(json({}));
    await runWs(
      [
        ['ws.header', 'Content-Type', 'application/json'],
        ['ws.upload', api.origin, '', 'file=a.txt', 'r'],
        ['ws.post', api.origin, 'x', 'r'],
      ],
      { folder },
    );
    expect(api.sent('Content-Type')).toEqual([
      expect.stringMatching(/^multipart\/form-data; boundary=/),
      'application/json',
    ]);
    expect(api.calls[0]?.body.toString()).toContain('filename="a.txt"');
  });

  it('of a large file holds no more than pieces of it', async () => {
    const folder = testFolder();
    const size = 20 * 1_048_576;
    writeFileSync(join(folder, 'large.bin'), Buffer.alloc(size, 'ab'));
    const api = await ApiServer.start(json({}));
    const { last } = await runWs([['ws.upload', api.origin, {}, { f: 'large.bin' }, 'r']], { folder });
    expect(last.failure).toBeUndefined();
    expect(Number(api.call.headers['content-length'])).toBe(api.call.body.length);
    expect(api.call.body.length).toBeGreaterThan(size);
  });

  it('shows fields and the sizes of files, no secrets and no contents', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'a.txt'), 'content of the file');
    const api = await ApiServer.start(json({}));
    const { last, everything } = await runWs(
      [['ws.upload', api.origin, { title: 'T', password: 'hunter2', k: '${env:MY_SECRET}' }, { f: 'a.txt' }, 'r']],
      { folder, env: { MY_SECRET: 'from-the-environment' } },
    );
    expect(last.exchanges[0]?.request.body).toBe('title=T\npassword=••••\nk=••••\nf=<19 bytes of a.txt>');
    expect(everything).not.toMatch(/from-the|content of/);
    expect((await formOf(api)).slice(0, 3)).toEqual([
      ['title', 'T'],
      ['password', 'hunter2'],
      ['k', 'from-the-environment'],
    ]);
  });

  it.each([
    ['a file that is not there', {}, { f: 'missing' }, 'cannot read missing (ENOENT)'],
    ['nothing', {}, {}, 'there is nothing to upload'],
    ['a field with parts', { a: { b: 1 } }, {}, 'body: a has parts and cannot be a field of a form'],
    ['a number for a path', {}, { f: 5 }, 'fileParams: f is not the path of a file'],
    ['a secret for a path', {}, { f: '${env:MY_SECRET}' }, 'fileParams: f is not the path of a file'],
  ])('of %s fails before anything is sent', async (_what, fields, files, message) => {
    const api = await ApiServer.start(json({}));
    const { last } = await runWs([['ws.upload', api.origin, fields, files, 'r']], { env: { MY_SECRET: 'x' } });
    expect(last.failure?.message).toBe(message);
    expect(api.sockets).toEqual([]);
  });
});

describe('ws.saveResponsePayload', () => {
  it.each([
    ['image/png', binary],
    ['text/plain; charset=latin1', Buffer.from('Jürgen', 'latin1')],
    ['text/plain', Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff])],
    ['application/json', Buffer.from('{ "a" : 1 }\r\n')],
  ])('writes %s byte for byte, and adds to the file where asked', async (type, sent) => {
    const api = await ApiServer.start(bytes(sent, type));
    const { folder, result } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['ws.saveResponsePayload', 'r', 'out/payload', false],
      ['ws.saveResponsePayload', 'r', 'out/payload', 'true'],
      ['ws.saveResponsePayload', 'r', 'out/other'],
    ]);
    expect(result.state).toBe('passed');
    expect(readFileSync(join(folder, 'out/payload'))).toEqual(Buffer.concat([sent, sent]));
    expect(readFileSync(join(folder, 'out/other'))).toEqual(sent);
  });

  it('writes the bytes of the response that the variable holds now', async () => {
    const api = await ApiServer.start((call, response) => response.end(call.path));
    const { folder, steps } = await runWs([
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
    expect([readFileSync(join(folder, 'a'), 'utf8'), readFileSync(join(folder, 'b'), 'utf8')]).toEqual(['/3', '/2']);
    expect(steps.flatMap(({ failure }) => failure?.message ?? [])).toEqual([
      'the bytes of a are not kept any more',
      'b is not the response of a request',
      'there is no variable none',
    ]);
    expect(readdirSync(folder).sort()).toEqual(['a', 'b']);
  });

  it('keeps the last 64 MiB, not all', async () => {
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

  it('may write outside of the folder of its script, which is its user’s own', async () => {
    const [folder, other] = [testFolder(), testFolder()];
    const api = await ApiServer.start(bytes('x'));
    await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.saveResponsePayload', 'r', join(other, 'absolute')],
        ['ws.saveResponsePayload', 'r', `../${other.split('/').at(-1)}/relative`],
      ],
      { folder },
    );
    expect(readdirSync(other).sort()).toEqual(['absolute', 'relative']);
  });
});
