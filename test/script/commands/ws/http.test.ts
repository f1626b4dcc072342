import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RawScalar } from '../../../../src/config/value.ts';
import { createTestDirectory } from '../../../support/directory.ts';
import { ApiServer, bytes, closedPort, json, routes, serveBytes } from '../../../support/server.ts';
import { runWs, type WsStep } from '../../run-steps.ts';

const body = (server: ApiServer): string => server.call.body.toString();

describe('A response', () => {
  it('has status, statusText, headers, body, text and elapsedMs', async () => {
    const api = await ApiServer.start((_call, response) => {
      response
        .writeHead(201, 'Made', { 'Content-Type': 'application/json', 'X-Id': '7' })
        .end('{"name": "Ada", "n": 1}');
    });
    const { last, value } = await runWs([['ws.get', api.origin, '', 'me']]);
    expect(last).toMatchObject({ state: 'passed', output: [] });
    expect(value('me.status')).toBe(201);
    expect(value('me.statusText')).toBe('Made');
    expect(value('me.body')).toEqual({ name: 'Ada', n: 1 });
    expect(value('me.text')).toBe('{"name": "Ada", "n": 1}');
    expect(value('me.elapsedMs')).toEqual(expect.any(Number));
  });

  it('has case-insensitive headers, also in a copy', async () => {
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(200, [
        ['Content-Type', 'text/plain'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['constructor', 'c'],
        ['__proto__', 'p'],
      ] as never);
      response.end('x');
    });
    const steps: WsStep[] = [
      ['ws.get', api.origin, '', 'me'],
      ['base.save', 'copy', '${me}'],
      ['base.save', 'inside', { headers: '${me.headers}' }],
    ];
    const { value, result } = await runWs(steps);
    expect(result.state).toBe('passed');
    for (const name of ['me.headers', 'copy.headers', 'inside.headers']) {
      expect(value(`${name}.Content-Type`)).toBe('text/plain');
      expect(value(`${name}["content-type"]`)).toBe('text/plain');
      expect(value(`${name}.CONTENT-TYPE`)).toBe('text/plain');
      expect(value(`${name}.Set-Cookie[1]`)).toBe('b=2');
      expect(value(`${name}.constructor`)).toBe('c');
    }
    expect(() => value('me.headers.X-None')).toThrow('me.headers.X-None is not defined');
    expect(() => value('me.headers.toString')).toThrow('is not defined');
  });

  it.each([400, 401, 404, 418, 500, 503, 302, 204])('passes the step with the status %i', async (status) => {
    const api = await ApiServer.start((_call, response) => response.writeHead(status).end());
    const { last, value } = await runWs([['ws.get', api.origin, '', 'r']]);
    expect(last.state).toBe('passed');
    expect([value('r.status'), value('r.body'), value('r.text')]).toEqual([status, '', '']);
  });

  it.each<[string, string | undefined, string, unknown]>([
    ['JSON by its type', 'application/json', '"x"', 'x'],
    ['JSON by its type', 'application/problem+json; charset=utf-8', '[1]', [1]],
    ['JSON by its type with spaces', 'application/json', ' \n{"a":null} ', { a: null }],
    ['JSON by its content', 'text/plain', '{"a": true}', { a: true }],
    ['JSON by its content without a type', undefined, '[]', []],
    ['a string that looks like a number', 'text/plain', '42', '42'],
    ['text despite its JSON type', 'application/json', '{"a":', '{"a":'],
    ['text despite its brace', 'text/html', '{{ template }}', '{{ template }}'],
    ['JSON with a duplicate name', 'application/json', '{"a":1,"a":2}', { a: 2 }],
    ['JSON after a byte order mark', 'application/json', '\ufeff{"a":1}', { a: 1 }],
    ['unclosed JSON', 'application/json', '['.repeat(100_000), '['.repeat(100_000)],
    ['JSON nested too deep', 'application/json', '['.repeat(70) + ']'.repeat(70), '['.repeat(70) + ']'.repeat(70)],
  ])('is %s (%s)', async (_what, type, sent, parsed) => {
    const api = await ApiServer.start(bytes(sent, type));
    const { value, last } = await runWs([['ws.get', api.origin, '', 'r']]);
    expect(last.state).toBe('passed');
    expect(value('r.body')).toEqual(parsed);
  });

  it('preserves every digit of a number', async () => {
    const api = await ApiServer.start(bytes('{"id": 1234567890123456789, "price": 1.10}', 'application/json'));
    const { result, value } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['base.assertEqual', '1234567890123456789', '${r.body.id}'],
      ['base.assertEqual', '1.10', '${r.body.price}'],
    ]);
    expect(result.state).toBe('passed');
    expect(value('r.body.id')).toBeInstanceOf(RawScalar);
  });

  it.each([
    ['text/plain; charset=utf-8', Buffer.from('Jürgen ☃'), 'Jürgen ☃'],
    ['text/plain', Buffer.from('Jürgen ☃'), 'Jürgen ☃'],
    ['text/plain; charset=latin1', Buffer.from('Jürgen', 'latin1'), 'Jürgen'],
    ['text/plain; charset="ISO-8859-1"', Buffer.from('Jürgen', 'latin1'), 'Jürgen'],
    ['text/plain;charset=utf-16le', Buffer.from('Jürgen', 'utf16le'), 'Jürgen'],
    ['text/plain', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Jürgen', 'utf16le')]), 'Jürgen'],
    ['text/plain; charset=shift_jis', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['text/plain; charset=klingon', Buffer.from('Jürgen'), 'Jürgen'],
    ['text/plain; charset=utf-8', Buffer.from([0x61, 0xff]), 'a\ufffd'],
  ])('in %s is decoded', async (type, sent, read) => {
    const api = await ApiServer.start(bytes(sent, type));
    expect((await runWs([['ws.get', api.origin, '', 'r']])).value('r.text')).toBe(read);
  });

  it('is decompressed', async () => {
    const api = await ApiServer.start(bytes(gzipSync('{"a":1}'), 'application/json', { 'Content-Encoding': 'gzip' }));
    expect((await runWs([['ws.get', api.origin, '', 'r']])).value('r.body')).toEqual({ a: 1 });
  });

  it('with ${…} in it is never resolved, also after it is copied', async () => {
    const hostile = { name: '${env:HOME}', list: ['${secret}', '$${x}'], '${k}': 1 };
    const api = await ApiServer.start(json(hostile));
    const { value, result } = await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['base.save', 'copy', '${r.body}'],
        ['ws.post', api.origin, '${r.body}', 'again'],
        ['ws.get', api.origin, { q: '${r.body.name}' }, 'third'],
      ],
      { data: { secret: 'not-for-servers' }, env: { HOME: '/root' } },
    );
    expect(result.state).toBe('passed');
    expect(value('r.body')).toEqual(hostile);
    expect(value('copy')).toEqual(hostile);
    expect(JSON.parse(api.calls[1]?.body.toString() ?? '')).toEqual(hostile);
    expect(api.calls[2]?.path).toBe(`/?q=${encodeURIComponent('${env:HOME}')}`);
  });

  it('with __proto__ in it pollutes no prototype', async () => {
    const api = await ApiServer.start(
      bytes('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 2}}}', 'application/json'),
    );
    const { value, result } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['base.save', 'copy', '${r.body}'],
      ['ws.post', api.origin, '${r.body}', 'again'],
    ]);
    expect(result.state).toBe('passed');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(value('copy.__proto__.polluted')).toBe(1);
    expect(api.calls[1]?.body.toString()).toBe(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}',
    );
  });

  it('masks its tokens in the variable and in the report', async () => {
    const api = await ApiServer.start(json({ user: 'ada', access_token: 'very-secret-session-0815' }));
    const { value, everything } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['base.verbose', '${r.text}'],
      ['base.verbose', 'as ${r.body.access_token}'],
    ]);
    expect(value('r.body.access_token')).toEqual({ secret: 'very-secret-session-0815' });
    expect(everything).not.toContain('very-secret-session');
    expect(everything).toContain('ada');
  });
});

