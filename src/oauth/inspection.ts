import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import type { Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { type Exchange, isSuccess, parseBody } from './http-response.ts';
import { toProviderError } from './provider-error.ts';

/** The fields that authenticate a client. */
const CLIENT_FIELDS = ['client_id', 'client_secret'];

/** Builds the introspection request for an access token (RFC 7662 §2.1). */
export function buildIntrospectionRequest(profile: Profile, endpoint: URL, token: Secret): Profile {
  const { options, fields, url } = profile;
  return {
    ...profile,
    url: endpoint,
    endpoint: 'introspection',
    grant: undefined,
    createsGrant: false,
    family: undefined,
    fields: [
      { name: 'token', value: token, source: 'token' },
      { name: 'token_type_hint', value: 'access_token', source: 'token' },
      ...fields.filter(({ name }) => CLIENT_FIELDS.includes(name)),
    ],
    // RFC 7523 §3: the token URL identifies the authorization server, whichever of its endpoints receives the assertion.
    options: { ...options, audience: options.audience ?? url.href, impersonation: undefined },
  };
}

/** Parses an introspection response (RFC 7662 §2.2). */
export function parseIntrospectionResponse(exchange: Exchange): Readonly<Record<string, unknown>> {
  const body = parseBody(exchange.response.body);
  if (isSuccess(exchange.response) && body.kind === 'object' && 'active' in body.members) return body.members;
  throw toProviderError(exchange, body);
}

/** The readable parts of a token. The signature is neither verified nor included. */
export type DecodedToken =
  | { readonly format: 'jwt'; readonly header: object; readonly claims: Readonly<Record<string, unknown>> }
  /** RFC 7516: only the API can decrypt the claims. */
  | { readonly format: 'encrypted_jwt'; readonly header: object }
  /** Only the authorization server knows its meaning. */
  | { readonly format: 'opaque' };

/** Decodes a token if it is a JWT (RFC 7519 §7.2). */
export function decodeToken(token: Secret): DecodedToken {
  const text = token.reveal();
  try {
    const header = decodeProtectedHeader(text);
    if (text.split('.').length === 5) return { format: 'encrypted_jwt', header };
    const claims = decodeJwt(text);
    // Throws if they are nested too deeply to be shown.
    JSON.stringify([header, claims]);
    return { format: 'jwt', header, claims };
  } catch {
    return { format: 'opaque' };
  }
}
