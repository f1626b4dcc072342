import { OAuthProfileError } from '../errors.ts';
import { type Profile, providerName } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { explainReply } from './explain-response.ts';
import type { Reply } from './http-response.ts';
import { withVariables } from './provider-error.ts';
import type { TokenRequest } from './token-request.ts';
import { parseResponse, type TokenReply } from './token-response.ts';

/** A token response that brought what people sign in for. */
export interface SignInReply extends TokenReply {
  readonly refreshToken: Secret;
}

/** Reads the reply that ends a sign-in; one without a refresh token is of no use, and says why. */
export function parseSignIn(profile: Profile, request: TokenRequest, reply: Reply, receivedAt: number): SignInReply {
  const found = parseResponse(profile, reply, receivedAt);
  if (found === undefined) throw explainReply(profile, request, reply, receivedAt);
  const { refreshToken } = found;
  if (refreshToken !== undefined) return { ...found, refreshToken };
  const advice =
    profile.provider.signIn?.withoutRefreshToken ??
    'many servers send one only with the scope offline_access, or to clients that are registered for refresh tokens: check {scope}, then {login}';
  const message = `${providerName(profile)} signed the person in, but sent no refresh token to keep`;
  throw new OAuthProfileError('provider_refused', message, { advice: withVariables(advice, profile) });
}
