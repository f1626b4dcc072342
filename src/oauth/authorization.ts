import { OAuthProfileError } from '../errors.ts';
import type { LoginProfile } from '../profile/login-profile.ts';
import { isPublicField, type Profile } from '../profile/profile.ts';
import { excerpt } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';
import { createLoginRequest } from './token-request.ts';

/** The parameters of one authorization request that are generated for it. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  /** Random value that the response must repeat (RFC 6749 §10.12). */
  readonly state: string;
  /** S256 code challenge: base64url of the verifier's SHA-256 (RFC 7636 §4.2). */
  readonly challenge: string;
  /** Thumbprint of the key that the tokens will be bound to, for `dpop_jkt` (RFC 9449 §10). */
  readonly keyThumbprint?: string | undefined;
}

/**
 * Whether a login should request `prompt=consent`: OpenID Connect Core §11 requires it for a refresh token with the
 * scope `offline_access`. Built-in providers define their own parameters.
 */
export function needsConsent({ scope, extraParameters, provider }: LoginProfile): boolean {
  const isOffline = String(scope?.value).split(' ').includes('offline_access');
  return isOffline && provider.login === undefined && !extraParameters.some(({ name }) => name === 'prompt');
}

/** Builds the URL that the browser opens. Parameters of the endpoint itself stay in it. */
export function buildAuthorizationUrl(endpoint: URL, parameters: URLSearchParams): URL {
  const url = new URL(endpoint);
  for (const name of parameters.keys()) url.searchParams.delete(name);
  for (const [name, value] of parameters) url.searchParams.append(name, value);
  return url;
}

/** Builds the parameters of the authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export function buildAuthorizationParameters(
  login: LoginProfile,
  { redirectUri, state, challenge, keyThumbprint }: AuthorizationRequest,
): URLSearchParams {
  const { clientId, scope, extraParameters, provider, name, options } = login;
  if (typeof clientId !== 'string') {
    const hint = `take ${name}.client_id from a variable without secret, password or token in its name, or use --device`;
    throw shownInUrlError(`${name}.client_id comes from a secret`, hint);
  }
  const parameters = new URLSearchParams();
  if (scope !== undefined) parameters.set('scope', String(scope.value));
  for (const [field, value] of Object.entries(provider.login?.authorizationParameters ?? {}))
    parameters.set(field, value);
  for (const { name: field } of extraParameters) parameters.delete(field);
  for (const { name: field, value, external } of extraParameters) {
    if (external && !isPublicField(field)) {
      const hint = `write the value of ${name}.${field} in the profile, or use --device`;
      throw shownInUrlError(`${name}.${field} comes from the environment or a file`, hint);
    }
    parameters.append(field, String(value));
  }
  parameters.set('response_type', 'code');
  parameters.set('client_id', clientId);
  parameters.set('redirect_uri', redirectUri);
  parameters.set('state', state);
  if (options.usesPkce) {
    parameters.set('code_challenge', challenge);
    parameters.set('code_challenge_method', 'S256');
  }
  if (keyThumbprint !== undefined) parameters.set('dpop_jkt', keyThumbprint);
  return parameters;
}

/** The browser shows the URL, and remembers it. */
function shownInUrlError(message: string, hint: string): OAuthProfileError {
  return new OAuthProfileError('profile_invalid', `${message}, and would be visible in the URL of the login`, { hint });
}

/** The query of the redirect that ends an authorization request. */
export type AuthorizationResponse =
  | { readonly kind: 'code'; readonly code: Secret; readonly issuer: string | undefined }
  | {
      readonly kind: 'error';
      readonly error: string;
      readonly description: string | undefined;
      readonly issuer: string | undefined;
    }
  | { readonly kind: 'invalid'; readonly reason: string };

/** Whether a redirect belongs to our request: it contains our `state`, exactly once (RFC 6749 §10.12). */
export function matchesState(query: string, state: string): boolean {
  const values = new URLSearchParams(query).getAll('state');
  return values.length === 1 && isEqual(values[0] ?? '', state);
}

/** Parses the query of a redirect (RFC 6749 §4.1.2; `iss`: RFC 9207 §2). */
export function parseAuthorizationResponse(query: string): AuthorizationResponse {
  const parameters = new URLSearchParams(query);
  const names = [...parameters.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) return { kind: 'invalid', reason: `repeated parameter ${excerpt(repeated, 40)}` };
  const issuer = parameters.get('iss') ?? undefined;
  const error = parameters.get('error') ?? '';
  const code = parameters.get('code') ?? '';
  if (error !== '') {
    const description = excerpt(parameters.get('error_description') ?? '', 400) || undefined;
    return { kind: 'error', error: excerpt(error, 100), description, issuer };
  }
  if (code === '') return { kind: 'invalid', reason: 'neither code nor error' };
  return { kind: 'code', code: new Secret(code), issuer };
}

/** Compares in constant time, so that `state` cannot be guessed character by character. */
function isEqual(actual: string, expected: string): boolean {
  let difference = actual.length ^ expected.length;
  for (let index = 0; index < expected.length; index++) {
    difference |= actual.charCodeAt(index) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}

/** An authorization code with the values that the token endpoint compares it with. */
export interface CodeExchange {
  readonly code: Secret;
  /** The same as in the authorization request (RFC 6749 §4.1.3). */
  readonly redirectUri: string;
  /** Code verifier (RFC 7636 §4.5). */
  readonly verifier: Secret;
}

/** Builds the token request that exchanges an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.5). */
export function buildCodeTokenRequest(login: LoginProfile, { code, redirectUri, verifier }: CodeExchange): Profile {
  return createLoginRequest(login, login.url, login.url, 'authorization_code', [
    { name: 'code', value: code, source: 'login' },
    { name: 'redirect_uri', value: redirectUri, source: 'login' },
    ...(login.options.usesPkce ? [{ name: 'code_verifier', value: verifier, source: 'login' }] : []),
    ...login.clientParameters,
    ...login.tokenParameters,
  ]);
}
