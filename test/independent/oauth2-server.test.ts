import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { Sandbox } from '../support/cli.ts';
import { request, requestError } from '../support/client.ts';
import { leaksIn } from '../support/leaks.ts';
import { type OAuth2Accounts, type OAuth2ServerProcess, startOAuth2Server } from './oauth2-server.ts';

/** Every character that a client secret may have (RFC 6749 Appendix A.2). */
const EVERY_CHARACTER = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
/** Those of them that form encoding does not change. */
const UNRESERVED = EVERY_CHARACTER.replace(/[^A-Za-z0-9_.!~*'()-]/g, '');

const accounts: OAuth2Accounts = {
  clients: [
    { id: 'web', secret: 'web-secret', grants: ['password', 'client_credentials', 'refresh_token'] },
    { id: 'other', secret: 'other-secret', grants: ['password', 'client_credentials', 'refresh_token'] },
    { id: 'robot', secret: 'robot-secret', grants: ['client_credentials'] },
    { id: 'every', secret: EVERY_CHARACTER, grants: ['client_credentials'] },
    { id: 'unreserved', secret: UNRESERVED, grants: ['client_credentials'] },
  ],
  users: { ada: 'lovelace', zoë: 'pä ss+&=%20"\\' },
  scopes: ['read', 'write'],
};

const authority = new Authority();
let server: OAuth2ServerProcess;
beforeAll(async () => {
  server = await startOAuth2Server(accounts, authority.issue({ name: 'server', hosts: SERVER_NAMES }));
});
afterAll(() => server.close());

type Fields = Record<string, string | Record<string, string>>;

/** A profile of this server. */
function profile(fields: Fields, options: Record<string, string> = {}): Fields {
  return { type: 'custom', url: server.tokenUrl, ...fields, options: { ca_file: authority.caFile, ...options } };
}

const secretOf = (client: string) => ({ client_id: client, client_secret: `${client}-secret` });
const machine: Fields = { grant_type: 'client_credentials', ...secretOf('robot') };
const user: Fields = { grant_type: 'password', ...secretOf('web'), username: 'ada', password: 'lovelace' };

describe('oauth2-server', () => {
  it.each([
    ['in the body', {}, secretOf('robot')],
    ['in a header', { client_auth: 'client_secret_basic' }, secretOf('robot')],
    ['in a header that is not encoded', { client_auth: 'client_secret_basic_raw' }, secretOf('robot')],
    ['as basic.user and basic.password', {}, { 'basic.user': 'robot', 'basic.password': 'robot-secret' }],
  ])('gives a client_credentials token to a client that authenticates %s', async (_, options, client) => {
    const token = await request(profile({ grant_type: 'client_credentials', scope: 'read write', ...client }, options));
    expect(token).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      scope: 'read write',
    });
  });

  it.each(['client_secret_post', 'client_secret_basic_raw'])(
    'accepts a secret with any character with client_auth %s, because it does not decode the header',
    async (client_auth) => {
      const fields = { grant_type: 'client_credentials', client_id: 'every', client_secret: EVERY_CHARACTER };
      expect(await request(profile(fields, { client_auth }))).toMatchObject({ token_type: 'Bearer' });
    },
  );

  it('accepts a secret of unreserved characters with client_auth client_secret_basic', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'unreserved', client_secret: UNRESERVED };
    expect(await request(profile(fields, { client_auth: 'client_secret_basic' }))).toMatchObject({
      token_type: 'Bearer',
    });
  });

  it('rejects a secret with other characters with client_auth client_secret_basic, which encodes them (RFC 6749 §2.3.1)', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'every', client_secret: EVERY_CHARACTER };
    const error = await requestError(profile(fields, { client_auth: 'client_secret_basic' }));
    expect(error).toMatchObject({ code: 'provider_rejected', provider: { status: 401, error: 'invalid_client' } });
  });
});

describe('oauth2-server with the password grant', () => {
  it.each([
    ['in the body', {}],
    ['in a header', { client_auth: 'client_secret_basic' }],
  ])('gives an access token and a refresh token to a client that authenticates %s', async (_, options) => {
    expect(await request(profile(user, options))).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      refresh_token: expect.any(String),
      scope: 'read',
    });
  });

  it('accepts a user name and a password with special characters', async () => {
    const token = await request(profile({ ...user, username: 'zoë', password: 'pä ss+&=%20"\\' }));
    expect(token).toMatchObject({ token_type: 'Bearer' });
  });

  it.each(['okta', 'gitlab', 'microsoft'])('accepts a profile of type %s whose url is set', async (type) => {
    const { grant_type, ...fields } = user;
    expect(grant_type).toBe('password');
    expect(await request(profile({ ...fields, type }))).toMatchObject({ refresh_token: expect.any(String) });
  });

  it.each([
    ['password is wrong', { password: 'wrong-password' }],
    ['user is unknown', { username: 'unknown-user' }],
  ])('returns an error if the %s, and the hint names the variables', async (_, changed) => {
    expect(await requestError(profile({ ...user, ...changed }))).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringMatching(/acme\.username and acme\.password/),
      provider: {
        status: 400,
        error: 'invalid_grant',
        description: 'Invalid grant: user credentials are invalid',
      },
    });
  });
});

