import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { ProviderError } from '../../src/errors.ts';
import { createResponse, providerErrorFor, RECEIVED_AT, readAcme, samples } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

const profile = readAcme(samples.custom);
const hintFor = (fields: DataObject, status: number, body: unknown): string | undefined =>
  providerErrorFor(readAcme(fields), createResponse(status, body)).hint;

describe('the error for an error response', () => {
  it("D15 has a code, a message, a hint and the provider's own error", () => {
    const error = providerErrorFor(
      readAcme(samples.google),
      createResponse(401, { error: 'invalid_client', error_description: 'Unauthorized' }, { 'x-request-id': 'r-1' }),
    );
    expect(error).toBeInstanceOf(ProviderError);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'provider_rejected',
      message: expect.stringMatching(/^google .* acme \(HTTP 401, invalid_client: Unauthorized\)$/),
      hint: expect.stringContaining('acme.client_secret'),
      provider: {
        status: 401,
        error: 'invalid_client',
        error_description: 'Unauthorized',
        correlation_id: 'r-1',
      },
    });
    expect(error.cause).toBeUndefined();
  });

  it.each(Object.entries(samples))(
    'D15 for invalid_grant has the code login_required only with a refresh token: %s',
    (name, sample) => {
      const { code } = providerErrorFor(readAcme(sample), createResponse(400, { error: 'invalid_grant' }));
      expect(code).toBe(/refresh|google/i.test(name) ? 'login_required' : 'provider_rejected');
    },
  );

  it.each(['invalid_client', 'invalid_request', 'invalid_scope', 'unauthorized_client', 'access_denied'])(
    'D15 for %s of a refresh has the code provider_rejected',
    (error) => {
      expect(providerErrorFor(readAcme(samples.google), createResponse(400, { error })).code).toBe('provider_rejected');
    },
  );

  it('D15 for invalid_grant of an assertion names the claims and the key', () => {
    const assertion = { ...readAcme(samples.custom), grant: 'urn:ietf:params:oauth:grant-type:jwt-bearer' };
    const { hint } = providerErrorFor(assertion, createResponse(400, { error: 'invalid_grant' }));
    for (const option of ['assertion.aud', 'assertion.sub', 'key_file'])
      expect(hint).toContain(`acme.options.${option}`);
  });

  it('D15 names variables of a profile with any name', () => {
    const named = { ...readAcme(samples.google), name: 'my $& profile' };
    expect(providerErrorFor(named, createResponse(401, { error: 'invalid_client' })).hint).toContain(
      'my $& profile.client_secret',
    );
  });

  it('D15 names the variables of a Basic header', () => {
    const fields = { type: 'twitter', basic: { user: 'u', password: 'p' } };
    expect(hintFor(fields, 403, { errors: [{ code: 99, message: 'x' }] })).toContain(
      'acme.basic.user and acme.basic.password',
    );
  });

  it('D15 names the key file of private_key_jwt', () => {
    const options = { client_auth: 'private_key_jwt', key_file: 'k' };
    const keyed = readAcme({ ...samples.custom, options }, createSources({ k: 'key' }));
    expect(providerErrorFor(keyed, createResponse(401, { error: 'invalid_client' })).hint).toContain(
      'acme.client_id and acme.options.key_file',
    );
  });

  it('D15 shows the status of a response without a body', () => {
    const error = providerErrorFor(profile, createResponse(401, ''));
    expect(error.message).toMatch(/^id\.example\.com .* acme \(HTTP 401\)$/);
    expect(error.hint).toContain('oauth-profile explain');
  });

  it("D15 does not repeat the ids and the time at the end of Microsoft's descriptions", () => {
    const description = 'AADSTS50126: wrong.\r\nTrace ID: 1-2 Correlation ID: 3-4 Timestamp: 2030-01-01 00:00:00Z';
    const body = { error: 'invalid_grant', error_description: description };
    const messageFor = (members: object) =>
      providerErrorFor(readAcme(samples.microsoftPassword), createResponse(400, members)).message;
    expect(messageFor({ ...body, correlation_id: '3-4' })).toMatch(/invalid_grant: AADSTS50126: wrong\.\)$/);
    expect(messageFor(body)).toContain('Trace ID');
  });

  it('D15 suggests to check the URL after a 404 without an OAuth error', () => {
    for (const body of ['', '<title>Not Found</title>', 'Not Found']) {
      expect(hintFor(samples.custom, 404, body)).toContain('acme.url');
    }
    expect(hintFor(samples.custom, 404, { error: 'own_error' })).toBeUndefined();
    expect(hintFor(samples.custom, 403, '')).toBeUndefined();
  });

  it.each(['device_authorization', 'revocation'] as const)(
    'D15 names the option of the %s endpoint for an unknown error',
    (endpoint) => {
      const hint = (status: number, body: object | string) =>
        providerErrorFor({ ...readAcme(samples.custom), endpoint }, createResponse(status, body)).hint;
      expect(hint(404, 'Not Found')).toContain(`acme.options.${endpoint}_url`);
      expect(hint(404, { error: 'Not Found', status: 404 })).toContain(`acme.options.${endpoint}_url`);
      expect(hint(401, { error: '9' })).toContain(`acme.options.${endpoint}_url`);
      expect(hint(401, { error: 'invalid_client' })).toContain('acme.client_id');
    },
  );

  it.each([400, 401, 403, 404, 405, 408, 411, 413, 415, 418, 422, 431, 451])(
    'has the code provider_rejected for status %i',
    (status) => {
      expect(providerErrorFor(profile, createResponse(status, { error: 'x' })).code).toBe('provider_rejected');
    },
  );

  it.each([
    ['invalid_client', 'acme.client_id'],
    ['unauthorized_client', 'acme.grant_type'],
    ['unsupported_grant_type', 'acme.grant_type'],
    ['invalid_scope', 'acme.scope'],
    ['invalid_target', 'acme.resource or acme.audience'],
    ['authorization_pending', 'user code'],
    ['slow_down', 'wait'],
    ['expired_token', 'acme.device_code'],
  ])('D15 has a hint for the standard error %s', (error, named) => {
    const device = { ...samples.custom, grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'd' };
    expect(hintFor(device, 400, { error })).toContain(named);
  });

  it.each([
    ['password', 'acme.username and acme.password'],
    ['refresh_token', 'acme.refresh_token'],
    ['authorization_code', 'acme.code'],
  ])('D15 has a hint for invalid_grant of the grant %s', (grant_type, named) => {
    expect(hintFor({ ...samples.custom, grant_type, refresh_token: 'r' }, 400, { error: 'invalid_grant' })).toContain(
      named,
    );
  });
});

