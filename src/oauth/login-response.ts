import { OAuthProfileError } from '../errors.ts';
import { type Profile, providerName } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { toTokenResponseError } from './explain-response.ts';
import type { HttpResponse } from './http-response.ts';
import { fillHint } from './provider-error.ts';
import type { TokenRequest } from './token-request.ts';
import { type ParsedToken, parseTokenResponse } from './token-response.ts';

/** A token response that brought what people sign in for. */
export interface LoginResponse extends ParsedToken {
  readonly refreshToken: Secret;
}

/** Reads the reply that ends a sign-in; one without a refresh token is of no use, and says why. */
export function parseLoginResponse(
  profile: Profile,
  request: TokenRequest,
  reply: HttpResponse,
  receivedAt: number,
): LoginResponse {
  const found = parseTokenResponse(profile, reply, receivedAt);
  if (found === undefined) throw toTokenResponseError(profile, request, reply, receivedAt);
  const { refreshToken } = found;
  if (refreshToken !== undefined) return { ...found, refreshToken };
  const hint =
    profile.provider.login?.withoutRefreshToken ??
    'many servers send one only with the scope offline_access, or to clients that are registered for refresh tokens: check {scope}, then {login}';
  const message = `${providerName(profile)} signed the person in, but sent no refresh token to keep`;
  throw new OAuthProfileError('provider_rejected', message, { hint: fillHint(hint, profile) });
}
