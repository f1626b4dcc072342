import type { LoginProfile } from '../profile/login-profile.ts';
import type { Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { type Exchange, isSuccess, parseBody } from './http-response.ts';
import { toProviderError } from './provider-error.ts';
import { createLoginRequest } from './token-request.ts';

/** Builds the request that revokes a token (RFC 7009 §2.1). */
export function buildRevocationRequest(
  login: LoginProfile,
  endpoint: URL,
  token: Secret,
  typeHint: 'refresh_token' | 'access_token',
): Profile {
  const tokenField = { name: 'token', value: token, source: 'login' };
  const hintField = { name: 'token_type_hint', value: typeHint, source: 'login' };
  const isAnonymous = login.provider.login?.revocationWithoutClientAuth === true;
  const fields = isAnonymous ? [tokenField] : [tokenField, hintField, ...login.clientParameters];
  const request = createLoginRequest(login, endpoint, login.url, undefined, fields);
  return { ...request, endpoint: 'revocation', ...(isAnonymous && { clientAuth: 'passthrough' as const }) };
}

/** Throws an error unless the status is 2xx: the body of a revocation response has no meaning (RFC 7009 §2.2). */
export function parseRevocationResponse(exchange: Exchange): void {
  if (isSuccess(exchange.response)) return;
  const error = toProviderError(exchange, parseBody(exchange.response.body));
  const { status, error: code = '' } = error.provider;
  // A token that is invalid already needs no revocation. Google responds with invalid_token instead of 200.
  if (status !== 400 || !/^invalid_(?:token|grant)$/.test(code)) throw error;
}
