import { describe, expect, it } from 'vitest';
import { Authority } from '../../../support/certificates.ts';
import { type ApiHandler, ApiServer, bytes, json, redirect, routes } from '../../../support/server.ts';
import { issuesInText, runText } from '../../run-text.ts';

const echo: ApiHandler = ({ body, headers }, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ body: body.toString(), type: headers['content-type'], cookie: headers.cookie }));
};

describe('A form', () => {
  it('is sent if that is the Content-Type of the script', async () => {
    const api = await ApiServer.start(echo);
    const { steps } = await runText(`
data: {user: "a b&c=ü", client_secret: a-client-secret}
steps:
  - ws.header: [Content-Type, "Application/x-www-form-urlencoded; charset=utf-8"]
  - ws.post: ["${api.origin}", {user: "\${user}", n: 007, tags: [x, y], password: not-shown, s: "\${client_secret}"}, r]
  - ws.post: ["${api.origin}", [1], r]
`);
    const [form, list] = api.calls.map(({ body }) => body.toString());
    expect(form).toBe('user=a+b%26c%3D%C3%BC&n=007&tags=x&tags=y&password=not-shown&s=a-client-secret');
    expect(list).toBe('[1]');
    expect(steps[1]?.exchanges[0]?.request.body).toBe('user=a+b%26c%3D%C3%BC&n=007&tags=x&tags=y&password=••••&s=••••');
  });

  it('is sent by ws.postForm, whatever the Content-Type of the script', async () => {
    const api = await ApiServer.start(echo);
    const { steps, everything } = await runText(`
steps:
  - ws.header: [Content-Type, application/json]
  - ws.postForm: ["${api.origin}/introspect", {token: opaque-token-1, kind: access}, r]
  - ws.postForm: {url: "${api.origin}", fields: "a=1\\nb=x y", var: r}
`);
    expect(api.calls.map(({ body, headers }) => [body.toString(), headers['content-type']])).toEqual([
      ['token=opaque-token-1&kind=access', 'application/x-www-form-urlencoded'],
      ['a=1&b=x+y', 'application/x-www-form-urlencoded'],
    ]);
    expect(steps[1]?.exchanges[0]?.request.body).toBe('token=••••&kind=access');
    expect(everything).not.toMatch(/"request":[^}]*opaque-token-1/);
  });

  it('with a map in a field fails', async () => {
    const { failures } = await runText('steps: [{ws.postForm: ["https://127.0.0.1:9", {a: {b: 1}}, r]}]');
    expect(failures).toEqual(['body: a is a list or map and cannot be a form field']);
  });
});

describe('A body from a file', () => {
  it('is sent as it is, or as a template after its references were resolved', async () => {
    const api = await ApiServer.start(echo);
    const files = { 'order.json': '{"user": "${user}", "cost": "$${5}"}' };
    const { failures } = await runText(
      `
data: {user: ada, "@template:order.json": x}
steps:
  - ws.post: ["${api.origin}", "@order.json", r]
  - ws.post: ["${api.origin}", "@template:order.json", r]
  - base.save: [path, "@template:order.json"]
  - ws.post: ["${api.origin}", "\${path}", r]
`,
      { files },
    );
    expect(failures).toEqual([]);
    expect(api.calls.map(({ body, headers }) => [body.toString(), headers['content-type']])).toEqual([
      ['{"user": "${user}", "cost": "$${5}"}', 'application/json'],
      ['{"user": "ada", "cost": "${5}"}', 'application/json'],
      ['@template:order.json', 'text/plain;charset=UTF-8'],
    ]);
  });

  it('fails for an undefined variable in a template', async () => {
    const { failures } = await runText('steps: [{ws.post: ["https://127.0.0.1:9", "@template:a.txt", r]}]', {
      files: { 'a.txt': '${unknown_user}' },
    });
    expect(failures).toEqual(['unknown_user is not defined']);
  });
});

describe('A number in a body', () => {
  it('keeps its digits; what is not a JSON number is a string', async () => {
    const api = await ApiServer.start(echo);
    await runText(`
data: {zip: 01234}
steps:
  - ws.post: ["${api.origin}", {zip: 01234, hex: 0x1F, big: 1234567890123456789, one: 1.0, yes: True, ref: "\${zip}"}, r]
`);
    expect(api.call.body.toString()).toBe(
      '{"zip":"01234","hex":"0x1F","big":1234567890123456789,"one":1.0,"yes":true,"ref":"01234"}',
    );
  });
});

