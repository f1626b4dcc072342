import { describe, expect, it } from 'vitest';
import { readAcme, refusalOf, replyWith, seen } from '../support/read-sample.ts';
import { samples, secrets } from '../support/sample-profiles.ts';

const url = 'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token';
const { microsoftPassword, microsoftRefresh, microsoftClient } = samples;

/** A refusal as Entra words it: CR LF in the description, `claims` a string. */
function refused(code: number, error = 'invalid_grant', more: object = {}) {
  return {
    error,
    error_description: `AADSTS${code}: Something is wrong with 'x'.\r\nTrace ID: 0f1e\r\nCorrelation ID: 9a8b\r\nTimestamp: 2026-01-01 00:00:00Z`,
    error_codes: [code],
    timestamp: '2026-01-01 00:00:00Z',
    trace_id: '0f1e',
    correlation_id: '9a8b7c6d-0000-1111-2222-333344445555',
    error_uri: `https://login.microsoftonline.com/error?code=${code}`,
    ...more,
  };
}

describe('microsoft, requests', () => {
  it('R4.2 P1 asks with the password grant', () => {
    expect(seen(readAcme(microsoftPassword))).toEqual({
      url,
      form: [
        ['grant_type', 'password'],
        ['client_id', microsoftPassword.client_id],
        ['username', 'ada@contoso.com'],
        ['password', secrets.password],
      ],
      basic: undefined,
    });
  });

  it('R4.2 R5.4 P1 refresh asks the same URL with a refresh token and no account credentials', () => {
    expect(seen(readAcme(microsoftRefresh))).toEqual({
      url,
      form: [
        ['grant_type', 'refresh_token'],
        ['client_id', microsoftRefresh.client_id],
        ['client_secret', secrets.client_secret],
        ['refresh_token', secrets.refresh_token],
      ],
      basic: undefined,
    });
  });

  it('D5 microsoft-refresh is the refresh variant', () => {
    const profile = readAcme({ ...microsoftRefresh, type: 'microsoft-refresh' });
    expect(profile.provider.type).toBe('microsoft');
    expect(seen(profile)).toEqual(seen(readAcme(microsoftRefresh)));
  });

  it('D5 microsoft-refresh refreshes even beside a user and a password, and sends neither', () => {
    const profile = readAcme({ ...microsoftPassword, ...microsoftRefresh, type: 'microsoft-refresh' });
    expect(seen(profile).form).toEqual(seen(readAcme(microsoftRefresh)).form);
  });

  it('sends no type, url or tenant_id, but every further field', () => {
    const { form } = seen(readAcme({ ...microsoftClient, claims: '{"a":1}', audience: 'x', resource: 'y' }));
    expect(form).toEqual([
      ['grant_type', 'client_credentials'],
      ['client_id', microsoftClient.client_id],
      ['client_secret', secrets.client_secret],
      ['scope', 'https://graph.microsoft.com/.default'],
      ['claims', '{"a":1}'],
      ['audience', 'x'],
      ['resource', 'y'],
    ]);
  });
});

describe('microsoft, replay', () => {
  it('D18 keeps an exchanged refresh token valid', () => {
    expect(readAcme(microsoftRefresh).options.refreshTokenReuse).toBe('allowed');
  });
});

