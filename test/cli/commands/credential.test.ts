import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { createIdToken, useToolFixture } from '../../support/cli.ts';

const fixture = useToolFixture();
const host = 'api.example.com';
const origins = [`https://${host}`];
const get = {
  git: `printf 'protocol=https\\nhost=${host}\\n\\n'`,
  docker: `printf ${host}`,
  bazel: `printf '{"uri":"https://${host}/x"}'`,
};
const cargoRequest = `printf '{"v":1,"kind":"get","operation":"read","registry":{"index-url":"sparse+https://${host}/"},"args":[]}\\n'`;

beforeEach(() => fixture.setProfiles({ origins }));

async function listen(handle: RequestListener): Promise<{ url: string; close: () => Promise<unknown> }> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => once(server.close(), 'close') };
}

describe('credential', () => {
  it('gives every protocol the cached token, and never a refresh token', async () => {
    const url = `http://127.0.0.1:${fixture.server.port}/token`;
    const lab = {
      type: 'custom',
      url,
      grant_type: 'refresh_token',
      refresh_token: 'the-refresh-token-1',
      options: { origins },
    };
    fixture.setProfiles({}, { lab });
    await fixture.run('oauth-profile token lab');
    const token = `access-token-${fixture.issued()}`;
    const lines = [
      `${get.git} | oauth-profile credential git get`,
      `${get.docker} | oauth-profile credential docker get`,
      `${get.bazel} | oauth-profile credential bazel get`,
      `${cargoRequest} | oauth-profile --cargo-plugin`,
      'oauth-profile credential kubernetes lab',
      'oauth-profile credential pnpm --profile lab',
      'oauth-profile credential google lab --token access_token',
    ];
    for (const line of lines) {
      const { stdout, stderr, exit } = await fixture.run(line, { GITHUB_ACTIONS: 'true' });
      expect([line, exit, stderr, stdout.includes(token)]).toEqual([line, 0, '', true]);
      expect(stdout).not.toContain('the-refresh-token-1');
    }
    // A token that a server rejected is refreshed, in another process.
    const before = fixture.issued();
    await fixture.run(
      `(${get.git.replace('\\n\\n', `\\npassword=${token}\\n\\n`)}) | oauth-profile credential git erase`,
    );
    await fixture.run(`${get.git} | oauth-profile credential git get`);
    expect(fixture.issued()).toBe(before + 1);
  });

  it('returns nothing for hostile or oversized requests', async () => {
    const before = fixture.issued();
    const requests = [
      `printf 'protocol=https\\nhost=${host}\\nhost=evil.com\\n\\n'`,
      `printf 'protocol=https\\nhost=${host}\\0\\n\\n'`,
      `printf 'protocol=https\\nhost=user:pw@${host}\\n\\n'`,
      `(printf 'protocol=https\\nhost=${host}\\npath='; head -c 3000000 /dev/zero | tr '\\0' x; printf '\\n\\n')`,
      'true',
    ];
    for (const request of requests)
      expect(await fixture.run(`${request} | oauth-profile credential git get`)).toEqual({
        stdout: '',
        stderr: '',
        exit: 0,
      });
    expect(await fixture.run('printf evil.com | oauth-profile credential docker get')).toEqual({
      stdout: 'credentials not found in native keychain\n',
      stderr: '',
      exit: 1,
    });
    expect(await fixture.run(`printf '{"uri":"https://evil.com"}' | oauth-profile credential bazel get`)).toMatchObject(
      { stdout: '{"headers":{}}\n' },
    );
    const cargo = await fixture.run(`${cargoRequest.replace(host, 'evil.com')} | oauth-profile --cargo-plugin`);
    expect(cargo.stdout).toBe('{"v":[1]}\n{"Err":{"kind":"url-not-supported"}}\n');
    expect(fixture.issued()).toBe(before);
  });

  it('ignores store and erase of docker, and the login of cargo', async () => {
    expect(
      await fixture.run(
        `printf '{"ServerURL":"${host}","Username":"a","Secret":"b"}' | oauth-profile credential docker store`,
      ),
    ).toEqual({ stdout: '', stderr: '', exit: 0 });
    expect(await fixture.run('oauth-profile credential docker list </dev/null')).toMatchObject({
      stdout: '{}\n',
      exit: 0,
    });
    const cargo = await fixture.run(
      `printf '{"v":1,"kind":"login","registry":{},"args":[]}\\n' | oauth-profile --cargo-plugin`,
    );
    expect(cargo.stdout).toContain('operation-not-supported');
  });

  it('prints one line with the hint on stderr if a login is needed', async () => {
    fixture.setProfiles(
      {},
      { lab: { type: 'gitlab', client_id: 'app', grant_type: 'refresh_token', options: { origins } } },
    );
    const { stdout, stderr, exit } = await fixture.run('oauth-profile credential kubernetes lab');
    expect([stdout, exit, stderr.trimEnd().split('\n')]).toEqual([
      '',
      5,
      [expect.stringContaining('oauth-profile login lab')],
    ]);
    const git = await fixture.run(`${get.git} | oauth-profile credential git get`);
    expect(git).toMatchObject({ stdout: 'quit=1\n', exit: 5 });
    const docker = await fixture.run(`${get.docker} | oauth-profile credential docker get`);
    expect(docker).toEqual({
      stdout: expect.stringMatching(/^[^\n]*oauth-profile login lab[^\n]*\n$/),
      stderr: '',
      exit: 1,
    });
    const cargo = await fixture.run(`${cargoRequest} | oauth-profile --cargo-plugin`);
    expect(JSON.parse(cargo.stdout.split('\n')[1] ?? '')).toMatchObject({
      Err: { kind: 'other', message: expect.stringContaining('login') },
    });
  });

  it('names both profiles that have the origin, and uses the one of --profile', async () => {
    const url = `http://127.0.0.1:${fixture.server.port}/token`;
    const other = {
      type: 'custom',
      url,
      grant_type: 'client_credentials',
      client_id: 'other',
      options: { origins: 'https://*.example.com' },
    };
    fixture.setProfiles({ origins }, { other });
    const failed = await fixture.run(`${get.git} | oauth-profile credential git get`);
    expect(failed).toMatchObject({ stderr: expect.stringMatching(/lab and other/), exit: 2 });
    expect(await fixture.run(`${get.git} | oauth-profile credential git --profile other get`)).toMatchObject({
      exit: 0,
    });
  });

  it('reads profiles of the user and of --data, not of the directory', async () => {
    const url = `http://127.0.0.1:${fixture.server.port}/token`;
    fixture.sandbox.write(
      'oauth-profiles.yaml',
      `own: {type: custom, url: "${url}", options: {origins: "https://own.example.com"}}\n`,
    );
    expect(await fixture.run('oauth-profile credential kubernetes own')).toMatchObject({ stdout: '', exit: 2 });
    expect(await fixture.run('oauth-profile credential kubernetes own --data oauth-profiles.yaml')).toMatchObject({
      exit: 0,
    });
  });

  it('requests another ID token if the cached one has expired', async () => {
    const expired = createIdToken(1).replace(/\.[^.]+\./, `.${Buffer.from('{"exp":1}').toString('base64url')}.`);
    fixture.respondWith({ access_token: 'a', id_token: expired, expires_in: 3600 });
    await fixture.run('oauth-profile token lab --force-refresh');
    fixture.respondWith(undefined);
    const { stdout } = await fixture.run('oauth-profile credential google lab');
    expect(JSON.parse(stdout).expiration_time).toBeGreaterThan(Date.now() / 1000);
  });

  it('exchanges the OIDC token of a CI job for AWS credentials', async () => {
    const received: string[] = [];
    const { url, close } = await listen((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        received.push(`${request.method} ${request.url} ${body}`);
        const elements = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'];
        const credentials = elements.map((name) => `<${name}>2099</${name}>`).join('');
        response.end(request.method === 'GET' ? '{"value":"job.oidc.token"}' : credentials);
      });
    });
    const options = { aws_role_arn: 'arn:aws:iam::123456789012:role/deploy', assertion_source: 'github-actions' };
    fixture.setProfiles({}, { ci: { type: 'custom', url: 'https://sts.amazonaws.com', options } });
    const env = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/id?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner-token',
      AWS_ENDPOINT_URL_STS: url,
    };
    const { stdout, exit } = await fixture.run('oauth-profile credential aws ci', env);
    expect({ exit, output: JSON.parse(stdout) }).toMatchObject({ exit: 0, output: { Version: 1, Expiration: '2099' } });
    expect(received[0]).toBe('GET /id?api-version=2&audience=sts.amazonaws.com ');
    expect(new URLSearchParams(received[1]?.split(' ')[2]).get('WebIdentityToken')).toBe('job.oidc.token');
    await close();
  });

  it('rejects an unknown protocol, and a role that is missing', async () => {
    expect(await fixture.run('oauth-profile credential ftp')).toMatchObject({ exit: 2 });
    expect(await fixture.run('oauth-profile credential git get --token refresh_token')).toMatchObject({ exit: 2 });
    expect(await fixture.run('oauth-profile credential aws lab')).toMatchObject({
      stderr: expect.stringContaining('lab.options.aws_role_arn'),
      exit: 2,
    });
  });
});