describe('cookies: true', () => {
  const server: ApiHandler = (call, response) => {
    const cookies: Record<string, string[]> = {
      '/set': ['a=1; Path=/; HttpOnly', 'b=two=2; Path=/deep', 'c=3; Secure; Path=/', 'bad', 'd=4; Max-Age=0'],
      '/drop': ['a=; Max-Age=0; Path=/', 'e=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT'],
    };
    response.setHeader('Set-Cookie', cookies[call.path ?? ''] ?? []);
    echo(call, response);
  };

  it('stores cookies and sends them to their origin and path', async () => {
    const [api, other] = [await ApiServer.start(server), await ApiServer.start(server)];
    const { steps, everything } = await runText(`
cookies: true
steps:
  - ws.get: {url: "${api.origin}/set", var: r}
  - ws.get: {url: "${api.origin}/", var: r}
  - ws.get: {url: "${api.origin}/deep/x", var: r}
  - ws.get: {url: "${other.origin}/", var: r}
  - ws.get: {url: "${api.origin}/drop", var: r}
  - ws.get: {url: "${api.origin}/deeper", var: r}
  - ws.header: [Cookie, mine=1]
  - ws.get: {url: "${api.origin}/", var: r}
`);
    // Loopback counts as secure.
    expect(api.sent('Cookie')).toEqual([undefined, 'a=1; c=3', 'b=two=2; a=1; c=3', 'a=1; c=3', 'c=3', 'mine=1']);
    expect(other.sent('Cookie')).toEqual([undefined]);
    expect(steps[2]?.exchanges[0]?.request.headers).toContainEqual(['Cookie', '••••']);
    expect(everything).not.toContain('"Cookie","b=two');
  });

  it('are not stored without it', async () => {
    const api = await ApiServer.start(server);
    await runText(`steps: [{ws.get: {url: "${api.origin}/set", var: r}}, {ws.get: {url: "${api.origin}/", var: r}}]`);
    expect(api.sent('Cookie')).toEqual([undefined, undefined]);
  });

  it('applies to each redirect', async () => {
    const api = await ApiServer.start(
      routes({
        '/a': (_, response) => response.writeHead(302, { Location: '/b', 'Set-Cookie': 's=1' }).end(),
        '/b': echo,
      }),
    );
    await runText(`cookies: true\nredirects: 1\nsteps: [{ws.get: {url: "${api.origin}/a", var: r}}]`);
    expect(api.sent('Cookie')).toEqual([undefined, 's=1']);
  });
});

