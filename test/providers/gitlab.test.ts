import { describe, expect, it } from 'vitest';
import {
  createResponse,
  decodeRequest,
  parseResponse,
  providerErrorFor,
  readAcme,
  samples,
  secrets,
} from '../support/profiles.ts';

const { gitlabPassword, gitlabRefresh } = samples;
const gitlabCode = { ...gitlabRefresh, refresh_token: '', grant_type: 'authorization_code', code: 'a-code-of-gitlab' };
const invalidGrant =
  'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.';

describe('a request of gitlab', () => {
  it('R4.2 P4 uses the password grant', () => {
    expect(decodeRequest(readAcme(gitlabPassword))).toEqual({
      url: 'https://gitlab.com/oauth/token',
      form: [
        ['grant_type', 'password'],
        ['username', 'ada'],
        ['password', secrets.password],
      ],
      basic: undefined,
    });
  });

  it('D6 D12 uses the refresh token if there is no username, with client_secret_post', () => {
    expect(decodeRequest(readAcme(gitlabRefresh))).toEqual({
      url: 'https://gitlab.com/oauth/token',
      form: [
        ['grant_type', 'refresh_token'],
        ['client_id', 'gitlab-app'],
        ['client_secret', secrets.client_secret],
        ['refresh_token', secrets.refresh_token],
      ],
      basic: undefined,
    });
  });

  it('D8 can be sent to a self-managed instance below a path', () => {
    const url = 'https://example.com/gitlab/oauth/token';
    expect(decodeRequest(readAcme({ ...gitlabPassword, url }))).toEqual({
      ...decodeRequest(readAcme(gitlabPassword)),
      url,
    });
  });

  it('D18 can use each refresh token once', () => {
    expect(readAcme(gitlabRefresh).options.refreshTokenReuse).toBe('rejected');
    expect(readAcme(gitlabRefresh).provider.refreshRevokesAccessTokens).toBe(true);
  });
});

describe('a response of gitlab', () => {
  it('D4 keeps created_at', () => {
    const body = {
      access_token: 'a1',
      token_type: 'Bearer',
      expires_in: 7200,
      refresh_token: 'r2',
      scope: 'api',
      created_at: 1_700_000_000,
    };
    const { response, refreshToken } = parseResponse(readAcme(gitlabRefresh), createResponse(200, body));
    expect(response).toStrictEqual(body);
    expect(refreshToken?.reveal()).toBe('r2');
  });

  it.each([
    [401, 'invalid_client', 'Client authentication failed.', gitlabRefresh, 'acme.client_id and acme.client_secret'],
    [400, 'invalid_grant', invalidGrant, gitlabPassword, 'acme.username and acme.password'],
    [400, 'invalid_grant', invalidGrant, gitlabRefresh, 'run: oauth-profile login acme'],
    [400, 'invalid_grant', invalidGrant, gitlabCode, 'acme.code'],
    [
      401,
      'unauthorized_client',
      'not authorized',
      gitlabPassword,
      'remove acme.username and acme.password, then run: oauth-profile login acme',
    ],
    [400, 'unauthorized_client', 'not authorized', gitlabRefresh, 'acme.grant_type'],
    [400, 'unsupported_grant_type', 'not supported', gitlabPassword, 'acme.grant_type'],
    [400, 'invalid_scope', 'The requested scope is invalid', gitlabPassword, 'acme.scope'],
    [400, 'invalid_request', 'Missing required parameter: grant_type.', gitlabPassword, 'acme.grant_type'],
  ])('D15 with %i %s (%s) has a hint that names what to change', (status, error, description, fields, variable) => {
    const found = providerErrorFor(
      readAcme(fields),
      createResponse(
        status,
        { error, error_description: description },
        { 'www-authenticate': `Bearer realm="Doorkeeper", error="${error}"`, 'x-gitlab-meta-correlation-id': '01J' },
      ),
    );
    expect(found.hint).toContain(variable);
    expect(found.provider).toMatchObject({ status, error, description, correlationId: '01J' });
  });

  it('with invalid_grant requires a login for a refresh token only', () => {
    const response = createResponse(400, { error: 'invalid_grant', error_description: invalidGrant });
    expect(providerErrorFor(readAcme(gitlabRefresh), response).code).toBe('login_required');
    expect(providerErrorFor(readAcme(gitlabPassword), response).code).toBe('provider_rejected');
  });

  it('with 429 may be plain text', () => {
    const error = providerErrorFor(
      readAcme(gitlabPassword),
      createResponse(429, 'Retry later\n', { 'retry-after': '7' }),
    );
    expect(error.code).toBe('rate_limited');
    expect(error.message).toMatch(/^gitlab returned HTTP 429 .*: Retry later$/);
  });
});
