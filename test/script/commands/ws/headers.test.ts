import { describe, expect, it } from 'vitest';
import { Authority } from '../../../support/certificates.ts';
import { callApiWith } from '../../../support/ports.ts';
import { ApiServer, json, redirect, routes } from '../../../support/server.ts';
import { runWs, type WsStep } from '../../run-steps.ts';

const env = { MY_TOKEN: 'token-number-one', OTHER_TOKEN: 'token-number-two' };
const set: WsStep = ['ws.header', 'Authorization', 'Bearer ${env:MY_TOKEN}'];
const bearer = 'Bearer token-number-one';

const authority = new Authority();
const certificate = authority.issue({ name: 'apis', hosts: 'DNS:a.example.test,DNS:b.example.test' });

describe('Headers', () => {
  it('are sent with every request until they are changed or removed', async () => {
    const api = await ApiServer.start(json({}));
    const get: WsStep = ['ws.get', api.origin, '', 'r'];
    const { result } = await runWs([
      ['ws.header', 'X-One', '1'],
      get,
      ['ws.header', 'x-one', '2'],
      ['ws.header', 'X-Empty', ''],
      ['ws.header', 'X-Two', 'a b\tc'],
      get,
      ['ws.clearHeaders', 'X-ONE, X-None'],
      get,
      ['ws.clearHeaders', ['*']],
      get,
    ]);
    expect(result.state).toBe('passed');
    expect(api.sent('X-One')).toEqual(['1', '2', undefined, undefined]);
    expect(api.sent('X-Two')).toEqual([undefined, 'a b\tc', 'a b\tc', undefined]);
    expect(api.sent('X-Empty')).toEqual([undefined, '', '', undefined]);
    expect(api.sent('User-Agent')).toEqual(Array(4).fill('oauth-profile/1.2.3'));
    expect(api.calls[1]?.rawHeaders.filter((name) => name.toLowerCase() === 'x-one')).toEqual(['x-one']);
  });

  it('replace the default headers', async () => {
    const api = await ApiServer.start(json({}));
    await runWs([
      ['ws.header', 'user-agent', 'mine'],
      ['ws.header', 'ACCEPT', 'text/csv'],
      ['ws.get', api.origin, '', 'r'],
    ]);
    expect(api.call.headers).toMatchObject({ 'user-agent': 'mine', accept: 'text/csv' });
  });

  it('are set from variables and their members', async () => {
    const api = await ApiServer.start(json({ list: [{ id: 7 }] }));
    const { result } = await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.headerByVar', 'X-A', 'plain'],
        ['ws.headerByVar', 'X-B', 'r.body.list[0].id'],
        ['ws.headerByVar', 'X-C', 'r.headers.Content-Type'],
        ['ws.headerByVar', 'X-D', 'acme.client_id'],
        ['ws.get', api.origin, '', 's'],
      ],
      { data: { plain: 'text', 'acme.client_id': 'ci' } },
    );
    expect(result.state).toBe('passed');
    expect(api.calls[1]?.headers).toMatchObject({ 'x-a': 'text', 'x-b': '7', 'x-c': 'application/json', 'x-d': 'ci' });
  });

  it.each<[string, WsStep, string]>([
    ['a line break in the value', ['ws.header', 'X-A', 'a\r\nX-B: 1'], 'line breaks'],
    ['NUL in the value', ['ws.header', 'X-A', 'a\0'], 'line breaks'],
    ['a line break in a secret', ['ws.header', 'X-A', '${env:BAD_TOKEN}'], 'line breaks'],
    ['non-ASCII characters', ['ws.header', 'X-A', 'Jürgen'], 'non-ASCII'],
    ['a line break in the name', ['ws.header', 'X-A\r\nX-B', '1'], 'invalid header name'],
    ['a colon in the name', ['ws.header', 'X-A:', '1'], 'invalid header name'],
    ['an empty name', ['ws.header', '', '1'], 'invalid header name'],
    ['a name from a secret', ['ws.header', '${env:MY_TOKEN}', '1'], 'invalid header name'],
    ['Host', ['ws.header', 'Host', 'x'], 'cannot be set'],
    ['Content-Length', ['ws.header', 'content-length', '0'], 'cannot be set'],
    ['Transfer-Encoding', ['ws.header', 'Transfer-Encoding', 'chunked'], 'cannot be set'],
    ['Proxy-Authorization', ['ws.header', 'Proxy-Authorization', 'x'], 'cannot be set'],
    ['an undefined variable', ['ws.headerByVar', 'X-A', 'nothing'], 'nothing is not defined'],
    ['a variable with a list', ['ws.headerByVar', 'X-A', 'list'], 'is a list or map'],
    ['a line break in a variable', ['ws.headerByVar', 'X-A', 'lines'], 'line breaks'],
    ['a map as value', ['ws.header', 'X-A', { a: 1 }], 'value must be a string'],
  ])('are rejected for %s', async (_what, step, message) => {
    const { last, everything } = await runWs([step], {
      env: { ...env, BAD_TOKEN: 'bad-token\n' },
      data: { list: [1], lines: 'a\nb' },
    });
    expect(last.failure?.message).toContain(message);
    expect(everything).not.toContain('bad-token');
  });

  it('are not shared between scripts', async () => {
    const api = await ApiServer.start(json({}));
    await runWs([set, ['ws.header', 'X-A', '1']], { env });
    await runWs([['ws.get', api.origin, '', 'r']], { env });
    expect(api.call.headers).not.toHaveProperty('authorization');
    expect(api.call.headers).not.toHaveProperty('x-a');
  });
});

