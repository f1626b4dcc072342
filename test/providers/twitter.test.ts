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

const { twitter } = samples;

describe('a request of twitter', () => {
  it('R4.2 P5 contains only the grant, with client_secret_basic', () => {
    expect(decodeRequest(readAcme(twitter))).toEqual({
      url: 'https://api.twitter.com/oauth2/token',
      form: [['grant_type', 'client_credentials']],
      basic: ['xKey', secrets.client_secret],
    });
  });

  it.each(['client_id', 'client_secret'])('R4.2 P5 requires %s', (field) => {
    expect(invalidVariables({ ...twitter, [field]: undefined })).toEqual([`acme.${field}`]);
  });

  it('D18 assumes that reuse of a refresh token revokes its family', () => {
    expect(readAcme(twitter).options.refreshTokenReuse).toBe('revokes_family');
  });
});

describe('a response of twitter', () => {
  it('D4 contains a token with percent escapes, which is not changed, and no expiry', () => {
    const body = { token_type: 'bearer', access_token: 'AAAA%2FAAA%3DAAAA%252B' };
    const token = parseResponse(readAcme(twitter), createResponse(200, body));
    expect(token.response).toStrictEqual(body);
    expect(token.accessToken.reveal()).toBe('AAAA%2FAAA%3DAAAA%252B');
    expect(token.tokenType).toBe('bearer');
    expect(token.expiresAt).toBeUndefined();
  });

  it.each([
    [403, 99, 'authenticity_token_error', 'Unable to verify your credentials', 'acme.client_id and acme.client_secret'],
    [403, 170, undefined, 'Missing required parameter: grant_type', 'acme.url'],
    [401, 89, 'invalid_or_expired', 'Invalid or expired token', 'acme.client_secret'],
    [403, 220, undefined, 'Your credentials do not allow access to this resource.', 'acme.url'],
  ])('D15 with %i and code %i has a hint that names what to change', (status, code, label, message, variable) => {
    const error = providerErrorFor(readAcme(twitter), createResponse(status, { errors: [{ code, label, message }] }));
    expect(error.code).toBe('provider_rejected');
    expect(error.hint).toContain(variable);
    expect(error.provider).toMatchObject({
      status,
      error: label ?? String(code),
      codes: [String(code)],
      description: message,
    });
  });

  it('D15 with an unknown code has no hint', () => {
    const error = providerErrorFor(
      readAcme(twitter),
      createResponse(403, { errors: [{ code: 453, message: 'Not for you' }] }),
    );
    expect(error.hint).toBeUndefined();
    expect(error.message).toContain('(HTTP 403, 453: Not for you)');
  });

  it('may be a rate limit, or a problem document of newer resources', () => {
    const rateLimit = { errors: [{ code: 88, message: 'Rate limit exceeded' }] };
    expect(providerErrorFor(readAcme(twitter), createResponse(429, rateLimit)).code).toBe('rate_limited');
    const problem = { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'No such app' };
    expect(providerErrorFor(readAcme(twitter), createResponse(401, problem)).message).toContain(
      '(HTTP 401, Unauthorized: No such app)',
    );
  });
});