describe('token --format', () => {
  it.each([
    ['token', /^access-token-\d+\n$/],
    ['header', /^Authorization: Bearer access-token-\d+\n$/],
    ['headers-json', /^\{"Authorization":"Bearer access-token-\d+"\}\n$/],
    ['json', /^\{\n {2}"access_token": "access-token-\d+"/],
    ['env', /^OAUTH_ACCESS_TOKEN=access-token-\d+\nOAUTH_TOKEN_EXPIRES_AT=\d{4}-\d\d-\d\dT[\d:]{8}Z\n$/],
    ['curl', /^header = "Authorization: Bearer access-token-\d+"\n$/],
    ['netrc', /^machine api\.example\.com login oauth2 password access-token-\d+\n$/],
  ])('%s prints nothing else', async (format, pattern) => {
    expect(await fixture.run(`oauth-profile token lab --format ${format}`)).toEqual({
      stdout: expect.stringMatching(pattern),
      stderr: '',
      exit: 0,
    });
  });

  it('rejects unknown formats, two formats, and netrc without a host', async () => {
    expect(await fixture.run('oauth-profile token lab --format xml')).toMatchObject({ stdout: '', exit: 2 });
    expect(await fixture.run('oauth-profile token lab --format env --json')).toMatchObject({ stdout: '', exit: 2 });
    fixture.setProfiles({ origins: ['https://*.example.com'] });
    expect(await fixture.run('oauth-profile token lab --format netrc')).toMatchObject({ stdout: '', exit: 2 });
  });
});
