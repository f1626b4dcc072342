import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ask, refusalOf } from '../support/independent-asking.ts';
import { type OAuth2ServerProcess, type OAuth2World, startOAuth2Server } from '../support/independent-oauth2-server.ts';
import { leaksIn } from '../support/leaks.ts';
import { Sandbox } from '../support/run-cli.ts';

/** Every character that a client secret may have (RFC 6749 Appendix A.2). */
const EVERY_CHARACTER = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
/** Those of them that encoding leaves alone. */
const UNRESERVED = EVERY_CHARACTER.replace(/[^A-Za-z0-9_.!~*'()-]/g, '');

const world: OAuth2World = {
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
  server = await startOAuth2Server(world, authority.issue({ name: 'server', hosts: SERVER_NAMES }));
});
afterAll(() => server.close());

type Fields = Record<string, string | Record<string, string>>;

/** A profile of this server. */
function profile(fields: Fields, options: Record<string, string> = {}): Fields {
  return { type: 'custom', url: server.tokenUrl, ...fields, options: { ca_file: authority.caFile, ...options } };
}

const secretOf = (client: string) => ({ client_id: client, client_secret: `${client}-secret` });
const machine: Fields = { grant_type: 'client_credentials', ...secretOf('robot') };
const person: Fields = { grant_type: 'password', ...secretOf('web'), username: 'ada', password: 'lovelace' };

describe('client_credentials', () => {
  it.each([
    ['in the body', {}, secretOf('robot')],
    ['in a header', { client_auth: 'client_secret_basic' }, secretOf('robot')],
    ['in a header that is not encoded', { client_auth: 'client_secret_basic_raw' }, secretOf('robot')],
    ['as basic.user and basic.password', {}, { 'basic.user': 'robot', 'basic.password': 'robot-secret' }],
  ])('gives a token to a client that authenticates %s', async (_, options, client) => {
    const token = await ask(profile({ grant_type: 'client_credentials', scope: 'read write', ...client }, options));
    expect(token).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      scope: 'read write',
    });
  });

  it.each(['client_secret_post', 'client_secret_basic_raw'])(
    'D12 client_auth %s brings every character of a secret to a server that does not decode',
    async (client_auth) => {
      const fields = { grant_type: 'client_credentials', client_id: 'every', client_secret: EVERY_CHARACTER };
      expect(await ask(profile(fields, { client_auth }))).toMatchObject({ token_type: 'Bearer' });
    },
  );

  it('D12 client_auth basic brings letters, digits and some marks there, which it does not change', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'unreserved', client_secret: UNRESERVED };
    expect(await ask(profile(fields, { client_auth: 'client_secret_basic' }))).toMatchObject({ token_type: 'Bearer' });
  });

  it('D12 client_auth basic does not bring the others: it encodes them, as RFC 6749 §2.3.1 asks', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'every', client_secret: EVERY_CHARACTER };
    const refusal = await refusalOf(profile(fields, { client_auth: 'client_secret_basic' }));
    expect(refusal).toMatchObject({ code: 'provider_rejected', provider: { status: 401, error: 'invalid_client' } });
  });
});

