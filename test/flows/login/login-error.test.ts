import { describe, expect, it } from 'vitest';
import { type ErrorResponse, OAuthProfileError, ProviderError } from '../../../src/errors.ts';
import { toLoginError } from '../../../src/flows/login/login-error.ts';
import { loginProfileOf } from '../../support/profile-of.ts';

const login = loginProfileOf({ type: 'gitlab', client_id: 'app' });
const run = 'run: oauth-profile login svc';

function explained(cachedError: Partial<ErrorResponse>, hint?: string): unknown {
  const provider = { status: 400, ...cachedError };
  return toLoginError(new ProviderError('provider_rejected', 'no', { provider, hint: hint }), login);
}

describe('a sign-in that failed', () => {
  it.each([
    ['access_denied', `the person, or a rule of the provider, said no; to try again, ${run}`],
    ['authorization_declined', `the person said no; to try again, ${run}`],
    ['bad_verification_code', `the provider does not know the code any more; to get a new one, ${run}`],
    ['invalid_grant', `the code was used, has expired, or belongs to another sign-in; to get a new one, ${run}`],
  ])('with %s is told as what it means here', (error, hint) => {
    expect(explained({ error })).toMatchObject({
      code: 'provider_rejected',
      message: 'no',
      provider: { error },
      hint,
    });
  });

  it('with a status of its own is told by that: a 429 that says invalid_grant says nothing of the code', () => {
    const provider = { status: 429, error: 'invalid_grant' };
    const error = new ProviderError('rate_limited', 'no', { provider, hint: 'wait 60 s' });
    expect(toLoginError(error, login)).toBe(error);
  });

  it('with expired_token was not made in time', () => {
    const found = explained({ error: 'expired_token' });
    expect(found).toMatchObject({ code: 'timeout', message: 'nobody entered the code in time', hint: run });
    expect((found as Error).cause).toBeInstanceOf(ProviderError);
  });

  it('with what the provider says more exactly keeps that hint', () => {
    const error = new ProviderError('provider_rejected', 'no', {
      provider: { status: 400, error: 'invalid_grant', codes: ['AADSTS1'] },
      hint: 'own',
    });
    expect(toLoginError(error, login)).toBe(error);
    expect(explained({ error: 'invalid_grant', codes: ['AADSTS1'] })).toMatchObject({
      hint: expect.stringContaining('the code was used'),
    });
    expect(explained({ error: 'invalid_grant' }, 'set svc.code')).toMatchObject({
      hint: expect.stringContaining('the code was used'),
    });
  });

  it('with access_denied and hint of its own keeps that, and says how to go on', () => {
    expect(explained({ error: 'access_denied' }, 'ask an administrator')).toMatchObject({
      hint: `ask an administrator; to try again, ${run}`,
    });
  });

  it.each([
    ['another refusal', new ProviderError('provider_rejected', 'no', { provider: { status: 400, error: 'x' } })],
    ['a refusal without words', new ProviderError('provider_rejected', 'no', { provider: { status: 400 } })],
    ['a failure of another kind', new OAuthProfileError('aborted', 'stop')],
    ['a bug', new TypeError('bug')],
  ])('with %s is told as it is', (_, error) => {
    expect(toLoginError(error, login)).toBe(error);
  });
});
