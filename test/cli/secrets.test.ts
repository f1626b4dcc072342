import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../support/cli.ts';
import { encodingsOf, leaksIn } from '../support/leaks.ts';
import { startTokenServer, type TokenServer } from '../support/server.ts';

const canary = (name: string): string => `c4n4ry ${name}/+~"'<&>%2B\\é漢😀$x-_.!*()`;
const secretFields = [
  'client_secret',
  'password',
  'refresh_token',
  'access_token',
  'id_token',
  'assertion',
  'client_assertion',
  'subject_token',
  'actor_token',
  'code',
  'device_code',
  'my_apiKey',
  'api-key',
  'PRIVATE_thing',
  'aws_credentials',
];
const sent = Object.fromEntries(secretFields.map((field) => [field, canary(field)]));
const issued = {
  access_token: 'c4n4ry-issued-access',
  refresh_token: 'c4n4ry-issued-refresh',
  id_token: 'c4n4ry-issued-id',
  device_secret: 'c4n4ry-issued-device',
};
const basicPassword = canary('client_secret_basic');
const proxyPassword = 'c4n4ry-proxy-password';
const all = [...Object.values(sent), basicPassword, proxyPassword, ...Object.values(issued)];

/** The responses of the server by path. They contain the whole request in many encodings. */
const responses: Record<string, (echo: string) => { status: number; headers?: Record<string, string>; body: string }> =
  {
    ok: () => ({
      status: 200,
      body: JSON.stringify({
        token_type: 'Bearer',
        expires_in: 60,
        nested: { client_secret: issued.device_secret },
        ...issued,
      }),
    }),
    form: () => ({ status: 200, body: new URLSearchParams(issued).toString() }),
    rejected: (echo) => ({
      status: 400,
      headers: { 'x-request-id': echo.slice(0, 60) },
      body: JSON.stringify({ error: echo.slice(0, 90), error_description: echo, suberror: echo, error_codes: [echo] }),
    }),
    invalid_grant: (echo) => ({
      status: 400,
      body: JSON.stringify({ error: 'invalid_grant', error_description: echo }),
    }),
    okta: (echo) => ({
      status: 401,
      body: JSON.stringify({ errorCode: 'E0000011', errorSummary: echo, errorId: echo }),
    }),
    x: (echo) => ({ status: 403, body: JSON.stringify({ errors: [{ code: 99, label: echo, message: echo }] }) }),
    text: (echo) => ({ status: 403, body: `no: ${echo}` }),
    html: (echo) => ({ status: 403, body: `<html><title>${echo}</title></html>` }),
    html200: (echo) => ({ status: 200, body: `<html><title>${echo}</title></html>` }),
    redirect: (echo) => ({
      status: 302,
      headers: {
        location: `https://elsewhere.example/${encodeURIComponent(echo.slice(0, 200))}?${encodeURIComponent(echo.slice(0, 200))}`,
      },
      body: echo,
    }),
    throttled: (echo) => ({ status: 429, headers: { 'retry-after': '9999' }, body: echo }),
    broken: (echo) => ({ status: 503, headers: { 'retry-after': '9999' }, body: echo }),
    empty: () => ({ status: 200, body: '' }),
    cut: () => ({ status: 200, body: JSON.stringify(issued).slice(0, -5) }),
    unnamed: (echo) => ({
      status: 200,
      body: JSON.stringify({ [echo.slice(0, 100)]: 1, refresh_token: issued.refresh_token }),
    }),
  };

const yaml = (url: string): string =>
  [
    'p.type: custom',
    `p.url: ${url}`,
    'p.grant_type: client_credentials',
    ...secretFields.map((field) => `p.${field}: ${JSON.stringify(sent[field])}`),
    'b.type: twitter',
    `b.url: ${url}`,
    'b.basic.user: someone',
    `b.basic.password: ${JSON.stringify(basicPassword)}`,
    'r.type: microsoft',
    `r.url: ${url}`,
    'r.client_id: id',
    `r.client_secret: ${JSON.stringify(sent['client_secret'])}`,
    `r.refresh_token: ${JSON.stringify(sent['refresh_token'])}`,
  ]
    .join('\n')
    .replaceAll('${', '$${');