describe('A request fails', () => {
  it.each([
    ['the connection is refused', async () => `http://127.0.0.1:${await closedPort()}/`, 'connection_failed'],
    [
      'the response is truncated',
      async () => (await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx', (s) => s.end())).url,
      'connection_failed',
    ],
  ])('and does not set the variable if %s', async (_what, url, code) => {
    const { last, value } = await runWs([['ws.get', await url(), '', 'r']], { data: { r: 'before' } });
    expect(last).toMatchObject({ state: 'failed', failure: { code } });
    expect(last.exchanges).toHaveLength(1);
    expect(last.exchanges[0]).not.toHaveProperty('response');
    expect(value('r')).toBe('before');
  });

  it('if the server takes longer than the timeout', async () => {
    const server = await serveBytes('');
    const { last } = await runWs([['ws.get', server.url, '', 'r', { timeout: '150ms' }]]);
    expect(last.failure).toMatchObject({ code: 'timeout', message: expect.stringMatching(/within 1\d\d ms/) });
  });

  it('if the body is larger than 32 MiB', async () => {
    const bomb = gzipSync(Buffer.alloc(33 * 1_048_576));
    const api = await ApiServer.start(bytes(bomb, 'text/plain', { 'Content-Encoding': 'gzip' }));
    const { last } = await runWs([['ws.get', api.origin, '', 'r']]);
    expect(last.failure).toMatchObject({ code: 'response_too_large', message: expect.stringContaining('33554432') });
  });

  it('if the run is interrupted', async () => {
    const controller = new AbortController();
    const api = await ApiServer.start(() => controller.abort());
    const { result, last } = await runWs([['ws.get', api.origin, '', 'r']], { signal: controller.signal });
    expect(last.failure?.code).toBe('aborted');
    expect(result.interrupted).toBe(true);
  });

  it.each([
    ['ftp://127.0.0.1/', 'absolute'],
    ['/relative', 'absolute'],
    ['', 'absolute'],
    ['https://', 'absolute'],
    ['https://[::1', 'absolute'],
    ['https://user:pass@127.0.0.1/', 'user name or password'],
    ['https://127.0.0.1/a\nb', 'line breaks'],
    ['https://127.0.0.1\\@evil.example.test/', 'backslashes'],
  ])('for the URL %j', async (url, message) => {
    const { last } = await runWs([['ws.get', url, '', 'r']]);
    expect(last.failure?.message).toContain(message);
    expect(last.exchanges).toEqual([]);
  });

  it.each([
    [{ redirect: 1 }, /^options must be a map of redirects, .*: did you mean redirects\?$/],
    [{ frobnicate: 1 }, /^options must be a map of redirects, timeout, ca_file, cert_file, cert_key_file$/],
  ])('for the unknown option %j', async (options, message) => {
    const { last } = await runWs([['ws.get', 'http://127.0.0.1:9/', '', 'r', options]]);
    expect(last.failure?.message).toMatch(message);
  });

  it.each([{ timeout: 'soon' }, { timeout: [1] }, { redirects: 'maybe' }, { redirects: 51 }, { timeout: 0 }])(
    'for the invalid option %j',
    async (options) => {
      const { last } = await runWs([['ws.get', 'http://127.0.0.1:9/', '', 'r', options]]);
      expect(last.failure?.message).toMatch(/^options must be a map in which \w+ is/);
    },
  );
});

describe('A query', () => {
  it.each<[string, WsStep[2], string]>([
    ['', '', '/'],
    ['', 'a=1&b=2', '/?a=1&b=2'],
    ['', '?a=1', '/?a=1'],
    ['/p?x=0', 'a=1', '/p?x=0&a=1'],
    ['/p?', 'a=1', '/p?a=1'],
    ['/p?x=0#part', 'a=1', '/p?x=0&a=1'],
    ['', 'q=a b&r=ü☃', '/?q=a%20b&r=%C3%BC%E2%98%83'],
    ['', 'q=a%20b%2Bc+d', '/?q=a%20b%2Bc+d'],
    ['', 'q=100%&r=#x', '/?q=100%25&r=%23x'],
    ['', 'q=<"\'>', '/?q=%3C%22%27%3E'],
    ['', { q: 'a b', r: 'x&y=z', s: '+%#ü' }, '/?q=a%20b&r=x%26y%3Dz&s=%2B%25%23%C3%BC'],
    ['', { 'a b&': 1, list: [1, 2], yes: true, none: null }, '/?a%20b%26=1&list=1&list=2&yes=true&none='],
    ['', {}, '/'],
    ['', null, '/'],
    ['/a b/ü', '', '/a%20b/%C3%BC'],
  ])('from url %j and queryString %j is %s', async (path, query, expected) => {
    const api = await ApiServer.start(json({}));
    const { last } = await runWs([['ws.get', api.origin + path, query, 'r']]);
    expect(last.failure).toBeUndefined();
    expect(api.call.path).toBe(expected);
  });

  it.each<[WsStep[2], string]>([
    [['a=1'], 'must be a string or a map'],
    [{ a: { b: 1 } }, 'a is a list or map'],
    [{ a: [[1]] }, 'a is a list or map'],
  ])('%j is rejected', async (query, message) => {
    const { last } = await runWs([['ws.get', 'http://127.0.0.1:9/', query, 'r']]);
    expect(last.failure?.message).toContain(message);
  });

  it('with a secret is sent unmasked and masked in the report', async () => {
    const api = await ApiServer.start((call, response) => response.end(`you sent ${call.path}`));
    const { steps, last, result } = await runWs(
      [
        ['ws.get', api.origin, { key: '${env:MY_TOKEN}', q: '1' }, 'r'],
        ['ws.get', `${api.origin}/p?k=\${env:MY_TOKEN}`, 'x=1', 'r'],
        ['ws.get', `${api.origin}/p`, 'api_key=${env:MY_TOKEN}', 'r'],
        ['ws.get', `${api.origin}/p?password=a-literal-key`, 'x=1', 'r'],
      ],
      { env: { MY_TOKEN: 'tökén value+1234' } },
    );
    expect(result.state).toBe('passed');
    const encoded = encodeURIComponent('tökén value+1234');
    expect(api.calls.map(({ path }) => path)).toEqual([
      `/?key=${encoded}&q=1`,
      `/p?k=t%C3%B6k%C3%A9n%20value+1234&x=1`,
      '/p?api_key=t%C3%B6k%C3%A9n%20value+1234',
      '/p?password=a-literal-key&x=1',
    ]);
    const shown = JSON.stringify(steps.map(({ exchanges, output }) => [exchanges, output]));
    expect(shown).not.toMatch(/value.1234|value%2B1234|a-literal-key/);
    expect(last.exchanges[0]?.request.url).toBe(`${api.origin}/p?password=••••&x=1`);
  });
});

describe('A body', () => {
  it.each<[string, WsStep[2], string, string]>([
    ['a string', 'a=1 ${x}', 'a=1 7', 'text/plain;charset=UTF-8'],
    ['a number', 5, '5', 'text/plain;charset=UTF-8'],
    ['a map', { a: '${x}', b: [1, null, true], 'c"': 'ü' }, '{"a":7,"b":[1,null,true],"c\\"":"ü"}', 'application/json'],
    ['a list', ['x', {}], '["x",{}]', 'application/json'],
    [
      'digits beyond 2^53',
      { id: new RawScalar('1234567890123456789', 1234567890123456800), odd: new RawScalar('007', 7) },
      '{"id":1234567890123456789,"odd":"007"}',
      'application/json',
    ],
    ['a string with two @', '@@home', '@home', 'text/plain;charset=UTF-8'],
  ])('of %s is sent', async (_what, given, sent, type) => {
    const api = await ApiServer.start(json({}));
    await runWs([['ws.post', api.origin, given, 'r']], { data: { x: 7 } });
    expect(body(api)).toBe(sent);
    expect(api.call.headers['content-type']).toBe(type);
  });

  it.each(['post', 'put', 'patch', 'delete'])('is optional for %s', async (name) => {
    const api = await ApiServer.start(json({}));
    await runWs([
      [`ws.${name}`, api.origin, { a: 1 }, 'r'],
      [`ws.${name}`, api.origin, '', 'r'],
      [`ws.${name}`, api.origin, null, 'r'],
    ]);
    expect(api.calls.map(({ method }) => method)).toEqual(Array(3).fill(name.toUpperCase()));
    expect(api.calls.map((call) => call.body.toString())).toEqual(['{"a":1}', '', '']);
    expect(api.calls[1]?.headers).not.toHaveProperty('content-type');
  });

  it('has the Content-Type that the script sets', async () => {
    const api = await ApiServer.start(json({}));
    await runWs([
      ['ws.header', 'content-TYPE', 'application/vnd.api+json'],
      ['ws.post', api.origin, { a: 1 }, 'r'],
    ]);
    expect(api.call.rawHeaders.filter((name) => /^content-type$/i.test(name))).toHaveLength(1);
    expect(api.call.headers['content-type']).toBe('application/vnd.api+json');
  });

  it('of a file is sent byte for byte; its path is relative to the script', async () => {
    const directory = createTestDirectory();
    const content = Buffer.from([0, 255, 10, 13, 64]);
    writeFileSync(join(directory, 'a.png'), content);
    const api = await ApiServer.start(json({}));
    const { last } = await runWs([['ws.put', api.origin, '@${name}', 'r']], { directory, data: { name: 'a.png' } });
    expect(api.call.body).toEqual(content);
    expect(api.call.headers['content-type']).toBe('image/png');
    expect(last.exchanges[0]?.request.body).toBe('<5 bytes of a.png>');
  });

  it('of a missing file fails the step before anything is sent', async () => {
    const api = await ApiServer.start(json({}));
    const { last } = await runWs([['ws.put', api.origin, '@missing.json', 'r']]);
    expect(last.failure?.message).toContain('ENOENT');
    expect(api.sockets).toEqual([]);
  });

  it('from a response cannot send files', async () => {
    const directory = createTestDirectory();
    writeFileSync(join(directory, 'private'), 'not for servers');
    const api = await ApiServer.start(json({ comment: `@${join(directory, 'private')}`, other: '@@x' }));
    await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.post', api.origin, '${r.body.comment}', 's'],
        ['ws.post', api.origin, '${r.body.other}', 's'],
        ['ws.graphql', api.origin, '${r.body.comment}', 's'],
      ],
      { directory },
    );
    const [, ...posts] = api.calls.map((call) => call.body.toString());
    expect(posts).toEqual([`@${directory}/private`, '@@x', JSON.stringify({ query: `@${directory}/private` })]);
  });

  it('with secrets is sent unmasked and masked in the report', async () => {
    const api = await ApiServer.start((call, response) => response.end(call.body));
    const { last, everything } = await runWs(
      [['ws.post', api.origin, { user: 'ada', password: 'literal-pass"word', note: 'is ${env:MY_SECRET}', n: 5 }, 'r']],
      { env: { MY_SECRET: 'from-the-environment' } },
    );
    expect(JSON.parse(body(api))).toEqual({
      user: 'ada',
      password: 'literal-pass"word',
      note: 'is from-the-environment',
      n: 5,
    });
    expect(everything).not.toMatch(/literal-pass|from-the-env/);
    expect(last.exchanges[0]?.request.body).toBe('{"user":"ada","password":"••••","note":"••••","n":5}');
  });
});

