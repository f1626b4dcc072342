import { describe, expect, it } from 'vitest';
import {
  createResponse,
  decodeRequest,
  providerErrorFor,
  RECEIVED_AT,
  readAcme,
  samples,
  secrets,
} from '../support/profiles.ts';

const { oktaPassword, oktaRefresh } = samples;
const url = 'https://trial-1234567.okta.com/oauth2/default/v1/token';
const oktaCode = { ...oktaRefresh, refresh_token: '', grant_type: 'authorization_code', code: 'a-code-of-okta' };

describe('a request of okta', () => {
  it('R4.2 P3 uses the password grant with client_secret_basic', () => {
    expect(decodeRequest(readAcme(oktaPassword))).toEqual({
      url,
      form: [
        ['grant_type', 'password'],
        ['username', 'ada'],
        ['password', secrets.password],
        ['scope', 'openid'],
      ],
      basic: ['0oa1', secrets.client_secret],
    });
  });

  it('D6 uses the refresh token if there is no username', () => {
    expect(decodeRequest(readAcme(oktaRefresh))).toEqual({
      url,
      form: [
        ['grant_type', 'refresh_token'],
        ['refresh_token', secrets.refresh_token],
      ],
      basic: ['0oa1', secrets.client_secret],
    });
  });

  it('D12 contains client_id in the form if there is no secret', () => {
    const { form, basic } = decodeRequest(readAcme({ ...oktaRefresh, client_secret: '' }));
    expect(basic).toBeUndefined();
    expect(form).toEqual([
      ['grant_type', 'refresh_token'],
      ['client_id', '0oa1'],
      ['refresh_token', secrets.refresh_token],
    ]);
  });

  it('D18 can use a rotated refresh token again for 30 s, or for options.grace', () => {
    expect(readAcme(oktaRefresh).options).toMatchObject({ refreshTokenReuse: 'grace', graceMs: 30_000 });
    expect(readAcme({ ...oktaRefresh, options: { grace: '10s' } }).options.graceMs).toBe(10_000);
  });
});

describe('an error response of okta', () => {
  it.each([
    [401, 'invalid_client', 'No client credentials found.', oktaPassword, 'acme.client_secret'],
    [401, 'invalid_client', "Invalid value for 'client_id' parameter.", oktaPassword, 'acme.client_id'],
    [
      401,
      'invalid_client',
      'The client secret supplied for a confidential client is invalid.',
      oktaPassword,
      'set acme.client_secret',
    ],
    [401, 'invalid_client', 'Something new.', oktaPassword, 'acme.options.client_auth'],
    [400, 'invalid_grant', 'The credentials provided were invalid.', oktaPassword, 'acme.username and acme.password'],
    [400, 'invalid_grant', 'The refresh token is invalid or expired.', oktaRefresh, 'run: oauth-profile login acme'],
    [400, 'invalid_grant', 'The authorization code is invalid or has expired.', oktaCode, 'acme.code'],
    [400, 'invalid_grant', 'PKCE verification failed.', oktaCode, 'acme.code'],
    [401, 'access_denied', 'Policy evaluation failed for this request, please check', oktaPassword, 'acme.client_id'],
    [400, 'access_denied', 'User is not assigned to the client application.', oktaPassword, 'acme.username'],
    [403, 'access_denied', 'Access denied by network zone.', oktaPassword, 'acme.scope'],
    [400, 'unauthorized_client', 'The client is not authorized to use the grant.', oktaPassword, 'acme.grant_type'],
    [400, 'unsupported_grant_type', 'The authorization grant type is not supported.', oktaPassword, 'acme.grant_type'],
    [400, 'invalid_scope', 'One or more scopes are not configured.', oktaPassword, 'acme.scope'],
    [400, 'invalid_request', "The 'scope' parameter is required.", oktaPassword, 'acme.scope'],
    [401, 'invalid_request', 'Cannot supply multiple client credentials.', oktaPassword, 'acme.options.client_auth'],
    [400, 'use_dpop_nonce', 'Authorization server requires nonce in DPoP proof.', oktaPassword, 'acme.client_id'],
    [400, 'invalid_dpop_proof', 'The DPoP proof JWT header is missing.', oktaPassword, 'acme.options.dpop'],
  ])('D15 with %i %s (%s) has a hint that names what to change', (status, error, description, fields, variable) => {
    const found = providerErrorFor(readAcme(fields), createResponse(status, { error, error_description: description }));
    expect(found.hint).toContain(variable);
    expect(found.provider).toMatchObject({ status, error, description });
  });

  it.each([
    ['oktaRefresh', oktaRefresh, 'login_required'],
    ['oktaPassword', oktaPassword, 'provider_rejected'],
    ['oktaCode', oktaCode, 'provider_rejected'],
  ])('with invalid_grant requires a login for a refresh token only: %s', (_, fields, code) => {
    const body = { error: 'invalid_grant', error_description: 'no' };
    expect(providerErrorFor(readAcme(fields), createResponse(400, body)).code).toBe(code);
  });

  it.each([
    [401, 'E0000004', 'acme.client_id'],
    [401, 'E0000011', 'acme.client_id'],
    [404, 'E0000007', 'acme.tenant_id'],
    [400, 'E0000021', 'acme.url'],
    [405, 'E0000022', 'acme.url'],
  ])(
    'D15 in the format of the platform with %i %s has a hint that names what to change',
    (status, errorCode, variable) => {
      const body = {
        errorCode,
        errorSummary: 'Not found: Resource not found',
        errorLink: errorCode,
        errorId: 'oae-1',
        errorCauses: [],
      };
      const error = providerErrorFor(readAcme(oktaPassword), createResponse(status, body));
      expect(error.hint).toContain(variable);
      expect(error.provider).toMatchObject({
        status,
        error: errorCode,
        codes: [errorCode],
        description: 'Not found: Resource not found',
        correlationId: 'oae-1',
      });
    },
  );

  it('D15 with 429 and invalid_grant is a rate limit', () => {
    const reset = RECEIVED_AT / 1000 + 42;
    const error = providerErrorFor(
      readAcme(oktaRefresh),
      createResponse(
        429,
        { error: 'invalid_grant', error_description: 'user rate limited' },
        { 'x-rate-limit-reset': String(reset), 'x-okta-request-id': 'Yq1' },
      ),
    );
    expect(error.code).toBe('rate_limited');
    expect(error.retryAt).toBe(reset * 1000);
    expect(error.hint).toMatch(/^wait 42 s /);
    expect(error.provider).toMatchObject({ error: 'invalid_grant', correlationId: 'Yq1' });
  });

  it.each([
    [429, 'E0000047', 'rate_limited'],
    [500, 'E0000009', 'provider_unavailable'],
  ])('in the format of the platform with %i %s has the code %s', (status, errorCode, code) => {
    expect(
      providerErrorFor(readAcme(oktaPassword), createResponse(status, { errorCode, errorSummary: 'x' })).code,
    ).toBe(code);
  });
});
