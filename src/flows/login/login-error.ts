import { OAuthProfileError, ProviderError } from '../../errors.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';

/** Hints for token requests ("set graph.code") do not apply to a login, where these errors mean something else. */
const hints: Readonly<Record<string, string>> = {
  access_denied: 'the user or a policy of the provider denied the login; to try again',
  consent_required: 'the user did not consent; to try again',
  authorization_declined: 'the user denied the login; to try again',
  bad_verification_code: 'the code is no longer valid; to get a new one',
  invalid_grant: 'the code was already used, has expired, or belongs to another login; to get a new one',
};

/** Converts an error of a login request: the hint is the command that starts a new login. */
export function toLoginError(error: unknown, { command }: LoginProfile): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { provider, code, message, hint } = error;
  if (provider.error === 'expired_token') return expiredError(command, error);
  // The hint for a provider's own code is better than the one for the standard error. Okta's 429 may contain invalid_grant.
  const isStandard = code === 'provider_rejected' && (provider.codes === undefined || hint === undefined);
  const loginHint = isStandard && provider.error !== undefined ? hints[provider.error] : undefined;
  if (loginHint === undefined) return error;
  const reason = provider.error === 'access_denied' && hint !== undefined ? `${hint}; to try again` : loginHint;
  return new ProviderError(code, message, { provider, hint: `${reason}, run: ${command}` });
}

/** The error for a device code that the user did not enter in time. */
export function expiredError(command: string, cause?: unknown): OAuthProfileError {
  return new OAuthProfileError('timeout', 'the code expired before it was entered', { hint: `run: ${command}`, cause });
}