describe('ws.graphql', () => {
  it.each<[string, WsStep[2], unknown]>([
    ['a query', '{ me { name } }', { query: '{ me { name } }' }],
    ['a named query', 'query A($x: Int) { a(x: $x) }', { query: 'query A($x: Int) { a(x: $x) }' }],
    [
      'a map',
      { query: 'q', variables: { x: 1 }, operationName: 'A' },
      { query: 'q', variables: { x: 1 }, operationName: 'A' },
    ],
    ['the request as JSON', '{"query": "q", "variables": {"x": 2}}', { query: 'q', variables: { x: 2 } }],
    ['a file', '@q.graphql', { query: 'query { fromFile }' }],
  ])('sends %s as JSON', async (_what, given, sent) => {
    const directory = createTestDirectory();
    writeFileSync(join(directory, 'q.graphql'), 'query { fromFile }');
    const api = await ApiServer.start(json({ data: {} }));
    const { last } = await runWs([['ws.graphql', api.origin, given, 'r']], { directory });
    expect(last.failure).toBeUndefined();
    expect(api.call).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(body(api))).toEqual(sent);
  });

  it.each<[WsStep[2]]>([[''], [{}], [{ variables: {} }], [['q']], [null]])('rejects %j as a query', async (given) => {
    const { last } = await runWs([['ws.graphql', 'http://127.0.0.1:9/', given, 'r']]);
    expect(last.failure?.message).toContain('no GraphQL query');
  });
});

