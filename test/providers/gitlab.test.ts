import { describe, expect, it } from 'vitest';
import { readAcme, receive, refusalOf, replyWith, seen } from '../support/read-sample.ts';
import { samples, secrets } from '../support/sample-profiles.ts';

const { gitlabPassword, gitlabRefresh } = samples;
const gitlabCode = { ...gitlabRefresh, refresh_token: '', grant_type: 'authorization_code', code: 'a-code-of-gitlab' };
const invalidGrant =
  'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.';

describe('gitlab, requests', () => {
  it('R4.2 P4 asks with the password grant', () => {
    expect(seen(readAcme(gitlabPassword))).toEqual({
      url: 'https://gitlab.com/oauth/token',
      form: [
        ['grant_type', 'password'],
        ['username', 'ada'],
        ['password', secrets.password],
      ],
      basic: undefined,
    });
  });

  it('D6 D12 refreshes when there is no user, the client in the body', () => {
    expect(seen(readAcme(gitlabRefresh))).toEqual({
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

  it('D8 reaches a self-managed instance under a path', () => {
    const url = 'https://example.com/gitlab/oauth/token';
    expect(seen(readAcme({ ...gitlabPassword, url }))).toEqual({ ...seen(readAcme(gitlabPassword)), url });
  });

  it('D18 takes each refresh token once', () => {
    expect(readAcme(gitlabRefresh).options.refreshTokenReuse).toBe('refused');
  });
});

describe('gitlab, replies', () => {
  it('D4 keeps created_at beside the members that everybody sends', () => {
    const body = {
      access_token: 'a1',
      token_type: 'Bearer',
      expires_in: 7200,
      refresh_token: 'r2',
      scope: 'api',
      created_at: 1_700_000_000,
    };
    const { response, refreshToken } = receive(readAcme(gitlabRefresh), replyWith(200, body));
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
  ])('D15 %i %s (%s) names what to change', (status, error, description, fields, variable) => {
    const refused = refusalOf(
      readAcme(fields),
      replyWith(
        status,
        { error, error_description: description },
        { 'www-authenticate': `Bearer realm="Doorkeeper", error="${error}"`, 'x-gitlab-meta-correlation-id': '01J' },
      ),
    );
    expect(refused.hint).toContain(variable);
    expect(refused.provider).toMatchObject({ status, error, description, correlationId: '01J' });
  });

  it('invalid_grant means a login for a refresh token and a refusal for a password', () => {
    const reply = replyWith(400, { error: 'invalid_grant', error_description: invalidGrant });
    expect(refusalOf(readAcme(gitlabRefresh), reply).code).toBe('login_required');
    expect(refusalOf(readAcme(gitlabPassword), reply).code).toBe('provider_rejected');
  });

  it('understands the throttle that answers in plain text', () => {
    const error = refusalOf(readAcme(gitlabPassword), replyWith(429, 'Retry later\n', { 'retry-after': '7' }));
    expect(error.code).toBe('rate_limited');
    expect(error.message).toBe('gitlab takes no more requests for now (HTTP 429, Retry later)');
  });
});
