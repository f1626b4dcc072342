import { describe, expect, it } from 'vitest';
import { faultyIn, readAcme, receive, refusalOf, replyWith, seen } from '../support/read-sample.ts';
import { samples, secrets } from '../support/sample-profiles.ts';

const { twitter } = samples;

describe('twitter, requests', () => {
  it('R4.2 P5 sends nothing but the grant, the client in a Basic header', () => {
    expect(seen(readAcme(twitter))).toEqual({
      url: 'https://api.twitter.com/oauth2/token',
      form: [['grant_type', 'client_credentials']],
      basic: ['xKey', secrets.client_secret],
    });
  });

  it.each(['client_id', 'client_secret'])('R4.2 P5 cannot do without %s', (field) => {
    expect(faultyIn({ ...twitter, [field]: undefined })).toEqual([`acme.${field}`]);
  });

  it('D18 fears the worst of a refresh token used twice', () => {
    expect(readAcme(twitter).options.refreshTokenReuse).toBe('revokes');
  });
});

describe('twitter, replies', () => {
  it('D4 keeps a token with percent signs as it is, and knows no expiry', () => {
    const body = { token_type: 'bearer', access_token: 'AAAA%2FAAA%3DAAAA%252B' };
    const reply = receive(readAcme(twitter), replyWith(200, body));
    expect(reply.response).toStrictEqual(body);
    expect(reply.accessToken.reveal()).toBe('AAAA%2FAAA%3DAAAA%252B');
    expect(reply.tokenType).toBe('bearer');
    expect(reply.expiresAt).toBeUndefined();
  });

  it.each([
    [403, 99, 'authenticity_token_error', 'Unable to verify your credentials', 'acme.client_id and acme.client_secret'],
    [403, 170, undefined, 'Missing required parameter: grant_type', 'acme.url'],
    [401, 89, 'invalid_or_expired', 'Invalid or expired token', 'acme.client_secret'],
    [403, 220, undefined, 'Your credentials do not allow access to this resource.', 'acme.url'],
  ])('D15 %i code %i names what to change', (status, code, label, message, variable) => {
    const error = refusalOf(readAcme(twitter), replyWith(status, { errors: [{ code, label, message }] }));
    expect(error.code).toBe('provider_rejected');
    expect(error.hint).toContain(variable);
    expect(error.provider).toMatchObject({
      status,
      error: label ?? String(code),
      codes: [String(code)],
      description: message,
    });
  });

  it('D15 has no hint for a code that it does not know', () => {
    const error = refusalOf(readAcme(twitter), replyWith(403, { errors: [{ code: 453, message: 'Not for you' }] }));
    expect(error.hint).toBeUndefined();
    expect(error.message).toBe('twitter refused profile acme (HTTP 403, 453: Not for you)');
  });

  it('understands the throttle, and the problem shape of newer resources', () => {
    const throttled = { errors: [{ code: 88, message: 'Rate limit exceeded' }] };
    expect(refusalOf(readAcme(twitter), replyWith(429, throttled)).code).toBe('rate_limited');
    const problem = { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'No such app' };
    expect(refusalOf(readAcme(twitter), replyWith(401, problem)).message).toBe(
      'twitter refused profile acme (HTTP 401, Unauthorized: No such app)',
    );
  });
});