describe('D20 a header with a secret', () => {
  it('is sent only to the origin of the next request', async () => {
    const [a, b] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    const { steps, result, everything } = await runWs(
      [
        set,
        ['ws.get', `${a.origin}/1`, '', 'r'],
        ['ws.post', `${a.origin}/2`, 'x', 'r'],
        ['ws.get', b.origin, '', 'r'],
        ['ws.get', a.origin, '', 'r'],
      ],
      { env },
    );
    expect(result.state).toBe('passed');
    expect(a.sent('Authorization')).toEqual([bearer, bearer, bearer]);
    expect(b.sent('Authorization')).toEqual([undefined]);
    expect(steps.map(({ output }) => output.length)).toEqual([0, 0, 0, 1, 0]);
    expect(steps[3]?.output[0]).toContain(a.origin);
    expect(everything).not.toContain('token-number');
  });

  it.each<[string, WsStep]>([
    ['an undefined variable in its URL', ['ws.get', '${not_defined}/x', '', 'r']],
    ['an undefined variable in its query', ['ws.get', 'https://a.example.test', 'q=${not_defined}', 'r']],
    ['an undefined variable in its body', ['ws.post', 'https://a.example.test', '${not_defined}', 'r']],
    ['an invalid URL', ['ws.get', 'a.example.test', '', 'r']],
    ['a URL with a password', ['ws.get', 'https://a:b@a.example.test', '', 'r']],
  ])('is dropped if the next request fails because of %s', async (_what, request) => {
    const b = await ApiServer.start(json({}));
    const [command, ...parameters] = request;
    const failing: WsStep = [`!${command}`, ...parameters];
    const { steps, everything } = await runWs([set, failing, ['ws.get', b.origin, '', 'r']], { env });
    expect(b.sent('Authorization')).toEqual([undefined]);
    expect(steps[1]?.output).toEqual([expect.stringMatching(/^Authorization is removed/)]);
    expect(everything).not.toContain('token-number');
  });

  it('stays bound to the origins of earlier requests if a request fails before its URL is known', async () => {
    const a = await ApiServer.start(json({}));
    const get: WsStep = ['ws.get', a.origin, '', 'r'];
    const other: WsStep = ['ws.header', 'Authorization', 'Bearer ${env:OTHER_TOKEN}'];
    await runWs([set, get, other, ['!ws.get', '${not_defined}', '', 'r'], get], { env });
    expect(a.sent('Authorization')).toEqual([bearer, bearer]);
  });

  it('is bound to another origin too if it is set again', async () => {
    const [a, b] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    await runWs(
      [set, ['ws.get', a.origin, '', 'r'], set, ['ws.get', b.origin, '', 'r'], ['ws.get', a.origin, '', 'r']],
      { env },
    );
    expect(a.sent('Authorization')).toEqual([bearer, bearer]);
    expect(b.sent('Authorization')).toEqual([bearer]);
  });

  it('has one value per origin', async () => {
    const [a, b] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    await runWs(
      [
        set,
        ['ws.get', a.origin, '', 'r'],
        ['ws.header', 'authorization', 'Bearer ${env:OTHER_TOKEN}'],
        ['ws.get', b.origin, '', 'r'],
        ['ws.get', a.origin, '', 'r'],
        ['ws.header', 'Authorization', 'Bearer ${env:OTHER_TOKEN}'],
        ['ws.get', a.origin, '', 'r'],
      ],
      { env },
    );
    expect(a.sent('Authorization')).toEqual([bearer, bearer, 'Bearer token-number-two']);
    expect(b.sent('Authorization')).toEqual(['Bearer token-number-two']);
  });

  it('is not sent to the same port of another host name', async () => {
    const api = await ApiServer.start(json({}));
    const { last } = await runWs(
      [set, ['ws.get', `http://localhost:${api.port}/`, '', 'r'], ['ws.get', api.origin, '', 'r']],
      { env },
    );
    expect(api.sent('Authorization')).toEqual([bearer, undefined]);
    expect(last.output).toHaveLength(1);
  });

  it.each<[string, WsStep]>([
    ['from an environment variable', ['ws.header', 'X-Any', '${env:MY_TOKEN}']],
    ['inside a longer string', ['ws.header', 'X-Any', 'key="${env:MY_TOKEN}", v=1']],
    ['from a variable', ['ws.headerByVar', 'X-Any', 'acme.client_secret']],
    ['by the name Authorization', ['ws.header', 'Authorization', 'Basic dXNlcjpwYXNz']],
    ['by the name Cookie', ['ws.header', 'cookie', 'sid=123']],
    ['by a name such as X-Api-Key', ['ws.header', 'X-Api-Key', 'literal-key']],
  ])('is recognized %s', async (_what, step) => {
    const [a, b] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    const { last, everything } = await runWs([step, ['ws.get', a.origin, '', 'r'], ['ws.get', b.origin, '', 'r']], {
      env,
      data: { 'acme.client_secret': 'secret-of-acme' },
    });
    const name = String(step[1]);
    expect(a.sent(name)[0]).toEqual(expect.any(String));
    expect(b.sent(name)).toEqual([undefined]);
    expect(last.output).toHaveLength(1);
    expect(everything).not.toMatch(/token-number|dXNlcjpwYXNz|secret-of-acme|literal-key|sid=123/);
  });

  it('is replaced by a plain value, which is sent everywhere', async () => {
    const [a, b] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    await runWs(
      [
        ['ws.header', 'X-Any', '${env:MY_TOKEN}'],
        ['ws.get', a.origin, '', 'r'],
        ['ws.header', 'X-Any', 'plain'],
        ['ws.get', a.origin, '', 'r'],
        ['ws.get', b.origin, '', 'r'],
      ],
      { env },
    );
    expect([a.sent('X-Any'), b.sent('X-Any')]).toEqual([['token-number-one', 'plain'], ['plain']]);
  });

  it('is removed for all origins', async () => {
    const a = await ApiServer.start(json({}));
    const get: WsStep = ['ws.get', a.origin, '', 'r'];
    const { last } = await runWs([set, get, ['ws.clearHeaders', 'authorization'], get], { env });
    expect(a.sent('Authorization')).toEqual([bearer, undefined]);
    expect(last.output).toEqual([]);
  });

  it('is bound even if the request is never sent', async () => {
    const [a, b] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    const { steps } = await runWs(
      [
        set,
        ['!ws.put', a.origin, '@missing.json', 'r'],
        ['ws.get', b.origin, '', 'r'],
        set,
        ['!ws.get', a.origin, '', 'r', { nonsense: 1 }],
        ['ws.get', b.origin, '', 'r'],
      ],
      { env },
    );
    expect(steps.map(({ state }) => state)).toEqual(['passed', 'failed', 'passed', 'passed', 'failed', 'passed']);
    expect(b.sent('Authorization')).toEqual([undefined, undefined]);
  });

  it('fails a request over plain HTTP to another host before anything is sent', async () => {
    const api = await ApiServer.start(json({}));
    const callApi = callApiWith({}, { port: api.port, ca: '' });
    const { steps } = await runWs(
      [
        set,
        ['!ws.get', 'http://a.example.test/', '', 'r'],
        ['!ws.get', 'http://a.example.test/', '', 'r'],
        ['!ws.get', 'http://b.example.test/', '', 'r'],
        ['!ws.clearHeaders', '*'],
        ['!ws.get', 'http://a.example.test/', '', 'r'],
      ],
      { env, callApi },
    );
    expect(steps.map(({ state }) => state)).toEqual(['passed', 'failed', 'failed', 'passed', 'passed', 'passed']);
    expect(steps[1]?.failure).toMatchObject({
      code: 'step_failed',
      message: expect.stringContaining('the header Authorization contains a secret'),
      hint: expect.stringContaining('ws.clearHeaders: [Authorization]'),
    });
    expect(api.sent('Authorization')).toEqual([undefined, undefined]);
  });

  it.each<[string, WsStep]>([
    ['the URL', ['ws.get', 'http://a.example.test/?k=${env:MY_TOKEN}', '', 'r']],
    ['the URL', ['ws.get', 'http://a.example.test/', { k: '${env:MY_TOKEN}' }, 'r']],
    ['the body', ['ws.post', 'http://a.example.test/', { k: ['${env:MY_TOKEN}'] }, 'r']],
    ['the body', ['ws.post', 'http://a.example.test/', 'k=${env:MY_TOKEN}', 'r']],
    ['the body', ['ws.upload', 'http://a.example.test/', { k: '${env:MY_TOKEN}' }, {}, 'r']],
  ])('is treated like a secret in %s', async (what, step) => {
    const api = await ApiServer.start(json({}));
    const callApi = callApiWith({}, { port: api.port, ca: '' });
    const { last } = await runWs([step], { env, callApi });
    expect(last.failure?.message).toMatch(new RegExp(`^${what} contains a secret`));
    expect(api.sockets).toEqual([]);
  });
});

