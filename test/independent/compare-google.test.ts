import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient, IdentityPoolClient, JWT, PluggableAuthClient } from 'google-auth-library';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../src/client.ts';
import { getToken } from '../../src/get-token.ts';
import { startTokenServer, type TokenCall, type TokenServer } from '../support/server.ts';
import { decodeJwt } from './decode-jwt.ts';

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-google-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (name: string, content: unknown): string => {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const email = 'robot@project.iam.gserviceaccount.com';
const keyFile = file('robot.json', {
  type: 'service_account',
  client_email: email,
  private_key: key,
  private_key_id: 'key-1',
  token_uri: 'https://oauth2.googleapis.com/token',
});

let server: TokenServer;
beforeEach(async () => {
  server = await startTokenServer((response, { path }) => {
    const expireTime = new Date(Date.now() + 3_600_000).toISOString();
    const isImpersonation = path?.includes('generateAccessToken');
    const token = { access_token: 'a-token', id_token: 'a.b.c', expires_in: 3600, token_type: 'Bearer' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isImpersonation ? { accessToken: 'robot-token', expireTime } : token));
  });
});
afterEach(() => server.stop());

/** A request with its form, or its assertion, decoded. */
interface Decoded {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly assertion?: ReturnType<typeof decodeJwt>;
}

function decode({ method, path: url, headers, body }: TokenCall): Decoded {
  const request = { method, url, authorization: headers.authorization };
  if (headers['content-type']?.startsWith('application/json')) return { ...request, json: JSON.parse(body) };
  const { assertion, ...form } = Object.fromEntries(new URLSearchParams(body));
  return { ...request, form, ...(assertion !== undefined && { assertion: decodeJwt(assertion) }) };
}

/** Sends a request of Google's library to the recording server instead of Google. */
function redirect(client: JWT): JWT {
  client.transporter.defaults.fetchImplementation = (async (input: string | URL, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${server.port}${new URL(input).pathname}`, init)) as typeof fetch;
  return client;
}

/** The requests that `run` sends. */
async function requestsOf(run: () => Promise<unknown>): Promise<Decoded[]> {
  const first = server.requests.length;
  await run();
  return server.requests.slice(first).map(decode);
}

/** The access token of a profile. */
async function tokenOf(fields: Record<string, unknown>, env: Record<string, string> = {}): Promise<string> {
  const client = createClient({ environment: { env, cwd: directory }, store: 'memory' });
  const variables = await client.loadVariables({ data: { svc: { type: 'google', ...fields } } });
  return (await getToken(client, 'svc', { variables })).token.accessToken.reveal();
}

describe("a service account's request is that of google-auth-library", () => {
  const scope = 'https://www.googleapis.com/auth/drive.readonly https://www.googleapis.com/auth/gmail.send';
  // Google's library for Node sends neither the type nor the key id; those for Go, Java and Python do.
  const ours = { typ: 'JWT', kid: 'key-1' };

  it.each([
    ['with scopes', {}, {}],
    ['for a user of the domain', { subject: 'ada@example.com' }, { sub: 'ada@example.com' }],
  ])('%s', async (_what, theirOptions, assertion) => {
    const jwt = redirect(new JWT({ email, key, scopes: scope.split(' '), ...theirOptions }));
    const [theirs] = await requestsOf(() => jwt.authorize());
    const url = `http://127.0.0.1:${server.port}/token`;
    const own = await requestsOf(() => tokenOf({ url, scope, options: { key_file: keyFile, assertion } }));
    const header = { ...theirs?.assertion?.header, ...ours };
    expect(own).toEqual([{ ...theirs, assertion: { ...theirs?.assertion, header } }]);
  });

  it('for an ID token', async () => {
    const [theirs] = await requestsOf(() => redirect(new JWT({ email, key })).fetchIdToken('https://run.example'));
    const url = `http://127.0.0.1:${server.port}/token`;
    const options = { key_file: keyFile, assertion: { target_audience: 'https://run.example' } };
    let token: string | undefined;
    const [own] = await requestsOf(async () => {
      token = await tokenOf({ url, options });
    });
    expect(own?.assertion?.claims).toEqual(theirs?.assertion?.claims);
    expect(token).toBe('a.b.c');
  });
});