describe('ws.head', () => {
  it('requests only the headers', async () => {
    const api = await ApiServer.start(bytes('x'.repeat(100), 'text/plain'));
    const { value } = await runWs([['ws.head', api.origin, 'r']]);
    expect(api.call.method).toBe('HEAD');
    expect([value('r.status'), value('r.body'), value('r.headers.Content-Type')]).toEqual([200, '', 'text/plain']);
  });
});

describe('ws.assertReturnCode', () => {
  it.each<[number, WsStep[2], boolean]>([
    [200, 200, true],
    [200, '200', true],
    [203, '200-204,301', true],
    [301, ' 200 - 204 , 301 ', true],
    [205, '200-204,301', false],
    [404, '200', false],
  ])('compares the status %i with %j: %s', async (status, codes, passes) => {
    const api = await ApiServer.start((_call, response) => response.writeHead(status).end());
    const { last } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['ws.assertReturnCode', 'r', codes],
    ]);
    expect(last.state).toBe(passes ? 'passed' : 'failed');
  });

  it('quotes the status and the start of the body, redacted before it is truncated', async () => {
    const secret = 'the-secret-at-the-limit';
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(403, 'Forbidden', { 'Content-Type': 'text/html' });
      response.end(`<p>${'x'.repeat(480)}${secret}</p>${'y'.repeat(5000)}`);
    });
    const { last } = await runWs(
      [
        ['base.verbose', '${env:MY_SECRET}'],
        ['ws.get', api.origin, '', 'r'],
        ['ws.assertReturnCode', 'r', '200-204'],
      ],
      { env: { MY_SECRET: secret } },
    );
    expect(last.failure).toMatchObject({ code: 'step_failed', expected: '200-204', actual: '403 Forbidden' });
    expect(last.failure?.message).toMatch(/^r returned HTTP 403 Forbidden: <p>x+/);
    expect(last.failure?.message).not.toContain('the-sec');
    expect(last.failure?.message.length).toBeLessThan(600);
  });

  it('quotes a JSON body with its secrets masked', async () => {
    const api = await ApiServer.start(json({ error: 'denied', refresh_token: 'abcdefgh', code: 'not_found' }, 401));
    const { last } = await runWs([
      ['ws.get', api.origin, '', 'r'],
      ['ws.assertReturnCode', 'r', 200],
    ]);
    expect(last.failure?.message).toBe(
      'r returned HTTP 401 Unauthorized: {"error":"denied","refresh_token":"••••","code":"not_found"}',
    );
  });

  it.each<[WsStep[2]]>([['20'], ['2xx'], ['204-200'], [''], ['200,'], [[200]]])(
    'rejects %j as a status',
    async (codes) => {
      const { last } = await runWs([['ws.assertReturnCode', 'r', codes]], { data: { r: 1 } });
      expect(last.failure?.message).toContain('returnCode');
    },
  );

  it.each([
    ['none', 'not defined'],
    ['text', 'not a response'],
  ])('fails for the variable %s, which is not a response', async (name, message) => {
    const { last } = await runWs([['ws.assertReturnCode', name, 200]], { data: { text: 'x' } });
    expect(last.failure?.message).toContain(message);
  });
});