describe('the error for a refresh token that only a login can replace', () => {
  it.each([
    ['invalid_request', 400, { error: 'invalid_request' }, 'login_required'],
    ['access_denied', 401, { error: 'access_denied' }, 'login_required'],
    ['an empty body', 400, '', 'login_required'],
    ['an unknown error', 400, { error: 'token_not_active' }, 'login_required'],
    ['an unknown error and another status', 403, { error: 'token_not_active' }, 'provider_rejected'],
    ['invalid_client', 401, { error: 'invalid_client' }, 'provider_rejected'],
    ['invalid_scope', 400, { error: 'invalid_scope' }, 'provider_rejected'],
    ['an empty body and another status', 403, '', 'provider_rejected'],
  ] as const)('for a refresh that is rejected with %s (HTTP %i) has the code %4$s', (_, status, body, code) => {
    const acme = readAcme({ ...samples.custom, grant_type: 'refresh_token', refresh_token: 'r' });
    const error = providerErrorFor(acme, createResponse(status, body));
    expect(error.code).toBe(code);
    if (code === 'login_required') expect(error.hint).toMatch(/refresh token may have expired.*acme\.refresh_token/);
  });

  it.each(['invalid_request', 'access_denied', 'consent_required', 'interaction_required'])(
    'for %s has a hint with another grant',
    (error) => {
      const acme = readAcme({ ...samples.custom, grant_type: 'client_credentials' });
      expect(providerErrorFor(acme, createResponse(400, { error })).hint).toBeDefined();
    },
  );

  it.each(['invalid_grant', 'interaction_required', 'consent_required', 'login_required', 'bad_token'])(
    'D15 contains the login command for %s',
    (error) => {
      const found = providerErrorFor(readAcme(samples.microsoftRefresh), createResponse(400, { error }));
      expect(found.code).toBe('login_required');
      expect(found.hint).toMatch(/run: oauth-profile login acme$/);
    },
  );

  it('D15 contains what to do before the login', () => {
    const body = { error: 'invalid_grant', error_codes: [65001] };
    const { code, hint } = providerErrorFor(readAcme(samples.microsoftRefresh), createResponse(400, body));
    expect(code).toBe('login_required');
    expect(hint).toMatch(/acme\.client_id.*; then run: oauth-profile login acme$/);
  });

  it('D15 contains the login command once', () => {
    const hint = hintFor(samples.microsoftRefresh, 400, { error: 'invalid_grant', error_codes: [50173] });
    expect(hint?.split('oauth-profile login acme')).toHaveLength(2);
    expect(hint).toMatch(/revoked.*; run: oauth-profile login acme$/);
  });

  it('D15 names acme.refresh_token if the profile has no login', () => {
    const fields = { ...samples.custom, grant_type: 'refresh_token', refresh_token: 'r' };
    expect(hintFor(fields, 400, { error: 'consent_required' })).toMatch(/set acme\.refresh_token$/);
  });

  it.each(['authorization_url', 'device_authorization_url'])(
    'D15 contains the login command if options.%s is set',
    (option) => {
      const options = { [option]: 'https://id.example.com/sign-in' };
      const fields = { ...samples.custom, grant_type: 'refresh_token', refresh_token: 'r', options };
      expect(hintFor(fields, 400, { error: 'invalid_grant' })).toMatch(/run: oauth-profile login acme$/);
    },
  );
});

