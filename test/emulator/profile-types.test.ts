import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import type { ErrorCode, ProviderError } from '../../src/errors.ts';
import { request as requestToken } from '../support/client.ts';

type Fields = Record<string, string>;

/** One profile for each row of the table of types, known to the emulator. */
const rows = {
  microsoft: {
    type: 'microsoft',
    tenant_id: 'contoso.com',
    client_id: 'ms',
    client_secret: 'ms-secret',
    username: 'ada@contoso.com',
    password: 'pw-ada',
    scope: 'user.read',
  },
  'microsoft, refresh': {
    type: 'microsoft',
    tenant_id: 'contoso.com',
    client_id: 'ms',
    client_secret: 'ms-secret',
    refresh_token: 'ms-rt',
  },
  google: { type: 'google', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' },
  okta: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'o',
    client_secret: 'o-secret',
    username: 'bob',
    password: 'pw-bob',
    scope: 'openid',
  },
  gitlab: { type: 'gitlab', client_id: 'l', client_secret: 'l-secret', username: 'root', password: 'pw-root' },
  twitter: { type: 'twitter', client_id: 'x', client_secret: 'x-secret' },
  custom: {
    type: 'custom',
    url: 'https://login.example.test/token',
    grant_type: 'password',
    client_id: 'c',
    client_secret: 'c-secret',
    username: 'eve',
    password: 'pw-eve',
  },
} satisfies Record<string, Fields>;
type Row = keyof typeof rows;

/** Profiles with a refresh token that rotates. */
const rotating = {
  okta: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'o',
    client_secret: 'o-secret',
    refresh_token: 'o-rt',
    scope: 'openid offline_access',
  },
  gitlab: { type: 'gitlab', client_id: 'l', client_secret: 'l-secret', refresh_token: 'l-rt' },
  custom: {
    type: 'custom',
    url: 'https://login.example.test/token',
    grant_type: 'refresh_token',
    client_id: 'c',
    client_secret: 'c-secret',
    refresh_token: 'c-rt',
  },
};

describe('R4.2 at its production URL, over TLS,', () => {
  let emulator: Emulator;
  let now = Date.parse('2026-01-01T00:00:00Z');
  beforeAll(async () => {
    const profiles = {
      ...rows,
      ...Object.fromEntries(Object.entries(rotating).map(([name, profile]) => [`${name} again`, profile])),
    };
    emulator = await startEmulator({ profiles, clock: () => now });
  });
  afterAll(() => emulator.close());

  const get = (fields: Fields): Promise<Readonly<Record<string, unknown>>> =>
    // No token is stored, so that old refresh tokens can be sent again.
    requestToken(fields, emulator);
  async function rejectionOf(fields: Fields): Promise<ProviderError> {
    return get(fields).then(
      () => expect.unreachable('the request should be rejected'),
      (error) => error,
    );
  }

  it.each(Object.entries(rows))('%s gets a token', async (_, fields) => {
    const token = await get(fields);
    expect(token['access_token']).toEqual(expect.any(String));
    expect(String(token['token_type']).toLowerCase()).toBe('bearer');
  });

  const rejected: [
    what: string,
    row: Row,
    changed: Fields,
    code: ErrorCode,
    status: number,
    description: string | RegExp,
  ][] = [
    ['wrong secret', 'microsoft', { client_secret: 'no' }, 'provider_rejected', 401, /AADSTS7000215/],
    ['wrong secret', 'microsoft, refresh', { client_secret: 'no' }, 'provider_rejected', 401, /AADSTS7000215/],
    ['wrong secret', 'google', { client_secret: 'no' }, 'provider_rejected', 401, 'Unauthorized'],
    ['wrong secret', 'okta', { client_secret: 'no' }, 'provider_rejected', 401, /client secret supplied/],
    ['wrong secret', 'gitlab', { client_secret: 'no' }, 'provider_rejected', 401, /Client authentication failed/],
    ['wrong secret', 'twitter', { client_secret: 'no' }, 'provider_rejected', 403, 'Unable to verify your credentials'],
    ['wrong secret', 'custom', { client_secret: 'no' }, 'provider_rejected', 401, 'The client secret is wrong.'],
    ['wrong password', 'microsoft', { password: 'no' }, 'provider_rejected', 400, /AADSTS50126/],
    ['wrong password', 'okta', { password: 'no' }, 'provider_rejected', 400, 'The credentials provided were invalid.'],
    [
      'wrong password',
      'gitlab',
      { password: 'no' },
      'provider_rejected',
      400,
      /^The provided authorization grant is invalid/,
    ],
    ['wrong password', 'custom', { password: 'no' }, 'provider_rejected', 400, 'The user name or password is wrong.'],
    ['unknown refresh token', 'microsoft, refresh', { refresh_token: 'no' }, 'login_required', 400, /AADSTS9002313/],
    ['unknown refresh token', 'google', { refresh_token: 'no' }, 'login_required', 400, 'Bad Request'],
    ['unknown tenant', 'microsoft', { tenant_id: 'fabrikam.com' }, 'provider_rejected', 400, /AADSTS90002/],
    ['unknown tenant', 'okta', { tenant_id: 'unknown' }, 'provider_rejected', 404, /Not found/],
    ['missing field', 'okta', { scope: '' }, 'provider_rejected', 400, /'scope'/],
    ['missing field', 'custom', { username: '' }, 'provider_rejected', 400, /username is missing/],
  ];
  it.each(rejected)(
    'a request with a %s (%s) is rejected in the format of the provider',
    async (_, row, changed, code, status, description) => {
      const error = await rejectionOf({ ...rows[row], ...changed });
      expect(error.code).toBe(code);
      expect(error.provider.status).toBe(status);
      expect(error.provider.description).toMatch(description);
    },
  );

  it('microsoft accepts a refresh token repeatedly', async () => {
    for (let i = 0; i < 3; i++)
      expect((await get(rows['microsoft, refresh']))['refresh_token']).toEqual(expect.any(String));
  });

  it('gitlab and custom reject a used refresh token, okta only after its grace period', async () => {
    for (const fields of [rotating.gitlab, rotating.custom]) {
      await get(fields);
      expect((await rejectionOf(fields)).code).toBe('login_required');
    }
    await get(rotating.okta);
    await get(rotating.okta);
    now += 31_000;
    const error = await rejectionOf(rotating.okta);
    expect([error.code, error.provider.description]).toEqual([
      'login_required',
      'The refresh token is invalid or expired.',
    ]);
  });

  it.each([
    ['microsoft', { ...rows.microsoft, scope: 'user.read offline_access' }, 91, /AADSTS700082/],
    ['okta', { ...rows.okta, scope: 'openid offline_access' }, 8, 'The refresh token is invalid or expired.'],
    ['custom', rows.custom, 31, 'The refresh token has expired.'],
  ])('%s lets a refresh token expire', async (_, fields, days, description) => {
    const { username, password, ...rest } = fields as Fields;
    const token = await get(fields);
    now += days * 86_400_000;
    const error = await rejectionOf({
      ...rest,
      grant_type: 'refresh_token',
      refresh_token: String(token['refresh_token']),
    });
    expect([username, password]).not.toContain(undefined);
    expect(error.code).toBe('login_required');
    expect(error.provider.description).toMatch(description);
  });

  it('a host that is not emulated fails with not_emulated, even if it exists', async () => {
    const error = await rejectionOf({
      type: 'custom',
      url: 'https://example.com/token',
      grant_type: 'client_credentials',
    });
    expect(error.code).toBe('not_emulated');
  });
});
