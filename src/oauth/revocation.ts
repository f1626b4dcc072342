import type { LoginProfile } from '../profile/login-profile.ts';
import type { Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { type Exchange, isSuccess, parseBody } from './http-response.ts';
import { toProviderError } from './provider-error.ts';
import { createLoginRequest } from './token-request.ts';

/** Builds the request that revokes a refresh token (RFC 7009 §2.1). */
export function buildRevocationRequest(login: LoginProfile, endpoint: URL, token: Secret): Profile {
  const tokenField = { name: 'token', value: token, source: 'login' };
  if (login.provider.login?.revocationWithoutClientAuth === true) {
    return { ...createLoginRequest(login, endpoint, login.url, undefined, [tokenField]), clientAuth: 'passthrough' };
  }
  return createLoginRequest(login, endpoint, login.url, undefined, [
    tokenField,
    { name: 'token_type_hint', value: 'refresh_token', source: 'login' },
    ...login.clientParameters,
  ]);
}

/** Throws an error unless the status is 2xx: the body of a revocation response has no meaning (RFC 7009 §2.2). */
export function parseRevocationResponse(exchange: Exchange): void {
  if (!isSuccess(exchange.response)) throw toProviderError(exchange, parseBody(exchange.response.body));
}