describe('oauth2-server with rotating refresh tokens', () => {
  const refresh = (refresh_token: unknown, more: Fields = {}, options?: Record<string, string>): Fields =>
    profile(
      { grant_type: 'refresh_token', ...secretOf('web'), refresh_token: String(refresh_token), ...more },
      options,
    );
  const invalidGrant = { status: 400, error: 'invalid_grant' };

  it.each([
    ['in the body', {}],
    ['in a header', { client_auth: 'client_secret_basic' }],
  ])('rejects the former refresh token of a client that authenticates %s', async (_, options) => {
    const { refresh_token: first } = await request(profile(user));
    const { refresh_token: second } = await request(refresh(first, {}, options));
    expect(second).not.toBe(first);
    expect(await requestError(refresh(first, {}, options))).toMatchObject({
      code: 'login_required',
      hint: expect.stringContaining('acme.refresh_token'),
      provider: { ...invalidGrant, description: 'Invalid grant: refresh token is invalid' },
    });
    expect(await request(refresh(second, {}, options))).toMatchObject({ refresh_token: expect.any(String) });
  });

  it('rejects the refresh token of another client', async () => {
    const { refresh_token } = await request(profile(user));
    expect(await requestError(refresh(refresh_token, secretOf('other')))).toMatchObject({
      code: 'login_required',
      provider: { ...invalidGrant, description: 'Invalid grant: refresh token was issued to another client' },
    });
  });

  it('rejects a scope that was not granted', async () => {
    const { refresh_token } = await request(profile({ ...user, scope: 'read' }));
    expect(await requestError(refresh(refresh_token, { scope: 'read write' }))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 400, error: 'invalid_scope' },
    });
  });
});

describe('error responses of oauth2-server', () => {
  it.each<[string, Fields, Record<string, string>, number, string, string, RegExp | undefined]>([
    [
      'a wrong secret in the body',
      { ...machine, client_secret: 'wrong-secret' },
      {},
      400,
      'invalid_client',
      'Invalid client: client is invalid',
      /acme\.client_secret/,
    ],
    [
      'a wrong secret in a header',
      { ...machine, client_secret: 'wrong-secret' },
      { client_auth: 'client_secret_basic' },
      401,
      'invalid_client',
      'Invalid client: client is invalid',
      /acme\.client_secret/,
    ],
    [
      'an unknown client',
      { ...machine, client_id: 'unknown-client' },
      {},
      400,
      'invalid_client',
      'Invalid client: client is invalid',
      /acme\.client_id/,
    ],
    [
      'no secret',
      { grant_type: 'client_credentials', client_id: 'robot' },
      {},
      400,
      'invalid_client',
      'Invalid client: cannot retrieve client credentials',
      /acme\.client_secret/,
    ],
    [
      'a secret with letters beyond ASCII',
      { ...machine, client_secret: 'p@ss w/+~:%é' },
      {},
      400,
      'invalid_request',
      'Invalid parameter: `client_secret`',
      undefined,
    ],
    [
      'an unknown scope',
      { ...machine, scope: 'everything' },
      {},
      400,
      'invalid_scope',
      'Invalid scope: Requested scope is invalid',
      /acme\.scope/,
    ],
    [
      'an unknown grant',
      { ...machine, grant_type: 'urn:example:nothing' },
      {},
      400,
      'unsupported_grant_type',
      'Unsupported grant type: `grant_type` is invalid',
      /acme\.grant_type/,
    ],
    [
      'a grant that the client may not use',
      { ...user, ...secretOf('robot') },
      {},
      400,
      'unauthorized_client',
      'Unauthorized client: `grant_type` is invalid',
      /acme\.client_id and acme\.grant_type/,
    ],
    [
      'no user name',
      { grant_type: 'password', ...secretOf('web'), password: 'lovelace' },
      {},
      400,
      'invalid_request',
      'Missing parameter: `username`',
      undefined,
    ],
  ])('name the cause and the variable for %s', async (_, fields, options, status, errorCode, description, hint) => {
    const error = await requestError(profile(fields, options));
    expect(error).toMatchObject({ code: 'provider_rejected', provider: { status, error: errorCode, description } });
    if (hint !== undefined) expect(error.hint).toMatch(hint);
  });
});

describe('oauth2-server without TLS on this machine', () => {
  it('gives tokens and refreshes them', async () => {
    const plain = await startOAuth2Server(accounts);
    try {
      const base = { type: 'custom', url: plain.tokenUrl, ...secretOf('web') };
      const { refresh_token } = await request({
        ...base,
        grant_type: 'password',
        username: 'ada',
        password: 'lovelace',
      });
      const refresh = { ...base, grant_type: 'refresh_token', refresh_token: String(refresh_token) };
      expect(await request(refresh)).toMatchObject({ token_type: 'Bearer' });
      expect((await requestError(refresh)).code).toBe('login_required');
    } finally {
      await plain.close();
    }
  });
});

describe('the command line with oauth2-server', () => {
  const sandbox = new Sandbox();
  afterAll(() => sandbox.remove());

  const run = async (password: string) => {
    const { url, options, ...fields } = profile({ ...user, password });
    // A profile file of the working directory could not name a certificate elsewhere.
    sandbox.write('acme.json', JSON.stringify({ acme: { ...fields, url, options } }));
    const finished = await sandbox.run('oauth-profile token acme --json --data acme.json');
    expect(leaksIn(finished.stdout + finished.stderr, ['web-secret', password])).toEqual([]);
    return finished;
  };

  it('prints the response with the refresh token masked', async () => {
    const { stdout, exit } = await run('lovelace');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: 'Bearer',
      refresh_token: '••••',
    });
  });

  it('exits with 3 and prints the error as JSON if the password is wrong', async () => {
    const { stdout, stderr, exit } = await run('wrong-password');
    expect({ stdout, exit }).toEqual({ stdout: '', exit: 3 });
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'provider_rejected',
      provider: {
        status: 400,
        error: 'invalid_grant',
        error_description: 'Invalid grant: user credentials are invalid',
      },
    });
  });
});
