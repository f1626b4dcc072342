import { describe, expect, it } from 'vitest';
import {
  createResponse,
  decodeRequest,
  invalidVariables,
  parseResponse,
  providerErrorFor,
  readAcme,
  samples,
  secrets,
} from '../support/profiles.ts';

const { google } = samples;
const code = { ...google, grant_type: 'authorization_code', code: '4/abcdefgh', refresh_token: '' };

describe('a request of google', () => {
  it('R4.2 R5.2 P2 contains client id, secret and refresh token', () => {
    expect(decodeRequest(readAcme(google))).toEqual({
      url: 'https://accounts.google.com/o/oauth2/token',
      form: [
        ['grant_type', 'refresh_token'],
        ['client_id', '1234.apps.googleusercontent.com'],
        ['client_secret', secrets.client_secret],
        ['refresh_token', secrets.refresh_token],
      ],
      basic: undefined,
    });
  });

  it.each(['client_id', 'client_secret', 'refresh_token'])('R5.2 P2 requires %s', (field) => {
    expect(invalidVariables({ ...google, [field]: undefined })).toEqual([`acme.${field}`]);
    expect(invalidVariables({ ...google, [field]: '' })).toEqual([`acme.${field}`]);
  });

  it('D18 can use a refresh token again', () => {
    expect(readAcme(google).options.refreshTokenReuse).toBe('allowed');
  });
});

describe('a response of google', () => {
  it('to a refresh has no new refresh token', () => {
    const token = parseResponse(
      readAcme(google),
      createResponse(200, { access_token: 'ya29.a', expires_in: 3599, scope: 'openid', token_type: 'Bearer' }),
    );
    expect(token.refreshToken).toBeUndefined();
    expect(token.accessToken.reveal()).toBe('ya29.a');
  });

  it.each([
    [
      400,
      'invalid_grant',
      'Token has been expired or revoked.',
      google,
      'run: oauth-profile login acme',
      'login_required',
    ],
    [400, 'invalid_grant', 'Bad Request', google, 'run: oauth-profile login acme', 'login_required'],
    [400, 'invalid_grant', 'Bad Request', code, 'acme.code', 'provider_rejected'],
    [401, 'invalid_client', 'Unauthorized', google, 'acme.client_secret', 'provider_rejected'],
    [401, 'invalid_client', 'The OAuth client was not found.', google, 'acme.client_id', 'provider_rejected'],
    [401, 'deleted_client', 'The OAuth client was deleted.', google, 'acme.client_id', 'provider_rejected'],
    [400, 'redirect_uri_mismatch', 'Bad Request', code, 'acme.options.redirect_uri', 'provider_rejected'],
    [400, 'invalid_request', 'client_secret is missing.', google, 'set acme.client_secret', 'provider_rejected'],
    [400, 'invalid_request', 'Missing required parameter: refresh_token', google, 'acme.refresh_token', undefined],
    [401, 'unauthorized_client', 'Unauthorized', google, 'acme.grant_type', 'provider_rejected'],
    [400, 'unsupported_grant_type', 'Invalid grant_type: x', google, 'acme.grant_type', 'provider_rejected'],
    [400, 'invalid_scope', 'Some requested scopes were invalid.', google, 'acme.scope', 'provider_rejected'],
    [403, 'admin_policy_enforced', undefined, google, 'acme.client_id', 'provider_rejected'],
    [403, 'org_internal', undefined, google, 'acme.client_id', 'provider_rejected'],
    [403, 'disallowed_useragent', undefined, google, 'run: oauth-profile login acme', 'provider_rejected'],
    [403, 'access_denied', undefined, google, 'acme.client_id', 'provider_rejected'],
    [403, 'rate_limit_exceeded', undefined, google, 'acme.client_id', 'provider_rejected'],
  ])(
    'D15 with %i %s (%s) has a hint that names what to change',
    (status, error, description, fields, variable, errorCode) => {
      const found = providerErrorFor(
        readAcme(fields),
        createResponse(status, { error, error_description: description }),
      );
      expect(found.hint).toContain(variable);
      expect(found.provider).toMatchObject({ status, error, description });
      expect(found.code).toBe(errorCode ?? 'provider_rejected');
    },
  );

  it('may have the subtype of session control', () => {
    const body = { error: 'invalid_grant', error_description: 'reauth related error', error_subtype: 'invalid_rapt' };
    const error = providerErrorFor(readAcme(google), createResponse(400, body));
    expect(error.code).toBe('login_required');
    expect(error.provider.suberror).toBe('invalid_rapt');
    expect(error.hint).toContain('run: oauth-profile login acme');
  });

  it('may have the format of googleapis.com', () => {
    const body = { error: { code: 401, message: 'Request had invalid credentials.', status: 'UNAUTHENTICATED' } };
    const error = providerErrorFor(readAcme(google), createResponse(401, body));
    expect(error.message).toContain('(HTTP 401, UNAUTHENTICATED: Request had invalid credentials.)');
    expect(error.hint).toContain('oauth-profile login');
  });
});