describe('password', () => {
  it.each([
    ['in the body', {}],
    ['in a header', { client_auth: 'client_secret_basic' }],
  ])('gives a token and a refresh token; the client authenticates %s', async (_, options) => {
    expect(await ask(profile(person, options))).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      refresh_token: expect.any(String),
      scope: 'read',
    });
  });

  it('brings a user name and a password with odd characters there as they are', async () => {
    const token = await ask(profile({ ...person, username: 'zoë', password: 'pä ss+&=%20"\\' }));
    expect(token).toMatchObject({ token_type: 'Bearer' });
  });

  it.each(['okta', 'gitlab', 'microsoft'])(
    'D6 D8 is what the type %s asks for at an address of its own',
    async (type) => {
      const { grant_type, ...fields } = person;
      expect(grant_type).toBe('password');
      expect(await ask(profile({ ...fields, type }))).toMatchObject({ refresh_token: expect.any(String) });
    },
  );

  it.each([
    ['password is wrong', { password: 'wrong-password' }],
    ['user is unknown', { username: 'nobody' }],
  ])('is refused when the %s, with the variables to check', async (_, changed) => {
    expect(await refusalOf(profile({ ...person, ...changed }))).toMatchObject({
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

describe('refresh_token, rotating', () => {
  const refresh = (refresh_token: unknown, more: Fields = {}, options?: Record<string, string>): Fields =>
    profile(
      { grant_type: 'refresh_token', ...secretOf('web'), refresh_token: String(refresh_token), ...more },
      options,
    );
  const dead = { status: 400, error: 'invalid_grant' };

  it.each([
    ['in the body', {}],
    ['in a header', { client_auth: 'client_secret_basic' }],
  ])('replaces the old one, which is dead then; the client authenticates %s', async (_, options) => {
    const { refresh_token: first } = await ask(profile(person));
    const { refresh_token: second } = await ask(refresh(first, {}, options));
    expect(second).not.toBe(first);
    expect(await refusalOf(refresh(first, {}, options))).toMatchObject({
      code: 'login_required',
      hint: expect.stringContaining('acme.refresh_token'),
      provider: { ...dead, description: 'Invalid grant: refresh token is invalid' },
    });
    expect(await ask(refresh(second, {}, options))).toMatchObject({ refresh_token: expect.any(String) });
  });

  it('is refused to another client', async () => {
    const { refresh_token } = await ask(profile(person));
    expect(await refusalOf(refresh(refresh_token, secretOf('other')))).toMatchObject({
      code: 'login_required',
      provider: { ...dead, description: 'Invalid grant: refresh token was issued to another client' },
    });
  });

  it('does not widen the scope', async () => {
    const { refresh_token } = await ask(profile({ ...person, scope: 'read' }));
    expect(await refusalOf(refresh(refresh_token, { scope: 'read write' }))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 400, error: 'invalid_scope' },
    });
  });
});

describe('refusals', () => {
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
      { ...machine, client_id: 'nobody' },
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
      { ...person, ...secretOf('robot') },
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
  ])('%s', async (_, fields, options, status, error, description, hint) => {
    const refusal = await refusalOf(profile(fields, options));
    expect(refusal).toMatchObject({ code: 'provider_rejected', provider: { status, error, description } });
    if (hint !== undefined) expect(refusal.hint).toMatch(hint);
  });
});

describe('without TLS, on this machine', () => {
  it('gives tokens and refreshes them', async () => {
    const plain = await startOAuth2Server(world);
    try {
      const base = { type: 'custom', url: plain.tokenUrl, ...secretOf('web') };
      const { refresh_token } = await ask({ ...base, grant_type: 'password', username: 'ada', password: 'lovelace' });
      const refresh = { ...base, grant_type: 'refresh_token', refresh_token: String(refresh_token) };
      expect(await ask(refresh)).toMatchObject({ token_type: 'Bearer' });
      expect((await refusalOf(refresh)).code).toBe('login_required');
    } finally {
      await plain.close();
    }
  });
});

describe('the command line', () => {
  const sandbox = new Sandbox();
  afterAll(() => sandbox.remove());

  const run = async (password: string) => {
    const { url, options, ...fields } = profile({ ...person, password });
    sandbox.write('oauth-profiles.yaml', JSON.stringify({ acme: { ...fields, url, options } }));
    const finished = await sandbox.run('oauth-profile token acme --json');
    expect(leaksIn(finished.stdout + finished.stderr, ['web-secret', password])).toEqual([]);
    return finished;
  };

  it('prints the response, the refresh token masked', async () => {
    const { stdout, exit } = await run('lovelace');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: 'Bearer',
      refresh_token: '••••',
    });
  });

  it('ends with status 3 when the password is wrong, and says so as JSON', async () => {
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
