import { describe, expect, it } from 'vitest';
import { type ErrorResponse, OAuthProfileError, ProviderError } from '../../../src/errors.ts';
import { toLoginError } from '../../../src/flows/login/login-error.ts';
import { loginProfileOf } from '../../support/profiles.ts';

const login = loginProfileOf({ type: 'gitlab', client_id: 'app' });
const command = 'run: oauth-profile login svc';

const rejected = (response: Partial<ErrorResponse>, hint?: string): ProviderError =>
  new ProviderError('provider_rejected', 'no', { provider: { status: 400, ...response }, hint });

describe('the error of a login', () => {
  it.each(['access_denied', 'authorization_declined', 'bad_verification_code', 'invalid_grant'])(
    'with %s has a hint that ends with the login command',
    (error) => {
      const original = rejected({ error }, error === 'access_denied' ? undefined : 'set svc.code');
      const converted = toLoginError(original, login) as ProviderError;
      expect(converted).toMatchObject({ code: 'provider_rejected', message: 'no', provider: { error } });
      expect(converted.hint?.endsWith(command)).toBe(true);
      expect(converted.hint).not.toContain('set svc.code');
    },
  );

  it('with expired_token is a timeout', () => {
    const original = rejected({ error: 'expired_token' });
    expect(toLoginError(original, login)).toMatchObject({ code: 'timeout', hint: command, cause: original });
  });

  it('with access_denied retains the hint of the provider and adds the login command', () => {
    const converted = toLoginError(rejected({ error: 'access_denied' }, 'contact an administrator'), login);
    expect(converted).toMatchObject({
      hint: expect.stringMatching(/^contact an administrator.*oauth-profile login svc$/),
    });
  });

  it('with invalid_grant gets the hint of a login if the provider’s own code has none', () => {
    const converted = toLoginError(rejected({ error: 'invalid_grant', codes: ['AADSTS1'] }), login);
    expect(converted).toMatchObject({ hint: expect.stringContaining(command) });
  });

  it.each([
    ['a hint for the provider’s own code', rejected({ error: 'invalid_grant', codes: ['AADSTS1'] }, 'own hint')],
    [
      'HTTP 429 and invalid_grant',
      new ProviderError('rate_limited', 'no', { provider: { status: 429, error: 'invalid_grant' }, hint: 'wait 60 s' }),
    ],
    ['another error code', rejected({ error: 'x' })],
    ['no error code', rejected({})],
    ['another class', new OAuthProfileError('aborted', 'stop')],
    ['a bug as its cause', new TypeError('a bug')],
  ])('is unchanged with %s', (_, error) => {
    expect(toLoginError(error, login)).toBe(error);
  });
});
