import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAppAuth } from '@octokit/auth-app';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../src/client.ts';
import { getToken } from '../../src/get-token.ts';
import type { ParsedToken } from '../../src/oauth/token-response.ts';
import { startTokenServer, type TokenCall, type TokenServer } from '../support/server.ts';
import { decodeJwt } from './decode-jwt.ts';

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-github-'));
const key_file = join(directory, 'app.pem');
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = privateKey.export({ format: 'pem', type: 'pkcs1' }).toString();
writeFileSync(key_file, key);

const originalFetch = fetch;
const EXPIRES_AT = new Date(Date.now() + 3_600_000);
/** The response to the next request, if not a success. */
let rejection: { readonly status: number; readonly message: string } | undefined;
let server: TokenServer;
let url: string;
beforeAll(async () => {
  server = await startTokenServer((response, { method, path = '' }) => {
    const { status, ...body } = rejection ?? { status: method === 'POST' ? 201 : 200 };
    const created = { token: 'ghs_token', expires_at: EXPIRES_AT.toISOString(), permissions: { contents: 'read' } };
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(rejection ? body : path.endsWith('/installation') ? { id: 987 } : created));
  });
  url = `http://127.0.0.1:${server.port}`;
});
afterEach(() => {
  vi.unstubAllGlobals();
  rejection = undefined;
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await server.stop();
});

/** A request without what both libraries are free to choose: the case of the scheme, times, and the name of the media type. */
function decode({ method, path: url, headers, body }: TokenCall) {
  const [scheme = '', jwt = ''] = headers.authorization?.split(' ') ?? [];
  const { iat, exp } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
  return {
    request: { method, url, scheme: scheme.toLowerCase(), body: body === '' ? undefined : JSON.parse(body) },
    assertion: { ...decodeJwt(jwt), lifetime: exp - iat, isBackdated: iat * 1000 < Date.now() - 20_000 },
  };
}

async function requestsOf(run: () => Promise<unknown>) {
  const first = server.requests.length;
  await run();
  return server.requests.slice(first).map(decode);
}

async function tokenOf(fields: Record<string, unknown>): Promise<ParsedToken> {
  const client = createClient({ environment: { env: {}, cwd: directory }, store: 'memory' });
  const data = { svc: { type: 'github', url, client_id: 'Iv23.app', options: { key_file }, ...fields } };
  return (await getToken(client, 'svc', { variables: await client.loadVariables({ data }) })).token;
}

describe("the request for an installation's token is that of @octokit/auth-app", () => {
  it.each([
    ['for everything', {}, {}],
    ['for some repositories', { repositoryNames: ['api', 'web'] }, { repositories: 'api, web' }],
    [
      'for some permissions',
      { permissions: { contents: 'read', issues: 'write' } as const },
      { permissions: 'contents:read issues:write' },
    ],
    [
      'for both',
      { repositoryNames: ['api'], permissions: { metadata: 'read' } as const },
      { repositories: 'api', permissions: 'metadata:read' },
    ],
  ])('%s', async (_, theirOptions, fields) => {
    vi.stubGlobal('fetch', (input: string | URL, init?: RequestInit) =>
      originalFetch(`${url}${new URL(input).pathname}`, init),
    );
    const auth = createAppAuth({ appId: 'Iv23.app', privateKey: key });
    const theirs = await requestsOf(() => auth({ type: 'installation', installationId: 123, ...theirOptions }));
    const own = await requestsOf(() => tokenOf({ installation_id: 123, ...fields }));
    expect(own).toEqual(theirs);
    expect(own).toHaveLength(1);
  });
});

describe('a GitHub App', () => {
  it('gets a token response with the lifetime and the other members', async () => {
    const { accessToken, expiresAt, response } = await tokenOf({ installation_id: '123' });
    expect(accessToken.reveal()).toBe('ghs_token');
    expect(expiresAt).toBeLessThanOrEqual(EXPIRES_AT.getTime() + 1_000);
    expect(response).toMatchObject({
      expires_in: expect.any(Number),
      token_type: 'bearer',
      permissions: { contents: 'read' },
    });
  });

  it('finds the installation of a repository', async () => {
    const requests = await requestsOf(() => tokenOf({ client_id: '', app_id: '42', repository: 'acme/api' }));
    expect(requests.map(({ request: { method, url } }) => `${method} ${url}`)).toEqual([
      'GET /repos/acme/api/installation',
      'POST /app/installations/987/access_tokens',
    ]);
    expect(requests.map(({ assertion }) => assertion.claims)).toEqual([{ iss: '42' }, { iss: '42' }]);
  });

  it.each([
    [401, 'A JSON web token could not be decoded', 'key'],
    [403, 'This installation has been suspended', 'suspended'],
    [404, 'Not Found', 'not installed'],
    [422, 'The permissions requested are not granted to this installation.', 'permissions'],
  ])('gets a hint for HTTP %i %s', async (status, message, hint) => {
    rejection = { status, message };
    for (const fields of [{ installation_id: '1' }, { repository: 'acme/api' }])
      await expect(tokenOf(fields)).rejects.toMatchObject({
        code: 'provider_rejected',
        hint: expect.stringContaining(hint),
      });
  });

  it.each([
    [{ installation_id: '1', url: '' }, 'https://api.github.com/app/installations/1/access_tokens'],
    [
      { installation_id: '1', url: '', host: 'octo.ghe.com' },
      'https://api.octo.ghe.com/app/installations/1/access_tokens',
    ],
    [
      { installation_id: '1', url: '', host: 'github.example.com' },
      'https://github.example.com/api/v3/app/installations/1/access_tokens',
    ],
  ])('with %j uses %s', async (fields, expected) => {
    const client = createClient({ environment: { env: {}, cwd: directory }, store: 'memory' });
    const data = { svc: { type: 'github', client_id: 'Iv23.app', options: { key_file }, ...fields } };
    expect((await client.loadProfile('svc', await client.loadVariables({ data }))).url.href).toBe(expected);
  });

  it.each([
    [{ installation_id: 'abc' }, 'svc.installation_id'],
    [{ repository: 'acme' }, 'svc.repository'],
    [{ repository: '../x' }, 'svc.repository'],
    [{ installation_id: '1', client_id: '' }, 'svc.client_id'],
    [{ installation_id: '1', options: {} }, 'svc.options.key_file'],
    [{ installation_id: '1', permissions: 'contents' }, 'svc.permissions'],
    [{ installation_id: '1', url: 'http://github.example.com/api/v3' }, 'svc.url'],
    [{ installation_id: '1', url: '', host: 'a/b' }, 'svc.host'],
  ])('with %j sends nothing', async (fields, variable) => {
    const sent = server.requests.length;
    await expect(tokenOf(fields)).rejects.toMatchObject({ issues: [expect.objectContaining({ variable })] });
    expect(server.requests).toHaveLength(sent);
  });
});
