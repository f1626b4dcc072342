import { beforeAll, describe, expect, it } from 'vitest';
import { loadCatalogue } from '../../src/providers/registry.ts';
import { createResponse, parseResponse, profileOf, providerErrorFor, RECEIVED_AT } from '../support/profiles.ts';

const app = { type: 'github', client_id: 'Iv1.app', client_secret: 'a-client-secret', refresh_token: 'ghr_1' };
beforeAll(() => loadCatalogue());

describe('github', () => {
  it('parses a form-encoded response whose scopes are separated by commas', () => {
    const body =
      'access_token=ghu_1&expires_in=28800&refresh_token=ghr_2&refresh_token_expires_in=15811200&scope=repo%2Cgist&token_type=bearer';
    const { accessToken, refreshToken, expiresAt, response } = parseResponse(profileOf(app), createResponse(200, body));
    expect([accessToken.reveal(), refreshToken?.reveal(), expiresAt]).toEqual([
      'ghu_1',
      'ghr_2',
      RECEIVED_AT + 28_800_000,
    ]);
    expect(response['scope']).toBe('repo,gist');
  });

  it.each([
    ['incorrect_client_credentials', 'provider_rejected', 'svc.client_secret'],
    ['bad_refresh_token', 'login_required', 'oauth-profile login svc'],
    ['something_new', 'provider_rejected', undefined],
  ])('reports %s with status 200 as %s', (error, code, hint) => {
    for (const body of [{ error }, `error=${error}`]) {
      const found = providerErrorFor(profileOf(app), createResponse(200, body));
      expect([found.code, found.hint]).toEqual([code, hint && expect.stringContaining(hint)]);
    }
  });

  it('refreshes without a secret, as a token of the device flow', () => {
    const { client_secret: _, ...withoutSecret } = app;
    const { clientAuth, fields } = profileOf(withoutSecret);
    expect([clientAuth, fields.map(({ name }) => name)]).toEqual([
      'none',
      ['grant_type', 'client_id', 'refresh_token'],
    ]);
  });
});
