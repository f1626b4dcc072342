import { describe, expect, it } from 'vitest';
import { createResponse, decodeRequest, providerErrorFor, readAcme, samples, secrets } from '../support/profiles.ts';

const url = 'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token';
const { microsoftPassword, microsoftRefresh, microsoftClient } = samples;

/** An error response in the format of Entra: CR LF in the description, `claims` is a string. */
function entraError(code: number, error = 'invalid_grant', more: object = {}) {
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

describe('a request of microsoft', () => {
  it('R4.2 P1 uses the password grant', () => {
    expect(decodeRequest(readAcme(microsoftPassword))).toEqual({
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

  it('R4.2 R5.4 P1 refresh uses the refresh token and no credentials of the user', () => {
    expect(decodeRequest(readAcme(microsoftRefresh))).toEqual({
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

  it('D5 uses the refresh token for the type microsoft-refresh', () => {
    const profile = readAcme({ ...microsoftRefresh, type: 'microsoft-refresh' });
    expect(profile.provider.type).toBe('microsoft');
    expect(decodeRequest(profile)).toEqual(decodeRequest(readAcme(microsoftRefresh)));
  });

  it('D5 of type microsoft-refresh contains the refresh token only, even if username and password are set', () => {
    const profile = readAcme({ ...microsoftPassword, ...microsoftRefresh, type: 'microsoft-refresh' });
    expect(decodeRequest(profile).form).toEqual(decodeRequest(readAcme(microsoftRefresh)).form);
  });

  it('contains every field except type, url and tenant_id', () => {
    const { form } = decodeRequest(readAcme({ ...microsoftClient, claims: '{"a":1}', audience: 'x', resource: 'y' }));
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

describe('a refresh token of microsoft', () => {
  it('D18 can be used again', () => {
    expect(readAcme(microsoftRefresh).options.refreshTokenReuse).toBe('allowed');
  });
});

describe('an error response of microsoft', () => {
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
  ])('D15 with AADSTS%i has a hint that names %s', (code, variable) => {
    const error = providerErrorFor(readAcme(microsoftPassword), createResponse(400, entraError(code)));
    expect(error.hint).toContain(variable);
    expect(error.hint).not.toMatch(/[{}]/);
    expect(error.provider.codes).toEqual([`AADSTS${code}`]);
  });

  it("D15 for a wrong secret has the hint that often the secret's ID was configured", () => {
    const error = providerErrorFor(
      readAcme(microsoftClient),
      createResponse(401, entraError(7000215, 'invalid_client')),
    );
    expect(error.code).toBe('provider_rejected');
    expect(error.hint).toMatch(/ID.*: set acme\.client_secret$/);
    expect(error.message).toContain('(HTTP 401, invalid_client: AADSTS7000215: Something');
  });

  it('D15 has error, description in one line, codes, suberror, status and correlation id', () => {
    const body = entraError(50076, 'invalid_grant', { suberror: 'basic_action', claims: '{"access_token":{"x":1}}' });
    expect(providerErrorFor(readAcme(microsoftPassword), createResponse(400, body)).toJSON()).toMatchObject({
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

  it('D15 does not repeat the correlation id in the message', () => {
    const { message } = providerErrorFor(
      readAcme(microsoftPassword),
      createResponse(400, entraError(50076, 'invalid_grant')),
    );
    expect(message).toMatch(/\(HTTP 400, invalid_grant: AADSTS50076: Something is wrong with 'x'\.\)$/);
    const { correlation_id: _, trace_id: __, ...without } = entraError(50076, 'invalid_grant');
    expect(providerErrorFor(readAcme(microsoftPassword), createResponse(400, without)).message).toContain(
      'Correlation ID: 9a8b',
    );
  });

  it('may have its code in the description only', () => {
    const { error_codes: _, ...body } = entraError(700016, 'unauthorized_client');
    expect(providerErrorFor(readAcme(microsoftPassword), createResponse(400, body)).hint).toContain('acme.client_id');
  });

  it.each([
    ['not a list', 'AADSTS50126'],
    ['a list of other values', [{}, [], null, 'x', -1, 1.5]],
  ])('has no codes if error_codes is %s', (_, codes) => {
    const body = { error: 'invalid_grant', error_description: 'no', error_codes: codes };
    expect(providerErrorFor(readAcme(microsoftPassword), createResponse(400, body)).provider.codes).toBeUndefined();
  });

  it('D15 with an unknown code has no hint', () => {
    const error = providerErrorFor(readAcme(microsoftPassword), createResponse(400, entraError(50158)));
    expect(error.hint).toBeUndefined();
    expect(error.message).toContain("AADSTS50158: Something is wrong with 'x'.");
  });

  it('D15 to a refresh requires a login', () => {
    expect(providerErrorFor(readAcme(microsoftRefresh), createResponse(400, entraError(700082))).code).toBe(
      'login_required',
    );
    expect(providerErrorFor(readAcme(microsoftRefresh), createResponse(400, entraError(50158))).code).toBe(
      'login_required',
    );
  });

  it.each(['interaction_required', 'consent_required', 'login_required', 'bad_token'])(
    'D15 to a refresh with %s requires a login',
    (code) => {
      expect(providerErrorFor(readAcme(microsoftRefresh), createResponse(400, { error: code })).code).toBe(
        'login_required',
      );
    },
  );

  it('with 429 may be plain text', () => {
    const error = providerErrorFor(
      readAcme(microsoftRefresh),
      createResponse(429, 'Too Many Requests', { 'retry-after': '60', 'content-type': 'text/plain' }),
    );
    expect(error.code).toBe('rate_limited');
    expect(error.provider.description).toBe('Too Many Requests');
    expect(error.hint).toMatch(/^wait 60 s /);
  });
});