describe('microsoft, refusals', () => {
  it.each([
    [50126, 'acme.username and acme.password'],
    [50053, 'acme.username'],
    [50055, 'acme.password'],
    [50057, 'acme.username'],
    [50076, 'run: oauth-profile login acme'],
    [50079, 'run: oauth-profile login acme'],
    [50173, 'run: oauth-profile login acme'],
    [50196, 'acme.client_id'],
    [53003, 'acme.tenant_id'],
    [54005, 'acme.code'],
    [65001, 'acme.client_id'],
    [70008, 'run: oauth-profile login acme'],
    [700082, 'run: oauth-profile login acme'],
    [700084, 'run: oauth-profile login acme'],
    [70011, 'acme.scope'],
    [1002012, 'acme.scope'],
    [700016, 'acme.client_id and acme.tenant_id'],
    [700025, 'acme.client_secret'],
    [7000215, 'acme.client_secret'],
    [7000218, 'acme.client_secret'],
    [7000222, 'acme.client_secret'],
    [90002, 'acme.tenant_id'],
    [900023, 'acme.tenant_id'],
    [900144, 'acme.scope'],
    [9001023, 'acme.tenant_id'],
    [901002, 'acme.resource'],
    [501481, 'acme.code_verifier'],
  ])('D15 AADSTS%i names what to change: %s', (code, variable) => {
    const error = refusalOf(readAcme(microsoftPassword), replyWith(400, refused(code)));
    expect(error.hint).toContain(variable);
    expect(error.hint).not.toMatch(/[{}]/);
    expect(error.provider.codes).toEqual([`AADSTS${code}`]);
  });

  it('D15 a wrong secret says that often its ID was pasted', () => {
    const error = refusalOf(readAcme(microsoftClient), replyWith(401, refused(7000215, 'invalid_client')));
    expect(error.code).toBe('provider_rejected');
    expect(error.hint).toBe(
      "the client secret is wrong; often the secret's ID was pasted instead of its value: set acme.client_secret",
    );
    expect(error.message).toContain(
      'microsoft refused profile acme (HTTP 401, invalid_client: AADSTS7000215: Something',
    );
  });

  it('D15 tells error, description in one line, codes, suberror, status and correlation id', () => {
    const body = refused(50076, 'invalid_grant', { suberror: 'basic_action', claims: '{"access_token":{"x":1}}' });
    expect(refusalOf(readAcme(microsoftPassword), replyWith(400, body)).toJSON()).toMatchObject({
      code: 'provider_rejected',
      provider: {
        status: 400,
        error: 'invalid_grant',
        error_description:
          "AADSTS50076: Something is wrong with 'x'. Trace ID: 0f1e Correlation ID: 9a8b Timestamp: 2026-01-01 00:00:00Z",
        codes: ['AADSTS50076'],
        suberror: 'basic_action',
        correlation_id: '9a8b7c6d-0000-1111-2222-333344445555',
      },
    });
  });

  it('D15 repeats in the message neither the correlation id nor what stands around it', () => {
    const { message } = refusalOf(readAcme(microsoftPassword), replyWith(400, refused(50076, 'invalid_grant')));
    expect(message).toBe(
      "microsoft refused profile acme (HTTP 400, invalid_grant: AADSTS50076: Something is wrong with 'x'.)",
    );
    const { correlation_id: _, trace_id: __, ...without } = refused(50076, 'invalid_grant');
    expect(refusalOf(readAcme(microsoftPassword), replyWith(400, without)).message).toContain('Correlation ID: 9a8b');
  });

  it('finds the code in the description where error_codes is missing', () => {
    const { error_codes: _, ...body } = refused(700016, 'unauthorized_client');
    expect(refusalOf(readAcme(microsoftPassword), replyWith(400, body)).hint).toContain('acme.client_id');
  });

  it.each([
    ['not a list', 'AADSTS50126'],
    ['a list of nonsense', [{}, [], null, 'x', -1, 1.5]],
  ])('makes no codes of error_codes that is %s', (_, codes) => {
    const body = { error: 'invalid_grant', error_description: 'no', error_codes: codes };
    expect(refusalOf(readAcme(microsoftPassword), replyWith(400, body)).provider.codes).toBeUndefined();
  });

  it('D15 gives no hint for a code that it does not know, only the words of the provider', () => {
    const error = refusalOf(readAcme(microsoftPassword), replyWith(400, refused(50158)));
    expect(error.hint).toBeUndefined();
    expect(error.message).toContain("AADSTS50158: Something is wrong with 'x'.");
  });

  it('a refresh that is refused needs a person', () => {
    expect(refusalOf(readAcme(microsoftRefresh), replyWith(400, refused(700082))).code).toBe('login_required');
    expect(refusalOf(readAcme(microsoftRefresh), replyWith(400, refused(50158))).code).toBe('login_required');
  });

  it.each(['interaction_required', 'consent_required', 'login_required', 'bad_token'])(
    'a refresh that is refused with %s needs a person',
    (code) => {
      expect(refusalOf(readAcme(microsoftRefresh), replyWith(400, { error: code })).code).toBe('login_required');
    },
  );

  it('understands the throttle that answers in plain text', () => {
    const error = refusalOf(
      readAcme(microsoftRefresh),
      replyWith(429, 'Too Many Requests', { 'retry-after': '60', 'content-type': 'text/plain' }),
    );
    expect(error.code).toBe('rate_limited');
    expect(error.provider.description).toBe('Too Many Requests');
    expect(error.hint).toMatch(/^wait 60 s /);
  });
});