describe('D20 a redirect', () => {
  const follow = { redirects: 10 };

  it.each([301, 302, 303, 307, 308])(
    '%i to another origin drops a secret header but not a plain one',
    async (status) => {
      const target = await ApiServer.start(json({ there: true }));
      const api = await ApiServer.start(redirect(status, `${target.origin}/there`));
      const { last, value } = await runWs(
        [set, ['ws.header', 'X-Plain', 'p'], ['ws.get', api.origin, '', 'r', follow]],
        { env },
      );
      expect(value('r.body')).toEqual({ there: true });
      expect(api.sent('Authorization')).toEqual([bearer]);
      expect(target.call).toMatchObject({ method: 'GET', path: '/there', headers: { 'x-plain': 'p' } });
      expect(target.call.headers).not.toHaveProperty('authorization');
      expect(last.output).toEqual([expect.stringMatching(`Authorization .*${target.origin}`)]);
      expect(last.exchanges.map(({ response }) => response?.status)).toEqual([status, 200]);
      expect(last.exchanges.map(({ request }) => request.headers.some(([name]) => name === 'Authorization'))).toEqual([
        true,
        false,
      ]);
    },
  );

  it('within an origin preserves a secret header', async () => {
    const api = await ApiServer.start(routes({ '/a': redirect(302, '/b?x=1'), '/b?x=1': json({}) }));
    const { last } = await runWs([set, ['ws.get', `${api.origin}/a`, '', 'r', follow]], { env });
    expect(api.sent('Authorization')).toEqual([bearer, bearer]);
    expect(last.output).toEqual([]);
  });

  it('drops a secret header for good, even when it returns to a bound origin', async () => {
    const b = await ApiServer.start((_call, response) =>
      response.writeHead(302, { Location: `${a.origin}/back` }).end(),
    );
    const a: ApiServer = await ApiServer.start((call, response) => {
      if (call.path === '/back') response.end('back');
      else response.writeHead(302, { Location: b.origin }).end();
    });
    const { value } = await runWs(
      [set, ['ws.get', b.origin, '', 'r'], set, ['ws.get', `${a.origin}/start`, '', 'r', follow]],
      { env },
    );
    expect(value('r.text')).toBe('back');
    expect(a.sent('Authorization')).toEqual([bearer, undefined]);
    expect(b.sent('Authorization')).toEqual([bearer, undefined]);
  });

  it('is not followed by default', async () => {
    const target = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(302, target.origin));
    for (const options of [[], [{}], [{ redirects: 0 }]]) {
      const { value } = await runWs([['ws.get', api.origin, '', 'r', ...options]]);
      expect(value('r.status')).toBe(302);
    }
    expect(target.sockets).toEqual([]);
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [307, 'POST', 'POST', '{"a":1}'],
    [308, 'POST', 'POST', '{"a":1}'],
    [301, 'PUT', 'PUT', '{"a":1}'],
    [302, 'DELETE', 'DELETE', '{"a":1}'],
    [303, 'PUT', 'GET', ''],
  ])('%i changes %s to %s', async (status, from, to, sent) => {
    const api = await ApiServer.start(routes({ '/a': redirect(status, 'b'), '/b': json({}) }));
    await runWs([[`ws.${from.toLowerCase()}`, `${api.origin}/a`, { a: 1 }, 'r', follow]]);
    const [, second] = api.calls;
    expect([second?.method, second?.body.toString()]).toEqual([to, sent]);
    expect(second?.headers['content-type']).toBe(sent === '' ? undefined : 'application/json');
    expect(second?.headers['content-length']).toBe(sent === '' ? undefined : '7');
  });

  it('does not change HEAD', async () => {
    const api = await ApiServer.start(routes({ '/a': redirect(303, '/b'), '/b': json({}) }));
    await runWs([['ws.head', `${api.origin}/a`, 'r', follow]]);
    expect(api.calls.map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
  });

  it('does not send a body with a secret to another origin', async () => {
    const target = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(307, target.origin));
    const { last } = await runWs([['ws.post', api.origin, { p: '${env:MY_TOKEN}' }, 'r', follow]], { env });
    expect(last.failure?.message).toContain('the body contains a secret');
    expect(target.sockets).toEqual([]);
    const plain = await runWs([['ws.post', api.origin, { p: 1 }, 'r', follow]]);
    expect(plain.last.state).toBe('passed');
    expect(target.call.body.toString()).toBe('{"p":1}');
  });

  it('from https to http is not followed', async () => {
    const api = await ApiServer.start(redirect(302, 'http://b.example.test/x?code=abc123&state=s'), certificate);
    const callApi = callApiWith({}, { port: api.port, ca: authority.ca.cert });
    const { last, everything } = await runWs([set, ['ws.get', 'https://a.example.test/', '', 'r', follow]], {
      env,
      callApi,
    });
    expect(last.failure?.message).toContain('http://b.example.test, which is not encrypted');
    expect(api.calls).toHaveLength(1);
    expect(everything).not.toContain('abc123');
  });

  it('over TLS drops a secret header too', async () => {
    const api = await ApiServer.start((call, response) => {
      if (call.headers.host === 'a.example.test')
        response.writeHead(307, { Location: 'https://b.example.test/' }).end();
      else response.end('b');
    }, certificate);
    const callApi = callApiWith({}, { port: api.port, ca: authority.ca.cert });
    const { value } = await runWs([set, ['ws.get', 'https://a.example.test:443/', '', 'r', follow]], { env, callApi });
    expect(value('r.text')).toBe('b');
    expect(api.sent('Authorization')).toEqual([bearer, undefined]);
  });

  it.each([
    ['another scheme', 'ftp://a.example.test/'],
    ['a URL with a password', 'http://user:pw@127.0.0.1/'],
    ['an invalid URL', 'http://[::1'],
    ['a javascript URL', 'javascript:alert(1)'],
  ])('to %s is rejected', async (_what, location) => {
    const api = await ApiServer.start(redirect(302, location));
    const { last } = await runWs([['ws.get', api.origin, '', 'r', follow]]);
    expect(last.failure?.message).toContain('invalid URL (HTTP 302)');
  });

  it('is followed at most ten times', async () => {
    const api = await ApiServer.start((call, response) => {
      const hop = Number(call.path?.slice(1));
      if (hop === 0) response.end('home');
      else response.writeHead(302, { Location: `/${hop - 1}` }).end();
    });
    const ten = await runWs([['ws.get', `${api.origin}/10`, '', 'r', follow]]);
    expect(ten.value('r.text')).toBe('home');
    const eleven = await runWs([['ws.get', `${api.origin}/11`, '', 'r', follow]]);
    expect(eleven.last.failure?.message).toContain('more than 10 redirects');
    expect(eleven.last.exchanges).toHaveLength(11);
  });

  it('without Location is a normal response', async () => {
    const api = await ApiServer.start((_call, response) => response.writeHead(302).end('?'));
    expect((await runWs([['ws.get', api.origin, '', 'r', follow]])).value('r.status')).toBe(302);
  });

  it('shares the timeout of the request', async () => {
    const api = await ApiServer.start((_call, response) => {
      setTimeout(() => response.writeHead(302, { Location: '/' }).end(), 60);
    });
    const { last } = await runWs([['ws.get', api.origin, '', 'r', { ...follow, timeout: '200ms' }]]);
    expect(last.failure?.code).toBe('timeout');
    expect(api.calls.length).toBeLessThan(8);
  });
});
