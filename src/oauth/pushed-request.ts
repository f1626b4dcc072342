import { ProviderError } from '../errors.ts';
import type { LoginProfile } from '../profile/login-profile.ts';
import type { Profile } from '../profile/profile.ts';
import { excerpt } from '../redaction/sanitize.ts';
import type { Secret } from '../redaction/secret.ts';
import type { Exchange } from './http-response.ts';
import { parseSuccessBody } from './provider-error.ts';
import { type AssertionSpec, createLoginRequest } from './token-request.ts';

/** Longer values are rejected: they are part of a URL, in characters. */
const MAX_LENGTH = 2048;

/** Builds a pushed authorization request (RFC 9126 §2.1). The client authenticates as in a token request. */
export function buildPushedRequest(login: LoginProfile, endpoint: URL, parameters: URLSearchParams): Profile {
  const fields = [...parameters]
    .filter(([name]) => name !== 'client_id')
    .map(([name, value]) => ({ name, value, source: 'login' }));
  const request = createLoginRequest(login, endpoint, login.url, undefined, [...login.clientParameters, ...fields]);
  return { ...request, endpoint: 'pushed_authorization' };
}

/** Returns the `request_uri` of a pushed authorization response (RFC 9126 §2.2). Throws {@link ProviderError}. */
export function parsePushedResponse(exchange: Exchange): string {
  const { profile, response } = exchange;
  const body = parseSuccessBody(exchange);
  const uri = body.kind === 'object' ? body.members['request_uri'] : undefined;
  if (typeof uri === 'string' && uri !== '' && uri.length <= MAX_LENGTH) return uri;
  const { status } = response;
  throw new ProviderError('response_unreadable', `${profile.url.host} returned no request_uri (HTTP ${status})`, {
    provider: { status },
    hint: `the server has no pushed authorization request endpoint at ${excerpt(profile.url.href, 200)}`,
  });
}

/** The input of a request object (RFC 9101 §4); `undefined` if the profile has no key. */
export function requestObjectSpec(
  { clientId, options, provider, url }: LoginProfile,
  parameters: URLSearchParams,
  issuer: string | undefined,
  lifetimeMs: number,
): AssertionSpec | undefined {
  const { key, keyId, sendsCertificate, audience = issuer ?? url.origin } = options;
  const rsaAlgorithm = provider.rsaAlgorithm ?? 'RS256';
  return (
    key && { clientId, key, keyId, sendsCertificate, audience, rsaAlgorithm, lifetimeMs, requestParameters: parameters }
  );
}

/** OpenID Connect Core §6.1: these are also outside of the request object. */
const OUTER_PARAMETERS = ['client_id', 'response_type', 'scope'];

/** The parameters of an authorization request with a request object, which is visible in the URL (RFC 9101 §5). */
export function toSignedParameters(parameters: URLSearchParams, request: Secret): URLSearchParams {
  const signed = new URLSearchParams([...parameters].filter(([name]) => OUTER_PARAMETERS.includes(name)));
  signed.set('request', request.reveal());
  return signed;
}