describe('the hint for invalid_grant of a password', () => {
  const hint = (fields: DataObject, error: string, codes?: readonly number[]) =>
    hintFor(fields, 400, { error, ...(codes && { error_codes: codes }) });
  const password = samples.microsoftPassword;

  it('D15 is missing if the provider sent an unknown code: the password may be correct', () => {
    expect(hint(password, 'invalid_grant', [999999])).toBeUndefined();
    expect(hint(password, 'invalid_grant')).toContain('acme.password');
  });

  it('D15 does not affect hints for other errors and grants', () => {
    expect(hint(password, 'invalid_scope', [999999])).toContain('acme.scope');
    expect(hint(samples.microsoftRefresh, 'invalid_grant', [999999])).toEqual(expect.any(String));
  });
});

describe('the error for status 429 or 5xx', () => {
  const bodies: [string, unknown][] = [
    ['a standard error', { error: 'invalid_grant', error_description: 'x' }],
    ['plain text', 'Retry later'],
    ['HTML', '<title>Retry later</title>'],
    ['an empty body', ''],
    ['a token', { access_token: 'a' }],
  ];
  const profiles: DataObject[] = [
    samples.custom,
    samples.microsoftRefresh,
    samples.oktaRefresh,
    samples.gitlabPassword,
  ];

  it.each(bodies)('D15 has the code rate_limited for 429 with %s', (_, body) => {
    for (const fields of profiles) {
      const error = providerErrorFor(readAcme(fields), createResponse(429, body));
      expect(error.code).toBe('rate_limited');
      expect(error.retryAt).toBeUndefined();
      expect(error.message).toMatch(/^\S+ returned HTTP 429 \(rate limit exceeded\)/);
      expect(error.hint).toMatch(/^wait before/);
    }
  });

  it.each(bodies)('D15 has the code provider_unavailable for 5xx with %s', (_, body) => {
    for (const [status, text] of [
      [500, 'internal server error'],
      [501, 'server error'],
      [502, 'bad gateway'],
      [503, 'service unavailable'],
      [504, 'gateway timeout'],
      [520, 'server error'],
      [599, 'server error'],
    ] as const) {
      for (const fields of profiles) {
        const error = providerErrorFor(readAcme(fields), createResponse(status, body));
        expect(error.code).toBe('provider_unavailable');
        expect(error.provider.status).toBe(status);
        expect(error.message).toMatch(new RegExp(`^\\S+ returned HTTP ${status} \\(${text}\\)(?:$|: )`));
        expect(error.hint).toMatch(/^try again later(?:$|; if the error persists: )/);
      }
    }
  });

  it('has a message without a colon if the body is empty', () => {
    expect(providerErrorFor(profile, createResponse(503, '')).message).toMatch(/\(service unavailable\)$/);
  });

  it("contains the provider's error and the hint for it", () => {
    const body = { error: 'invalid_grant', error_description: 'x' };
    const error = providerErrorFor(readAcme(samples.microsoftRefresh), createResponse(500, body));
    expect(error.message).toMatch(/: invalid_grant: x$/);
    expect(error.hint).toMatch(/^try again later; if the error persists: .*oauth-profile login acme/);
  });

  it('D18 contains when to retry', () => {
    const error = providerErrorFor(profile, createResponse(503, 'x', { 'retry-after': '90' }));
    expect(error.retryAt).toBe(RECEIVED_AT + 90_000);
    expect(error.hint).toBe('try again in 90 s');
    expect(JSON.parse(JSON.stringify(error)).retryAt).toBe('2030-01-01T00:01:30.000Z');
    const headers = { 'retry-after': 'Tue, 01 Jan 2030 00:00:30 GMT' };
    expect(providerErrorFor(profile, createResponse(429, 'x', headers))).toMatchObject({
      retryAt: RECEIVED_AT + 30_000,
      hint: expect.stringMatching(/^wait 30 s before/),
    });
  });

  it('D18 does not suggest to wait 0 s', () => {
    const headers = { 'retry-after': '0' };
    expect(providerErrorFor(profile, createResponse(429, '', headers)).hint).toMatch(/^wait before/);
    expect(providerErrorFor(profile, createResponse(503, '', headers)).hint).toBe('try again later');
  });

  it('D18 can be printed with any Retry-After', () => {
    const error = providerErrorFor(profile, createResponse(429, 'x', { 'retry-after': '9'.repeat(300) }));
    expect(() => JSON.stringify(error)).not.toThrow();
  });
});

