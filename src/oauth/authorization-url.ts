import { OAuthProfileError } from '../errors.ts';
import type { LoginProfile } from '../profile/login-profile.ts';

/** What one sign-in is recognised by. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  /** SHA-256 of the verifier (RFC 7636 §4.2). */
  readonly challenge: string;
}

/** The address at which a browser asks for an authorization code (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export function buildAuthorizationUrl(
  login: LoginProfile,
  endpoint: URL,
  { redirectUri, state, challenge }: AuthorizationRequest,
): URL {
  const { clientId, scope, extraParameters: further, provider, name } = login;
  if (typeof clientId !== 'string') {
    throw new OAuthProfileError('profile_invalid', `${name}.client_id is made from a secret`, {
      hint: 'an address shows the client id: take it from a variable whose name does not say secret, or use --device',
    });
  }
  const url = new URL(endpoint);
  const parameters = url.searchParams;
  if (scope !== undefined) parameters.set('scope', String(scope.value));
  for (const [field, value] of Object.entries(provider.login?.authorizationParameters ?? {}))
    parameters.set(field, value);
  for (const field of further) parameters.set(field.name, String(field.value));
  parameters.set('response_type', 'code');
  parameters.set('client_id', clientId);
  parameters.set('redirect_uri', redirectUri);
  parameters.set('state', state);
  parameters.set('code_challenge', challenge);
  parameters.set('code_challenge_method', 'S256');
  return url;
}