describe('The report of a request', () => {
  it('has the request and the response with truncated bodies', async () => {
    const api = await ApiServer.start(bytes('☃'.repeat(20_000), 'text/plain'));
    const { last } = await runWs([['ws.post', api.origin, 'y'.repeat(20_000), 'r']]);
    const [exchange] = last.exchanges;
    expect(exchange?.request).toMatchObject({ method: 'POST', url: `${api.origin}/` });
    expect(exchange?.request.headers).toContainEqual(['User-Agent', 'oauth-profile/1.2.3']);
    expect(exchange?.request.body).toBe(`${'y'.repeat(16_384)}… (3616 more characters)`);
    expect(exchange?.response?.body).toMatch(/^☃{16384}… \(\d+ more characters\)$/);
    expect(exchange?.response?.headers).toContainEqual(['content-type', 'text/plain']);
  });

  it.each([
    ['image/png', Buffer.from([0x89, 0x50, 0, 1]), '<4 bytes of image/png>'],
    [undefined, Buffer.from([1, 0, 2]), '<3 bytes of unknown type>'],
    ['text/plain', Buffer.alloc(1_100_000, 'x'), '<1100000 bytes of text/plain>'],
  ])('shows the size of a body of %s', async (type, sent, shown) => {
    const api = await ApiServer.start(bytes(sent, type));
    const { last } = await runWs([['ws.get', api.origin, '', 'r']]);
    expect(last.exchanges[0]?.response?.body).toBe(shown);
  });

  it('masks cookies and the code in a Location header', async () => {
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(302, { 'Set-Cookie': 'sid=1234', Location: 'https://app.test/cb?code=abc1&state=s' }).end();
    });
    const { last, value } = await runWs([['ws.get', api.origin, '', 'r']]);
    const headers = Object.fromEntries(last.exchanges[0]?.response?.headers ?? []);
    expect(headers).toMatchObject({ 'set-cookie': '••••', location: 'https://app.test/cb?code=••••&state=s' });
    expect(value('r.headers.location')).toBe('https://app.test/cb?code=abc1&state=s');
  });

  it('masks a secret that a server echoes before it truncates the body', async () => {
    const secret = 'abcdefghijklmnopqrstuvwxyz0123456789';
    const api = await ApiServer.start(
      bytes(`${'x'.repeat(16_384 - 20)}${secret}`, 'text/plain', { 'X-Echo': `got ${secret}` }),
    );
    const { last, everything } = await runWs(
      [
        ['ws.header', 'X-Api-Key', '${env:MY_SECRET}'],
        ['ws.get', api.origin, '', 'r'],
      ],
      { env: { MY_SECRET: secret } },
    );
    expect(api.sent('x-api-key')).toEqual([secret]);
    expect(everything).not.toContain('abcdefgh');
    expect(Object.fromEntries(last.exchanges[0]?.response?.headers ?? [])['x-echo']).toBe('got ••••');
  });
});

describe('The example of the specification', () => {
  it('passes', async () => {
    const api = await ApiServer.start(routes({ '/v1.0/me': json({ givenName: 'Ada' }) }));
    const { result, directory } = await runWs([
      ['ws.header', 'Accept', 'application/json'],
      ['ws.get', `${api.origin}/v1.0/me`, '', 'me'],
      ['ws.assertReturnCode', 'me', 200],
      ['base.assertEqual', 'Ada', '${me.body.givenName}'],
      ['ws.saveResponsePayload', 'me', 'out/me.json', false],
    ]);
    expect(result.counts).toEqual({ passed: 5, failed: 0, skipped: 0 });
    expect(readFileSync(join(directory, 'out/me.json'), 'utf8')).toBe('{"givenName":"Ada"}');
    expect(api.sent('accept')).toEqual(['application/json']);
  });
});
