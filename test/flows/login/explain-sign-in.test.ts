import { describe, expect, it } from 'vitest';
import { OAuthProfileError, ProviderError, type Refusal } from '../../../src/errors.ts';
import { explainSignIn } from '../../../src/flows/login/explain-sign-in.ts';
import { loginProfileOf } from '../../support/login-world.ts';

const login = loginProfileOf({ type: 'gitlab', client_id: 'app' });
const run = 'run: oauth-profile login svc';

function explained(refusal: Partial<Refusal>, advice?: string): unknown {
  const provider = { status: 400, ...refusal };
  return explainSignIn(new ProviderError('provider_refused', 'no', { provider, advice }), login);
}

describe('a sign-in that failed', () => {
  it.each([
    ['access_denied', `the person, or a rule of the provider, said no; to try again, ${run}`],
    ['authorization_declined', `the person said no; to try again, ${run}`],
    ['bad_verification_code', `the provider does not know the code any more; to get a new one, ${run}`],
    ['invalid_grant', `the code was used, has expired, or belongs to another sign-in; to get a new one, ${run}`],
  ])('with %s is told as what it means here', (error, advice) => {
    expect(explained({ error })).toMatchObject({
      code: 'provider_refused',
      message: 'no',
      provider: { error },
      advice,
    });
  });

  it('with a status of its own is told by that: a 429 that says invalid_grant says nothing of the code', () => {
    const provider = { status: 429, error: 'invalid_grant' };
    const error = new ProviderError('rate_limited', 'no', { provider, advice: 'wait 60 s' });
    expect(explainSignIn(error, login)).toBe(error);
  });

  it('with expired_token was not made in time', () => {
    const found = explained({ error: 'expired_token' });
    expect(found).toMatchObject({ code: 'timed_out', message: 'nobody entered the code in time', advice: run });
    expect((found as Error).cause).toBeInstanceOf(ProviderError);
  });

  it('with what the provider says more exactly keeps that advice', () => {
    const error = new ProviderError('provider_refused', 'no', {
      provider: { status: 400, error: 'invalid_grant', codes: ['AADSTS1'] },
      advice: 'own',
    });
    expect(explainSignIn(error, login)).toBe(error);
    expect(explained({ error: 'invalid_grant', codes: ['AADSTS1'] })).toMatchObject({
      advice: expect.stringContaining('the code was used'),
    });
    expect(explained({ error: 'invalid_grant' }, 'set svc.code')).toMatchObject({
      advice: expect.stringContaining('the code was used'),
    });
  });

  it('with access_denied and advice of its own keeps that, and says how to go on', () => {
    expect(explained({ error: 'access_denied' }, 'ask an administrator')).toMatchObject({
      advice: `ask an administrator; to try again, ${run}`,
    });
  });

  it.each([
    ['another refusal', new ProviderError('provider_refused', 'no', { provider: { status: 400, error: 'x' } })],
    ['a refusal without words', new ProviderError('provider_refused', 'no', { provider: { status: 400 } })],
    ['a failure of another kind', new OAuthProfileError('aborted', 'stop')],
    ['a bug', new TypeError('bug')],
  ])('with %s is told as it is', (_, error) => {
    expect(explainSignIn(error, login)).toBe(error);
  });
});