describe('the error for a redirect', () => {
  const redirectTo = (location: string | undefined, status = 302) =>
    providerErrorFor(profile, createResponse(status, 'x', location === undefined ? {} : { location }));

  it.each([300, 301, 302, 303, 304, 307, 308, 399])('D13 names the target of a %i', (status) => {
    const error = redirectTo('https://login.example.net/new/token', status);
    expect(error.code).toBe('redirected');
    expect(error.message).toContain(` https://login.example.net/new/token (HTTP ${status})`);
    expect(error.hint).toContain('acme.url');
  });

  it.each([
    ['https://a.example/p?secret=1#frag', 'https://a.example/p'],
    ['https://a.example?x', 'https://a.example/'],
    ['/elsewhere?x', 'https://id.example.com/elsewhere'],
    ['//b.example/p', 'https://b.example/p'],
    ['elsewhere', 'https://id.example.com/elsewhere'],
    ['https://user:pw@a.example/p', 'https://a.example/p'],
    ['https://a.example/\u001b[31m', 'https://a.example/%1B[31m'],
    ['https://a.example/p#x\ny?z', 'https://a.example/p'],
    ['?x=1', 'an invalid location'],
    ['http://[', 'an invalid location'],
    ['', 'an invalid location'],
    [undefined, 'an invalid location'],
  ])('D13 shows the location %j as %s', (location, target) => {
    expect(redirectTo(location).message).toContain(` redirected to ${target} (HTTP 302)`);
  });

  it('D13 has the code redirected, whatever the body is', () => {
    const body = { access_token: 'a', error: 'invalid_grant' };
    const response = createResponse(307, body, { location: 'https://a.example/' });
    expect(providerErrorFor(readAcme(samples.google), response).code).toBe('redirected');
  });

  it.each(['AbCdEfGh12345678', 'ABCDEFGH12345678', 'abcdefgh12345678'])(
    'D13 does not show a host that contains the secret, in any case: %s',
    (secret) => {
      const withSecret = readAcme({ ...samples.google, client_secret: 'AbCdEfGh12345678' });
      for (const location of [`https://${secret}.evil.example/`, `https://x-${secret}-y.example:8443/p`]) {
        const { message } = providerErrorFor(withSecret, createResponse(302, 'x', { location }));
        expect(message).toContain('contains a secret');
        expect(message.toLowerCase()).not.toContain('abcdefgh');
      }
    },
  );

  it('D13 truncates a long location', () => {
    expect(redirectTo(`https://a.example/${'x'.repeat(5000)}`).message.length).toBeLessThan(400);
  });
});