describe("an external account's requests are those of google-auth-library", () => {
  const subjectFile = file('subject', 'subject.token.value');
  const account = () => ({
    type: 'external_account' as const,
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ci/providers/github',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://127.0.0.1:${server.port}/v1/token`,
    credential_source: { file: subjectFile },
  });
  const impersonated = () => ({
    ...account(),
    service_account_impersonation_url: `http://127.0.0.1:${server.port}/v1/projects/-/serviceAccounts/${email}:generateAccessToken`,
  });
  const drive = 'https://www.googleapis.com/auth/drive';

  it.each<[string, () => ReturnType<typeof account>, string | undefined, string]>([
    ['without a service account', account, undefined, 'a-token'],
    ['without a service account, with a scope', account, drive, 'a-token'],
    ['with a service account', impersonated, undefined, 'robot-token'],
    ['with a service account and a scope', impersonated, drive, 'robot-token'],
    [
      'with a service account and a lifetime',
      () => ({ ...impersonated(), service_account_impersonation: { token_lifetime_seconds: 600 } }),
      undefined,
      'robot-token',
    ],
    [
      'with a client of the pool',
      () => ({ ...account(), client_id: 'pool-client', client_secret: 'pool-secret' }),
      undefined,
      'a-token',
    ],
  ])('%s', async (_what, config, scope, expected) => {
    const client = new IdentityPoolClient(config());
    if (scope !== undefined) client.scopes = [scope];
    const theirs = await requestsOf(() => client.getAccessToken());
    const options = { key_file: file('external.json', config()) };
    let token: string | undefined;
    const own = await requestsOf(async () => {
      token = await tokenOf({ ...(scope !== undefined && { scope }), options });
    });
    expect(own).toEqual(theirs);
    expect(token).toBe(expected);
  });

  describe('with an AWS source', () => {
    const aws = () => ({
      ...account(),
      subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
      credential_source: {
        environment_id: 'aws1',
        region_url: `http://127.0.0.1:${server.port}/zone`,
        url: `http://127.0.0.1:${server.port}/credentials`,
        imdsv2_session_token_url: `http://127.0.0.1:${server.port}/session`,
        regional_cred_verification_url:
          'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
      },
    });
    const keys = {
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG',
      AWS_SESSION_TOKEN: '',
    };
    const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_SESSION_TOKEN: '', AWS_REGION: '' };
    afterEach(() => {
      vi.useRealTimers();
      vi.unstubAllEnvs();
    });

    it.each<[string, Record<string, string>]>([
      ['keys of the environment', { ...keys, AWS_REGION: 'eu-west-1' }],
      [
        'a session of the environment',
        { ...keys, AWS_REGION: '', AWS_DEFAULT_REGION: 'eu-west-1', AWS_SESSION_TOKEN: 'a/session+token=' },
      ],
    ])('%s', async (_what, env) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      for (const [name, value] of Object.entries({ AWS_DEFAULT_REGION: '', ...env })) vi.stubEnv(name, value);
      const theirs = await requestsOf(() => new AwsClient(aws()).getAccessToken());
      const own = await requestsOf(() => tokenOf({ options: { key_file: file('aws.json', aws()) } }, env));
      expect(own).toEqual(theirs);
      expect(own[0]?.form?.['subject_token']).toContain('SignedHeaders');
    });

    it('the role of the machine', async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      await server.stop();
      server = await startTokenServer((response, { path = '' }) => {
        const role = { AccessKeyId: 'ASIAROLE', SecretAccessKey: 'role-secret-key', Token: 'role-session' };
        const bodies: Record<string, string> = {
          '/zone': 'us-east-2b',
          '/session': 'imds-session',
          '/credentials': 'web',
        };
        response.setHeader('content-type', path === '/zone' ? 'text/plain' : 'application/json');
        const token = { access_token: 'a-token', expires_in: 3600, token_type: 'Bearer' };
        response.end(bodies[path] ?? JSON.stringify(path === '/credentials/web' ? role : token));
      });
      for (const [name, value] of Object.entries({ ...noKeys, AWS_DEFAULT_REGION: '' })) vi.stubEnv(name, value);
      const last = (requests: Decoded[]): Decoded | undefined => requests.at(-1);
      const theirs = await requestsOf(() => new AwsClient(aws()).getAccessToken());
      const own = await requestsOf(() => tokenOf({ options: { key_file: file('aws.json', aws()) } }));
      expect(last(own)).toEqual(last(theirs));
      expect(own.map(({ method, url }) => `${method} ${url}`)).toEqual([
        'PUT /session',
        'GET /zone',
        'GET /credentials',
        'GET /credentials/web',
        'POST /v1/token',
      ]);
    });
  });

  describe('with an executable', () => {
    const ALLOWED = { PATH: String(process.env['PATH']), GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: '1' };
    const program = file(
      'program.sh',
      'printf \'{"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt","id_token":"%s|%s|%s|%s"}\' "$1" "$GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE" "$GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL" "$OAUTH_PROFILE_KEY"',
    );
    const config = (command: string) => ({ ...impersonated(), credential_source: { executable: { command } } });
    const run = (command: string, env: Record<string, string> = ALLOWED) =>
      tokenOf({ options: { key_file: file('executable.json', config(command)) } }, env);
    afterEach(() => vi.unstubAllEnvs());

    it('that succeeds', async () => {
      vi.stubEnv('GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES', '1');
      const command = `sh ${program} "two words"`;
      const theirs = await requestsOf(() => new PluggableAuthClient(config(command)).getAccessToken());
      const own = await requestsOf(() => run(command, { ...ALLOWED, OAUTH_PROFILE_KEY: 'vault-key' }));
      expect(own).toEqual(theirs);
      expect(own[0]?.form?.['subject_token']).toBe(`two words|${account().audience}|${email}|`);
    });

    it.each<[string, string, Record<string, string>]>([
      ['that is not allowed', `sh ${program}`, {}],
      ['that does not exist', 'no-such-program', ALLOWED],
      ['that fails', 'false', ALLOWED],
      ['that prints no JSON', 'echo token', ALLOWED],
      [
        'that reports an error',
        `sh ${file('error.sh', 'echo \'{"version":1,"success":false,"code":"401","message":"no"}\'')}`,
        ALLOWED,
      ],
      [
        'whose token has expired',
        `sh ${file('old.sh', 'echo \'{"version":1,"success":true,"id_token":"x","expiration_time":1}\'')}`,
        ALLOWED,
      ],
    ])('%s, sends nothing', async (_what, command, env) => {
      await expect(run(command, env)).rejects.toMatchObject({ code: 'profile_invalid' });
      expect(server.requests).toEqual([]);
    });

    it('in a file of the working directory, does not run', async () => {
      file('executable.json', config(`touch ${join(directory, 'ran')}`));
      file('oauth-profiles.yaml', 'svc: {type: google, options: {key_file: executable.json}}');
      const client = createClient({ environment: { env: ALLOWED, cwd: directory }, store: 'memory' });
      await expect(getToken(client, 'svc')).rejects.toMatchObject({ code: 'profile_invalid' });
      expect(existsSync(join(directory, 'ran'))).toBe(false);
    });
  });
});
