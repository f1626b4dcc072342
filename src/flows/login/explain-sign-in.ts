import { OAuthProfileError, ProviderError } from '../../errors.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';

/** A hint of other occasions, such as "set the variable code", does not help who signs in: these refusals mean something else here. */
const meanings: Readonly<Record<string, string>> = {
  access_denied: 'the person, or a rule of the provider, said no; to try again',
  authorization_declined: 'the person said no; to try again',
  bad_verification_code: 'the provider does not know the code any more; to get a new one',
  invalid_grant: 'the code was used, has expired, or belongs to another sign-in; to get a new one',
};

/** A failed sign-in as it is told to the person. */
export function toLoginError(error: unknown, { command }: LoginProfile): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { provider, code, message, hint } = error;
  const again = `run: ${command}`;
  if (provider.error === 'expired_token') {
    return new OAuthProfileError('timeout', 'nobody entered the code in time', { hint: again, cause: error });
  }
  // What a provider's finer code says is better than what the standard's word does; Okta's 429 may say invalid_grant of a code that is good.
  const known = code === 'provider_rejected' && (provider.codes === undefined || hint === undefined);
  const meaning = known && provider.error !== undefined ? meanings[provider.error] : undefined;
  if (meaning === undefined) return error;
  const reason = provider.error === 'access_denied' && hint !== undefined ? `${hint}; to try again` : meaning;
  return new ProviderError(code, message, { provider, hint: `${reason}, ${again}` });
}