describe('the hint for invalid_client', () => {
  const invalidClient = { error: 'invalid_client' };
  const customHint = (fields: DataObject) => hintFor({ ...samples.custom, ...fields }, 401, invalidClient);

  it('D12 names client_secret_basic_raw only if encoding changed the secret', () => {
    const basicHint = (client_secret: string) => hintFor({ ...samples.twitter, client_secret }, 401, invalidClient);
    expect(basicHint('s/cret+')).toMatch(/acme\.options\.client_auth.*client_secret_basic_raw/);
    expect(basicHint('plain-secret_1.~')).not.toContain('client_secret_basic_raw');
    expect(customHint({ client_secret: 's/cret+' })).not.toContain('client_secret_basic_raw');
    const pair = { type: 'twitter', basic: { user: 'u', password: 's/cret+' } };
    expect(hintFor(pair, 401, invalidClient)).toContain('client_secret_basic_raw');
    expect(hintFor({ ...pair, basic: { user: 'u/', password: '' } }, 401, invalidClient)).not.toContain('_raw');
  });

  it('D12 does not name client_secret_basic_raw for other errors', () => {
    const fields = { ...samples.twitter, client_secret: 's/cret+' };
    expect(hintFor(fields, 400, { error: 'invalid_scope' })).not.toContain('client_secret_basic_raw');
  });

  it.each([
    ['secret-value\n', 'ends with a line break'],
    [' secret-value', 'starts or ends with whitespace'],
    ['"secret-value"', 'is enclosed in quotes'],
    ['secret\nvalue', 'contains a line break'],
  ])('points out stray characters of the secret %j without revealing it', (client_secret, problem) => {
    const hint = customHint({ client_secret });
    expect(hint).toContain(`acme.client_secret ${problem}`);
    expect(hint).not.toMatch(/secret.value/);
  });

  it('points out stray characters of the client id', () => {
    expect(customHint({ client_id: 'me ' })).toMatch(/\nacme\.client_id starts or ends with whitespace$/);
  });

  it('points out stray characters even if the hint does not name the variable', () => {
    const fields = { ...samples.microsoftClient, client_id: `${samples.microsoftClient.client_id}\n` };
    const hint = hintFor(fields, 401, { ...invalidClient, error_codes: [7000215] });
    expect(hint).toMatch(/set acme\.client_secret\nacme\.client_id ends with a line break$/);
  });

  it('points out stray characters of the Basic credentials', () => {
    const basic = { user: "'u'", password: 'p\r\n' };
    const hint = customHint({ basic });
    expect(hint).toContain('acme.basic.user is enclosed in quotes\nacme.basic.password ends with a line break');
  });

  it('has no remark about values without stray characters', () => {
    expect(customHint({})).toMatch(/acme\.client_id and acme\.client_secret$/);
  });
});

describe('a hint that names other variables', () => {
  it('points out their stray characters', () => {
    const fields = { ...samples.gitlabPassword, password: 'pass-word-1 ' };
    const hint = hintFor(fields, 400, { error: 'invalid_grant' });
    expect(hint).toMatch(/acme\.password starts or ends with whitespace$/);
    expect(hint).not.toContain('pass-word-1');
  });

  it('repeats all warnings of the profile, but not its notes', () => {
    const fields = { ...samples.gitlabPassword, client_secret: 'secret-value ', scopes: 'api' };
    const { notes, warnings } = readAcme(fields);
    const [hint, ...lines] = hintFor(fields, 400, { error: 'invalid_grant' })?.split('\n') ?? [];
    expect(hint).toContain('acme.password');
    expect(lines).toEqual(warnings);
    expect([warnings.length, notes.length]).toEqual([2, 1]);
  });

  it('consists of the warnings if nothing is known about the error', () => {
    const fields = { ...samples.custom, grant_type: 'client_credential' };
    expect(hintFor(fields, 400, { error: 'odd' })).toBe(readAcme(fields).warnings.join('\n'));
    expect(hintFor(samples.custom, 400, { error: 'odd' })).toBeUndefined();
  });
});