describe('Settings of requests', () => {
  it('apply to the whole script, and a request overrides them', async () => {
    const api = await ApiServer.start(routes({ '/1': redirect(302, '/2'), '/2': redirect(302, '/3'), '/3': json({}) }));
    const { steps, failures } = await runText(`
redirects: 2
steps:
  - ws.get: {url: "${api.origin}/1", var: a}
  - ws.assertReturnCode: [a, 200]
  - ws.get: {url: "${api.origin}/1", var: b, options: {redirects: 0}}
  - ws.assertReturnCode: [b, 302]
  - ws.get: {url: "${api.origin}/1", var: c, options: {redirects: 1}}
`);
    expect(steps.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed', 'passed', 'failed']);
    expect(failures).toEqual([`${api.origin}/2: more than 1 redirects`]);
  });

  it('limit the time of a request', async () => {
    const api = await ApiServer.start(() => {});
    const { failures } = await runText(`timeout: 50ms\nsteps: [{ws.get: {url: "${api.origin}", var: a}}]`);
    expect(failures[0]).toContain('within 50 ms');
  });

  it('trust a private authority and send a client certificate', async () => {
    const authority = new Authority();
    const server = authority.issue({ name: 'api', hosts: 'IP:127.0.0.1' });
    const api = await ApiServer.start(json({ ok: true }), server);
    const client = authority.issue({ name: 'client', hosts: 'DNS:client' });
    const files = { 'tls/ca.pem': authority.ca.cert, 'tls/client.pem': `${client.cert}\n${client.key}` };
    const get = `ws.get: {url: "${api.origin}", var: r}`;
    const script = (settings: string) => `${settings}\nsteps: [{${get}}]`;
    expect((await runText(script(''), { files })).result.state).toBe('failed');
    expect((await runText(script('ca_file: tls/ca.pem'), { files })).failures).toEqual([]);
    expect((await runText(script('ca_file: tls/ca.pem\ncert_file: tls/client.pem'), { files })).failures).toEqual([]);
    const single = `steps: [{ws.get: {url: "${api.origin}", var: r, options: {ca_file: tls/ca.pem}}}]`;
    expect((await runText(single, { files })).failures).toEqual([]);
    const inner = { ...files, 'sub/get.yaml': `steps: [{${get}}]` };
    expect((await runText('ca_file: tls/ca.pem\nsteps: [{run: sub/get.yaml}]', { files: inner })).failures).toEqual([]);
    expect((await runText(script('ca_file: tls/none.pem'), { files })).failures[0]).toContain('none.pem');
  });

  it.each([
    ['redirects: many', 'redirects must be an integer from 0 to 50'],
    ['timeout: soon', 'timeout must be a duration such as 500ms, 10s or 2m'],
    ['cookies: 1', 'cookies must be true or false'],
    ['ca_file: "${x}"', 'ca_file must be the path of a file, without references'],
    ['tags: [a, ""]', 'tags must be names, as a list or separated by commas'],
  ])('are validated before anything runs: %s', async (key, message) => {
    const [issue = ''] = await issuesInText(`${key}\nsteps: [{base.verbose: x}]`);
    expect(issue).toMatch(new RegExp(`^main\\.yaml:1:\\d+ ${message}$`));
  });

  it('of one request are validated before anything runs', async () => {
    expect(await issuesInText('steps:\n  - ws.get: {url: a, var: b, options: {timeot: 1s}}')).toEqual([
      expect.stringMatching(/^main\.yaml:2:\d+ options must be a map of redirects, .*: did you mean timeout\?$/),
    ]);
  });
});

describe('Connections', () => {
  it('are reused within a script', async () => {
    const api = await ApiServer.start(json({}));
    const get = `{ws.get: {url: "${api.origin}", var: r}}`;
    const post = `{ws.post: {url: "${api.origin}", body: {a: 1}, var: r}}`;
    await runText(`steps: [${[get, get, post, get, post].join(', ')}]`);
    expect(api.calls).toHaveLength(5);
    expect(api.sockets).toHaveLength(1);
  });

  it('that the server has closed are replaced', async () => {
    const api = await ApiServer.start((_, response) => {
      response.writeHead(200, { 'Content-Length': '2' }).end('{}');
      // Closes the connection without an announcement.
      response.socket?.end();
    });
    const { failures } = await runText(`steps: [{forEach: {n: 1..20}, ws.get: {url: "${api.origin}", var: r}}]`);
    expect(failures).toEqual([]);
    expect(api.sockets.length).toBeGreaterThan(1);
  });
});

describe('A response', () => {
  it('has its headers and time asserted', async () => {
    const api = await ApiServer.start(bytes('x', 'text/plain', { 'X-Rate': '10', 'Set-Cookie': 'a=1' }));
    const { steps } = await runText(`
steps:
  - ws.get: {url: "${api.origin}", var: r}
  - {ws.assertHeader: [r, x-rate, 10], continueOnFailure: true}
  - {ws.assertHeader: [r, X-Rate, 11], continueOnFailure: true}
  - {ws.assertHeader: [r, X-None, 11], continueOnFailure: true}
  - {ws.assertTime: [r, 60000], continueOnFailure: true}
  - {ws.assertTime: [r, -1], continueOnFailure: true}
  - {ws.assertTime: [none, 1], continueOnFailure: true}
`);
    expect(steps.map(({ state }) => state)).toEqual([
      'passed',
      'passed',
      'failed',
      'failed',
      'passed',
      'failed',
      'failed',
    ]);
    expect(steps[2]?.failure).toMatchObject({ expected: '11', actual: '10' });
    expect(steps[3]?.failure?.message).toBe('the response has no header X-None');
    expect(steps[5]?.failure).toMatchObject({ message: 'the response took too long', expected: 'at most -1 ms' });
  });

  it('in CSV has rows', async () => {
    const api = await ApiServer.start(bytes('id,name\n1,"Hopper, Grace"\n', 'text/csv; charset=utf-8'));
    const { failures } = await runText(`
steps:
  - ws.get: {url: "${api.origin}", var: r}
  - base.assertEqual: ["Hopper, Grace", "\${r.body[0].name}"]
  - json.assertElementCount: ["\${r.body}", "$", 1]
`);
    expect(failures).toEqual([]);
  });

  it('in CSV that is invalid is a string', async () => {
    const api = await ApiServer.start(bytes('a\n"x', 'text/csv'));
    const { output } = await runText(`steps: [{ws.get: {url: "${api.origin}", var: r}}, {base.verbose: "\${r.body}"}]`);
    expect(output).toEqual(['a\n"x']);
  });
});
