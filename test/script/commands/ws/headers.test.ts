import { describe, expect, it } from 'vitest';
import { ApiServer, json, redirect, routes } from '../../../support/api-server.ts';
import { Authority } from '../../../support/certificates.ts';
import { runWs, type WsStep } from '../../../support/run-ws.ts';

const env = { MY_TOKEN: 'token-number-one', OTHER_TOKEN: 'token-number-two' };
const set: WsStep = ['ws.header', 'Authorization', 'Bearer ${env:MY_TOKEN}'];
const bearer = 'Bearer token-number-one';

const authority = new Authority();
const certificate = authority.issue({ name: 'apis', hosts: 'DNS:a.example.test,DNS:b.example.test' });

describe('headers', () => {
  it('go along with every request until they are changed or removed', async () => {
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

  it('replace those that every request has', async () => {
    const api = await ApiServer.start(json({}));
    await runWs([
      ['ws.header', 'user-agent', 'mine'],
      ['ws.header', 'ACCEPT', 'text/csv'],
      ['ws.get', api.origin, '', 'r'],
    ]);
    expect(api.call.headers).toMatchObject({ 'user-agent': 'mine', accept: 'text/csv' });
  });

  it('come from variables, and from members of them', async () => {
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
    ['a line end in the value', ['ws.header', 'X-A', 'a\r\nX-B: 1'], 'has line ends'],
    ['NUL in the value', ['ws.header', 'X-A', 'a\0'], 'has line ends'],
    ['a line end in a secret', ['ws.header', 'X-A', '${env:BAD_TOKEN}'], 'has line ends'],
    ['characters beyond ASCII', ['ws.header', 'X-A', 'Jürgen'], 'beyond ASCII'],
    ['a line end in the name', ['ws.header', 'X-A\r\nX-B', '1'], 'is not the name of a header'],
    ['a colon in the name', ['ws.header', 'X-A:', '1'], 'is not the name of a header'],
    ['no name', ['ws.header', '', '1'], 'is not the name of a header'],
    ['a name from a secret', ['ws.header', '${env:MY_TOKEN}', '1'], 'is not the name of a header'],
    ['Host', ['ws.header', 'Host', 'x'], 'cannot be set'],
    ['Content-Length', ['ws.header', 'content-length', '0'], 'cannot be set'],
    ['Transfer-Encoding', ['ws.header', 'Transfer-Encoding', 'chunked'], 'cannot be set'],
    ['Proxy-Authorization', ['ws.header', 'Proxy-Authorization', 'x'], 'cannot be set'],
    ['a variable that is none', ['ws.headerByVar', 'X-A', 'nothing'], 'there is no variable nothing'],
    ['a variable with parts', ['ws.headerByVar', 'X-A', 'list'], 'has parts'],
    ['a line end in a variable', ['ws.headerByVar', 'X-A', 'lines'], 'has line ends'],
    ['a value with parts', ['ws.header', 'X-A', { a: 1 }], 'value must be text'],
  ])('with %s are refused', async (_what, step, message) => {
    const { last, everything } = await runWs([step], {
      env: { ...env, BAD_TOKEN: 'ends with\n' },
      data: { list: [1], lines: 'a\nb' },
    });
    expect(last.failure?.message).toContain(message);
    expect(everything).not.toContain('ends with');
  });

  it('of a script do not outlive it', async () => {
    const api = await ApiServer.start(json({}));
    await runWs([set, ['ws.header', 'X-A', '1']], { env });
    await runWs([['ws.get', api.origin, '', 'r']], { env });
    expect(api.call.headers).not.toHaveProperty('authorization');
    expect(api.call.headers).not.toHaveProperty('x-a');
  });
});

describe('D20 a header that holds a secret', () => {
  it('goes to the origin of the next request again and again, and nowhere else', async () => {
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
    expect(steps[3]?.output[0]).toBe(
      `Authorization is not sent to ${b.origin}: it is a secret of ${a.origin}; set it again before this step to send it here too`,
    );
    expect(everything).not.toContain('token-number');
  });

  it('is bound to another origin too when it is set again', async () => {
    const [a, b] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    await runWs(
      [set, ['ws.get', a.origin, '', 'r'], set, ['ws.get', b.origin, '', 'r'], ['ws.get', a.origin, '', 'r']],
      { env },
    );
    expect(a.sent('Authorization')).toEqual([bearer, bearer]);
    expect(b.sent('Authorization')).toEqual([bearer]);
  });

  it('has a value of its own for each origin', async () => {
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

  it('differs by scheme and port: an origin is all three', async () => {
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
    ['inside a longer text', ['ws.header', 'X-Any', 'key="${env:MY_TOKEN}", v=1']],
    ['from a variable', ['ws.headerByVar', 'X-Any', 'acme.client_secret']],
    ['by the name Authorization', ['ws.header', 'Authorization', 'Basic dXNlcjpwYXNz']],
    ['by the name Cookie', ['ws.header', 'cookie', 'sid=123']],
    ['by a name such as X-Api-Key', ['ws.header', 'X-Api-Key', 'literal-key']],
  ])('is one %s', async (_what, step) => {
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

  it('gives way to a plain one, which goes everywhere', async () => {
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

  it('is gone everywhere when it is removed', async () => {
    const a = await ApiServer.start(json({}));
    const get: WsStep = ['ws.get', a.origin, '', 'r'];
    const { last } = await runWs([set, get, ['ws.clearHeaders', 'authorization'], get], { env });
    expect(a.sent('Authorization')).toEqual([bearer, undefined]);
    expect(last.output).toEqual([]);
  });

  it('is bound even where the request is never sent', async () => {
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

  it('fails a request over http beyond this machine, and nothing is sent', async () => {
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
      message: 'the header Authorization holds a secret, and http://a.example.test is not encrypted: nothing was sent',
      hint: 'use https:, or remove the header with ws.clearHeaders: [Authorization]',
    });
    expect(api.sent('Authorization')).toEqual([undefined, undefined]);
  });

  it.each<[string, WsStep]>([
    ['the address', ['ws.get', 'http://a.example.test/?k=${env:MY_TOKEN}', '', 'r']],
    ['the address', ['ws.get', 'http://a.example.test/', { k: '${env:MY_TOKEN}' }, 'r']],
    ['the body', ['ws.post', 'http://a.example.test/', { k: ['${env:MY_TOKEN}'] }, 'r']],
    ['the body', ['ws.post', 'http://a.example.test/', 'k=${env:MY_TOKEN}', 'r']],
    ['the body', ['ws.upload', 'http://a.example.test/', { k: '${env:MY_TOKEN}' }, {}, 'r']],
  ])('is like a secret in %s', async (what, step) => {
    const api = await ApiServer.start(json({}));
    const callApi = callApiWith({}, { port: api.port, ca: '' });
    const { last } = await runWs([step], { env, callApi });
    expect(last.failure?.message).toMatch(new RegExp(`^${what} holds a secret`));
    expect(api.sockets).toEqual([]);
  });
});

describe('D20 along a redirect', () => {
  const follow = { followRedirects: true };

  it.each([301, 302, 303, 307, 308])(
    '%i to another origin a secret header is dropped, a plain one is not',
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
      expect(last.output).toEqual([`Authorization is not sent along the redirect to ${target.origin}`]);
      expect(last.exchanges.map(({ response }) => response?.status)).toEqual([status, 200]);
      expect(last.exchanges.map(({ request }) => request.headers.some(([name]) => name === 'Authorization'))).toEqual([
        true,
        false,
      ]);
    },
  );

  it('within an origin it stays', async () => {
    const api = await ApiServer.start(routes({ '/a': redirect(302, '/b?x=1'), '/b?x=1': json({}) }));
    const { last } = await runWs([set, ['ws.get', `${api.origin}/a`, '', 'r', follow]], { env });
    expect(api.sent('Authorization')).toEqual([bearer, bearer]);
    expect(last.output).toEqual([]);
  });

  it('is not sent again when a chain comes back, nor where it is bound as well', async () => {
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

  it('is not followed unless that is asked for', async () => {
    const target = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(302, target.origin));
    for (const options of [[], [{}], [{ followRedirects: false }]]) {
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
  ])('%i turns %s into %s', async (status, from, to, sent) => {
    const api = await ApiServer.start(routes({ '/a': redirect(status, 'b'), '/b': json({}) }));
    await runWs([[`ws.${from.toLowerCase()}`, `${api.origin}/a`, { a: 1 }, 'r', follow]]);
    const [, second] = api.calls;
    expect([second?.method, second?.body.toString()]).toEqual([to, sent]);
    expect(second?.headers['content-type']).toBe(sent === '' ? undefined : 'application/json');
    expect(second?.headers['content-length']).toBe(sent === '' ? undefined : '7');
  });

  it('keeps a HEAD a HEAD', async () => {
    const api = await ApiServer.start(routes({ '/a': redirect(303, '/b'), '/b': json({}) }));
    await runWs([['ws.head', `${api.origin}/a`, 'r', follow]]);
    expect(api.calls.map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
  });

  it('a body with a secret does not go to another origin', async () => {
    const target = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(307, target.origin));
    const { last } = await runWs([['ws.post', api.origin, { p: '${env:MY_TOKEN}' }, 'r', follow]], { env });
    expect(last.failure?.message).toBe(
      `the redirect leads to ${target.origin}, and the body holds a secret: it is not sent there`,
    );
    expect(target.sockets).toEqual([]);
    const plain = await runWs([['ws.post', api.origin, { p: 1 }, 'r', follow]]);
    expect(plain.last.state).toBe('passed');
    expect(target.call.body.toString()).toBe('{"p":1}');
  });

  it('TLS is never left', async () => {
    const api = await ApiServer.start(redirect(302, 'http://b.example.test/x?code=abc123'), certificate);
    const callApi = callApiWith({}, { port: api.port, ca: authority.ca.cert });
    const { last, everything } = await runWs([set, ['ws.get', 'https://a.example.test/', '', 'r', follow]], {
      env,
      callApi,
    });
    expect(last.failure?.message).toBe(
      'https://a.example.test/ redirects to http://b.example.test, which is not encrypted: it is not followed (HTTP 302)',
    );
    expect(api.calls).toHaveLength(1);
    expect(everything).not.toContain('abc123');
  });

  it('over TLS the same rules hold', async () => {
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
    ['a password', 'http://user:pw@127.0.0.1/'],
    ['no address', 'http://[::1'],
    ['a script', 'javascript:alert(1)'],
  ])('to %s cannot be followed', async (_what, location) => {
    const api = await ApiServer.start(redirect(302, location));
    const { last } = await runWs([['ws.get', api.origin, '', 'r', follow]]);
    expect(last.failure?.message).toContain('cannot be followed (HTTP 302)');
  });

  it('ends after ten', async () => {
    const api = await ApiServer.start((call, response) => {
      const hop = Number(call.path?.slice(1));
      if (hop === 0) response.end('home');
      else response.writeHead(302, { Location: `/${hop - 1}` }).end();
    });
    const ten = await runWs([['ws.get', `${api.origin}/10`, '', 'r', follow]]);
    expect(ten.value('r.text')).toBe('home');
    const eleven = await runWs([['ws.get', `${api.origin}/11`, '', 'r', follow]]);
    expect(eleven.last.failure?.message).toContain('redirected more than 10 times');
    expect(eleven.last.exchanges).toHaveLength(11);
  });

  it('without a target is a response like any other', async () => {
    const api = await ApiServer.start((_call, response) => response.writeHead(302).end('?'));
    expect((await runWs([['ws.get', api.origin, '', 'r', follow]])).value('r.status')).toBe(302);
  });

  it('takes its time from the same limit', async () => {
    const api = await ApiServer.start((_call, response) => {
      setTimeout(() => response.writeHead(302, { Location: '/' }).end(), 60);
    });
    const { last } = await runWs([['ws.get', api.origin, '', 'r', { ...follow, timeout: '200ms' }]]);
    expect(last.failure?.code).toBe('timeout');
    expect(api.calls.length).toBeLessThan(8);
  });
});
