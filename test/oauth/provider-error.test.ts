import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { ProviderError } from '../../src/errors.ts';
import { outsideWith, RECEIVED_AT, readAcme, refusalOf, replyWith } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const profile = readAcme(samples.custom);

describe('a refusal', () => {
  it('D15 is one error object: code, sentence, hint, and the own words of the provider', () => {
    const error = refusalOf(
      readAcme(samples.google),
      replyWith(401, { error: 'invalid_client', error_description: 'Unauthorized' }, { 'x-request-id': 'r-1' }),
    );
    expect(error).toBeInstanceOf(ProviderError);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'provider_rejected',
      message: 'google refused profile acme (HTTP 401, invalid_client: Unauthorized)',
      hint: 'the client secret is wrong: set acme.client_secret',
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
    'D15 of %s: invalid_grant means a login for a refresh token only',
    (name, sample) => {
      const { code } = refusalOf(readAcme(sample), replyWith(400, { error: 'invalid_grant' }));
      expect(code).toBe(/refresh|google/i.test(name) ? 'login_required' : 'provider_rejected');
    },
  );

  it.each(['invalid_client', 'invalid_request', 'invalid_scope', 'unauthorized_client', 'access_denied'])(
    'D15 %s of a refresh is no reason to sign in again',
    (error) => {
      expect(refusalOf(readAcme(samples.google), replyWith(400, { error })).code).toBe('provider_rejected');
    },
  );

  it('D15 of a profile with another name names the variables of that', () => {
    const named = { ...readAcme(samples.google), name: 'my $& profile' };
    expect(refusalOf(named, replyWith(401, { error: 'invalid_client' })).hint).toContain(
      'set my $& profile.client_secret',
    );
  });

  it('D15 names the variables that are really used: a Basic pair', () => {
    const fields = { type: 'twitter', basic: { user: 'u', password: 'p' } };
    const { hint } = refusalOf(readAcme(fields), replyWith(403, { errors: [{ code: 99, message: 'x' }] }));
    expect(hint).toContain('check acme.basic.user and acme.basic.password');
  });

  it('D15 names the variables that are really used: a key', () => {
    const options = { client_auth: 'private_key_jwt', key_file: 'k' };
    const keyed = readAcme({ ...samples.custom, options }, outsideWith({ k: 'key' }));
    expect(refusalOf(keyed, replyWith(401, { error: 'invalid_client' })).hint).toContain(
      'check acme.client_id and acme.options.key_file',
    );
  });

  it('D15 with no words at all tells the status', () => {
    const error = refusalOf(profile, replyWith(401, ''));
    expect(error.message).toBe('id.example.com refused profile acme (HTTP 401)');
    expect(error.hint).toBeUndefined();
  });

  it('D15 a 404 without words advises to check the address', () => {
    for (const body of ['', '<title>Not Found</title>', 'Not Found']) {
      expect(refusalOf(profile, replyWith(404, body)).hint).toContain('check acme.url');
    }
    expect(refusalOf(profile, replyWith(404, { error: 'own_error' })).hint).toBeUndefined();
  });

  it.each([400, 401, 403, 404, 405, 408, 411, 413, 415, 418, 422, 431, 451])('status %i is a refusal', (status) => {
    expect(refusalOf(profile, replyWith(status, { error: 'x' })).code).toBe('provider_rejected');
  });
});

describe('a refresh token that only a person can replace', () => {
  it.each(['invalid_grant', 'interaction_required', 'consent_required', 'login_required', 'bad_token'])(
    'D15 %s tells the command to run',
    (error) => {
      const { code, hint } = refusalOf(readAcme(samples.microsoftRefresh), replyWith(400, { error }));
      expect(code).toBe('login_required');
      expect(hint).toMatch(/run: oauth-profile login acme$/);
    },
  );

  it('D15 is told what to mend first, where that is known', () => {
    const refusal = { error: 'invalid_grant', error_codes: [65001] };
    const { code, hint } = refusalOf(readAcme(samples.microsoftRefresh), replyWith(400, refusal));
    expect(code).toBe('login_required');
    expect(hint).toBe(
      'nobody consented to this application yet: consent once in a browser, or ask an administrator to, for acme.client_id; then run: oauth-profile login acme',
    );
  });

  it('D15 is told the command once', () => {
    const refusal = { error: 'invalid_grant', error_codes: [50173] };
    expect(refusalOf(readAcme(samples.microsoftRefresh), replyWith(400, refusal)).hint).toBe(
      'the sign-in was revoked (often by a changed password); run: oauth-profile login acme',
    );
  });

  it('D15 is to be pasted where nobody can sign in', () => {
    const fields = { ...samples.custom, grant_type: 'refresh_token', refresh_token: 'r' };
    expect(refusalOf(readAcme(fields), replyWith(400, { error: 'consent_required' })).hint).toBe(
      'get a new one and set acme.refresh_token',
    );
  });

  it.each(['authorization_url', 'device_authorization_url'])('D15 may come of a login at options.%s', (option) => {
    const options = { [option]: 'https://id.example.com/sign-in' };
    const fields = { ...samples.custom, grant_type: 'refresh_token', refresh_token: 'r', options };
    expect(refusalOf(readAcme(fields), replyWith(400, { error: 'invalid_grant' })).hint).toBe(
      'the refresh token is invalid, expired, revoked or of another client; run: oauth-profile login acme',
    );
  });
});

describe('a password that a provider refuses with a code of its own', () => {
  const said = (fields: DataObject, error: string, codes?: readonly number[]) =>
    refusalOf(readAcme(fields), replyWith(400, { error, ...(codes && { error_codes: codes }) })).hint;
  const password = samples.microsoftPassword;

  it('D15 is called wrong only where there is no such code', () => {
    expect(said(password, 'invalid_grant', [999999])).toBeUndefined();
    expect(said(password, 'invalid_grant')).toMatch(/acme\.password/);
  });

  it('D15 gets the hint for another standard error all the same', () => {
    expect(said(password, 'invalid_scope', [999999])).toMatch(/acme\.scope/);
    expect(said(samples.microsoftRefresh, 'invalid_grant', [999999])).toEqual(expect.any(String));
  });
});

describe('the status comes first', () => {
  const bodies: [string, unknown][] = [
    ['a standard error', { error: 'invalid_grant', error_description: 'x' }],
    ['plain text', 'Retry later'],
    ['HTML', '<title>Retry later</title>'],
    ['nothing', ''],
    ['a token', { access_token: 'a' }],
  ];
  const profiles: [string, DataObject][] = [
    ['custom', samples.custom],
    ['microsoftRefresh', samples.microsoftRefresh],
    ['oktaRefresh', samples.oktaRefresh],
    ['gitlabPassword', samples.gitlabPassword],
  ];

  it.each(bodies)('D15 429 with %s is a throttle', (_, body) => {
    for (const [, fields] of profiles) {
      const error = refusalOf(readAcme(fields), replyWith(429, body));
      expect(error.code).toBe('rate_limited');
      expect(error.retryAt).toBeUndefined();
      expect(error.hint).toBe('wait a while before another try, and reuse tokens instead of asking for new ones');
    }
  });

  it.each(bodies)('D15 5xx with %s is an outage', (_, body) => {
    for (const status of [500, 501, 502, 503, 504, 520, 599]) {
      for (const [, fields] of profiles) {
        const error = refusalOf(readAcme(fields), replyWith(status, body));
        expect(error.code).toBe('provider_unavailable');
        expect(error.provider.status).toBe(status);
        expect(error.message).toMatch(new RegExp(`^\\S+ is out of order \\(HTTP ${status}\\b`));
        expect(error.hint).toMatch(/^try again later(?:$|; if it says the same again, )/);
      }
    }
  });

  it('5xx that says what is wrong names what to change, if it stays', () => {
    const { hint } = refusalOf(readAcme(samples.microsoftRefresh), replyWith(500, { error: 'invalid_grant' }));
    expect(hint).toMatch(/^try again later; if it says the same again, .*oauth-profile login acme/);
  });

  it('D18 says when to come back', () => {
    const error = refusalOf(profile, replyWith(503, 'x', { 'retry-after': '90' }));
    expect(error.retryAt).toBe(RECEIVED_AT + 90_000);
    expect(error.hint).toBe('try again in 90 s');
    expect(JSON.parse(JSON.stringify(error)).retryAt).toBe('2030-01-01T00:01:30.000Z');
    const throttled = refusalOf(profile, replyWith(429, 'x', { 'retry-after': 'Tue, 01 Jan 2030 00:00:30 GMT' }));
    expect(throttled.hint).toMatch(/^wait 30 s /);
  });

  it('D18 does not advise to wait 0 s where the provider refuses and says "at once"', () => {
    const headers = { 'retry-after': '0' };
    expect(refusalOf(profile, replyWith(429, '', headers)).hint).toMatch(/^wait a while /);
    expect(refusalOf(profile, replyWith(503, '', headers)).hint).toBe('try again later');
  });

  it('D18 an absurd time to come back is still an error that prints', () => {
    const error = refusalOf(profile, replyWith(429, 'x', { 'retry-after': '9'.repeat(300) }));
    expect(() => JSON.stringify(error)).not.toThrow();
  });
});

describe('a redirect', () => {
  const to = (location: string | undefined, status = 302) =>
    refusalOf(profile, replyWith(status, 'x', location === undefined ? {} : { location }));

  it.each([300, 301, 302, 303, 304, 307, 308, 399])('D13 %i is an error that names the target', (status) => {
    const error = to('https://login.example.net/new/token', status);
    expect(error.code).toBe('redirected');
    expect(error.message).toBe(
      `id.example.com redirects to https://login.example.net/new/token (HTTP ${status}); secrets are not sent on`,
    );
    expect(error.hint).toBe('if the token endpoint has moved there, set acme.url');
  });

  it.each([
    ['https://a.example/p?secret=1#frag', 'https://a.example/p'],
    ['https://a.example?x', 'https://a.example/'],
    ['/elsewhere?x', 'https://id.example.com/elsewhere'],
    ['//b.example/p', 'https://b.example/p'],
    ['elsewhere', 'https://id.example.com/elsewhere'],
    ['https://user:pw@a.example/p', 'https://a.example/p'],
    ['https://a.example/\u001b[31m', 'https://a.example/%1B[31m'],
    ['?x=1', 'an unnamed place'],
    ['http://[', 'an unnamed place'],
    ['', 'an unnamed place'],
    [undefined, 'an unnamed place'],
  ])('D13 to %j is told as %s', (location, target) => {
    expect(to(location).message).toBe(`id.example.com redirects to ${target} (HTTP 302); secrets are not sent on`);
  });

  it('D13 is one, whatever its body says', () => {
    const reply = replyWith(307, { access_token: 'a', error: 'invalid_grant' }, { location: 'https://a.example/' });
    expect(refusalOf(readAcme(samples.google), reply).code).toBe('redirected');
  });

  it.each(['AbCdEfGh12345678', 'ABCDEFGH12345678', 'abcdefgh12345678'])(
    'D13 to a host made of a secret is not told, with or without its capitals: %s',
    (secret) => {
      const holder = readAcme({ ...samples.google, client_secret: 'AbCdEfGh12345678' });
      for (const location of [`https://${secret}.evil.example/`, `https://x-${secret}-y.example:8443/p`]) {
        const { message } = refusalOf(holder, replyWith(302, 'x', { location }));
        expect(message).toContain('redirects to an address with a secret of the request in it');
        expect(message.toLowerCase()).not.toContain('abcdefgh');
      }
    },
  );

  it('D13 to an endless address is told in part', () => {
    expect(to(`https://a.example/${'x'.repeat(5000)}`).message.length).toBeLessThan(400);
  });
});

describe('a Basic header that the server may not decode', () => {
  const basic = (secret: string) =>
    refusalOf(readAcme({ ...samples.twitter, client_secret: secret }), replyWith(401, { error: 'invalid_client' }))
      .hint;

  it('D12 is pointed out when encoding changed the secret, and only then', () => {
    expect(basic('s/cret+')).toMatch(/set acme\.options\.client_auth to basic_raw or body$/);
    expect(basic('plain-secret_1.~')).toMatch(/check acme\.client_id and acme\.client_secret$/);
  });

  it('D12 is not blamed for another refusal', () => {
    const fields = readAcme({ ...samples.twitter, client_secret: 's/cret+' });
    expect(refusalOf(fields, replyWith(400, { error: 'invalid_scope' })).hint).not.toMatch(/basic_raw/);
  });
});

describe('the device code grant, passed through', () => {
  it.each(['authorization_pending', 'slow_down', 'expired_token'])('D15 has hint for %s', (error) => {
    const device = { ...samples.custom, grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'd' };
    expect(refusalOf(readAcme(device), replyWith(400, { error })).hint).toEqual(expect.any(String));
  });
});