describe('the command line leaks no secret', () => {
  const sandbox = new Sandbox();
  let server: TokenServer;
  beforeAll(async () => {
    server = await startTokenServer((response, { path, headers, body }) => {
      const createResponse = responses[path?.slice(1) ?? ''];
      const plain = decodeURIComponent(body.replaceAll('+', ' '));
      const values = [plain, body, headers.authorization ?? ''].flatMap((text) => [
        text,
        ...encodingsOf(text).slice(0, 12),
      ]);
      const named = [...Object.values(sent), basicPassword].flatMap((secret) =>
        plain.includes(secret) || headers.authorization ? encodingsOf(secret) : [],
      );
      const {
        status,
        headers: extra = {},
        body: responseBody,
      } = createResponse?.([...named, ...values].join(' ').replace(/[\r\n]/g, ' ')) ?? { status: 404, body: '' };
      for (const [name, value] of Object.entries(extra)) response.setHeader(name, value.replace(/[^\x20-\x7e]/g, ''));
      response.statusCode = status;
      response.end(responseBody);
    });
  });
  afterAll(async () => {
    sandbox.remove();
    await server.stop();
  });

  async function emitted(line: string, env: Record<string, string> = {}): Promise<{ stdout: string; all: string }> {
    const { stdout, stderr } = await sandbox.run(line, env);
    return { stdout, all: stdout + stderr };
  }

  it.each(Object.keys(responses))('when a provider repeats the request in its response: %s', async (name) => {
    sandbox.write(`${name}.yaml`, yaml(`http://127.0.0.1:${server.port}/${name}`));
    // The custom profile sends every secret, the others add a Basic header and a refresh.
    const lines = ['token p --verbose', 'token p --json --verbose', 'token b --verbose', 'token r --header'];
    for (const line of lines) {
      const { stdout, all: text } = await emitted(`oauth-profile ${line} --data ${name}.yaml`);
      const printed = stdout.replaceAll(issued.access_token, '');
      expect(leaksIn(printed + text.slice(stdout.length), all)).toEqual([]);
      if (name === 'ok') expect(stdout).toContain(issued.access_token);
    }
  });

  it('with check and explain in any output format', async () => {
    sandbox.write('p.yaml', yaml('https://login.example.com/token'));
    for (const profile of ['p', 'b']) {
      const explain = `oauth-profile explain ${profile} --data p.yaml --verbose`;
      const { all: text } = await emitted(
        `oauth-profile check --data p.yaml --verbose; oauth-profile check --data p.yaml --json; ${explain}; ${explain} --json; ${explain} --curl`,
      );
      expect(text).toContain('••••');
      expect(leaksIn(text, all)).toEqual([]);
    }
  });

  it.each([
    ['an unknown type', 'p.type: c4n4ry'],
    ['a list instead of a value', 'p.client_secret: [SECRET]'],
    ['a wrong option', 'p.options.client_secret: SECRET'],
    ['a secret as a tenant', 'p.type: okta\np.tenant_id: ${p.client_secret}'],
    ['a secret as a URL', 'p.url: https://${p.client_secret}/'],
    ['a secret as an option', 'p.options.timeout: ${p.client_secret}'],
    ['a secret as a file name', 'p.options.key_file: ${p.client_secret}'],
    ['a reference inside a secret', 'p.password: SECRET${SECRET}'],
    ['an unclosed reference inside a secret', 'p.password: SECRET${SECRET'],
    ['broken YAML', 'p.client_secret: "SECRET'],
    ['a YAML tag', 'p.client_secret: !SECRET [SECRET'],
    ['a secret defined twice', 'p.client_secret: SECRET\np: {client_secret: SECRET}'],
    ['a secret in the name of a profile', 'SECRET.type: custom'],
  ])('when a profile is invalid: %s', async (_, text) => {
    const secret = 'c4n4ry-in-a-bad-profile';
    sandbox.write(
      'bad.yaml',
      `p.client_secret: ${secret}\n${text.replaceAll('SECRET', secret)}\n`.replace(
        /^p\.client_secret.*\n(?=p\.client_secret)/,
        '',
      ),
    );
    const { all: output } = await emitted(
      'for c in "token p" "check" "explain p --json"; do oauth-profile $c --data bad.yaml; done',
    );
    const shown = text.startsWith('SECRET.type') ? output.replaceAll(`${secret}.`, '').replaceAll(secret, '') : output;
    expect(leaksIn(shown, [secret])).toEqual([]);
    expect(output).not.toContain('internal error');
  });

  it('when a JSON, env or properties file is malformed', async () => {
    sandbox.write('bad.json', '{"p": {"client_secret": "c4n4ry-in-a-bad-file" "x"}}');
    sandbox.write('bad.env', 'p.type=custom\nc4n4ry-in-a-bad-file oh\n');
    sandbox.write('bad.properties', '=c4n4ry-in-a-bad-file\np.x=\\u12\n');
    for (const file of ['bad.json', 'bad.env', 'bad.properties']) {
      const { all: text } = await emitted(
        `oauth-profile token p --data ${file}; oauth-profile token p --data ${file} --json`,
      );
      expect(text).toContain(file);
      expect(leaksIn(text, ['c4n4ry-in-a-bad-file'])).toEqual([]);
    }
  });

  it('when a proxy URL has a password', async () => {
    const proxy = createServer();
    proxy.on('connect', (request, socket) =>
      socket.end(`HTTP/1.1 407 ${request.headers['proxy-authorization']}\r\n\r\n`),
    );
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve);
    });
    const { port } = proxy.address() as AddressInfo;
    sandbox.write('proxied.yaml', yaml('https://login.example.com/token'));
    for (const proxyUrl of [
      `http://me:${proxyPassword}@127.0.0.1:${port}`,
      `http://me:${proxyPassword}@127.0.0.1:9`,
      `socks5://me:${proxyPassword}@h`,
    ]) {
      const { all: text } = await emitted(
        'oauth-profile token p --data proxied.yaml --verbose; oauth-profile token p --data proxied.yaml --json',
        { HTTPS_PROXY: proxyUrl },
      );
      expect(text).toContain('roxy');
      expect(leaksIn(text, all)).toEqual([]);
    }
    await new Promise((resolve) => {
      proxy.close(resolve);
    });
  });

  it('when a secret is an argument, and prints a warning', async () => {
    const { all: text } = await emitted(
      `oauth-profile explain p --data p.yaml --set p.password=c4n4ry-argument; oauth-profile token p --set p.password=c4n4ry-argument`,
    );
    expect(text).toContain('other users can see command-line arguments');
    expect(leaksIn(text, ['c4n4ry-argument'])).toEqual([]);
  });
});
