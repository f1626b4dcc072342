import { json } from '../messages.ts';
import type { EmulatedProvider } from '../provider.ts';
import { formatDescription, type Rejection } from '../rejection.ts';

const errors: Partial<Record<Rejection['kind'], readonly [error: string, status: number, description: string]>> = {
  unknown_client: ['invalid_client', 401, 'The client is unknown.'],
  invalid_client_secret: ['invalid_client', 401, 'The client secret is wrong.'],
  missing_client_auth: ['invalid_client', 401, 'The client did not authenticate.'],
  unexpected_auth_method: ['invalid_client', 401, 'The client is registered for another authentication method.'],
  invalid_assertion: ['invalid_client', 401, 'The client assertion is not valid.'],
  secret_for_public_client: ['invalid_client', 401, 'The client is public.'],
  multiple_client_auth: ['invalid_request', 400, 'The client used more than one authentication method.'],
  missing_field: ['invalid_request', 400, 'The parameter {field} is missing.'],
  duplicate_field: ['invalid_request', 400, 'The parameter {field} is repeated.'],
  invalid_password: ['invalid_grant', 400, 'The user name or password is wrong.'],
  password_grant_disabled: ['unauthorized_client', 400, 'The client may not use the password grant.'],
  invalid_refresh_token: ['invalid_grant', 400, 'The refresh token is invalid, revoked or was used before.'],
  expired_refresh_token: ['invalid_grant', 400, 'The refresh token has expired.'],
  invalid_code: ['invalid_grant', 400, 'The code is invalid, expired or was used before.'],
  invalid_code_verifier: ['invalid_grant', 400, 'The code verifier does not match (RFC 7636 §4.6).'],
  redirect_uri_mismatch: ['invalid_grant', 400, 'The redirect URI is not the one of the authorization request.'],
  unsupported_grant: ['unsupported_grant_type', 400, 'The grant type {grant} is not supported.'],
  invalid_scope: ['invalid_scope', 400, 'The scope is not valid.'],
  authorization_pending: ['authorization_pending', 400, 'The user has not decided yet.'],
  slow_down: ['slow_down', 400, 'Poll more slowly.'],
  access_denied: ['access_denied', 400, 'The user denied access.'],
  expired_device_code: ['expired_token', 400, 'The device code has expired.'],
  invalid_device_code: ['invalid_grant', 400, 'The device code is not valid.'],
};

/** An RFC 6749 server with strict refresh token rotation, at the URLs of custom profiles. */
export const custom: EmulatedProvider = {
  type: 'custom',
  tokenUrl: undefined,
  hosts: undefined,
  isolatedHosts: true,
  routes: [
    { action: 'device', method: 'POST', path: /\/device_authorization$/ },
    { action: 'authorize', method: 'ANY', path: /\/authorize$/ },
    { action: 'verify', method: 'ANY', path: /\/device$/ },
    { action: 'revoke', method: 'POST', path: /\/revoke$/ },
    { action: 'resource', method: 'GET', path: /\/userinfo$/ },
    { action: 'metadata', method: 'GET', path: /^\/\.well-known\/oauth-authorization-server$/ },
    { action: 'keys', method: 'GET', path: /\/jwks$/ },
    // Every other URL is a token endpoint: the profile defines it.
    { action: 'token', method: 'POST', path: /^/ },
  ],
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'device_code'],
  clientAuth: {
    default: 'client_secret_post',
    basicDecoding: 'decoded',
    allowsPost: true,
    registeredMethodOnly: false,
    multiple: 'rejected',
  },
  passwordGrantWithoutClient: true,
  tenantsWithoutPasswordGrant: [],
  scopeRequiredFor: [],
  allowsClientScope: () => true,
  codeReuseRevokesTokens: true,
  metadata: ({ origin, tokenUrl }) => {
    // The other endpoints are siblings of the token endpoint.
    const base = `${origin}${tokenUrl?.pathname.replace(/\/[^/]*$/, '') ?? ''}`;
    return {
      issuer: origin,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: tokenUrl?.href ?? `${origin}/token`,
      device_authorization_endpoint: `${base}/device_authorization`,
      revocation_endpoint: `${base}/revoke`,
      jwks_uri: `${base}/jwks`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      scopes_supported: ['openid', 'offline_access'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'password',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
      token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      code_challenge_methods_supported: ['S256', 'plain'],
      authorization_response_iss_parameter_supported: true,
    };
  },
  issuer: ({ origin }) => origin,
  revocationWithoutClientAuth: false,
  refresh: {
    policy: 'rotating',
    offlineAccessOnly: false,
    allowsNewScopes: false,
    graceSeconds: 0,
    requiredScope: undefined,
    lifetimeSeconds: 30 * 86_400,
  },
  lifetimeSeconds: 3600,
  device: { expiresIn: 600, hasCompleteUri: true, verificationPath: '/device', hasMessage: false },
  stableToken: false,
  encodeAccessToken: (token) => token,
  decodeAccessToken: (token) => token,
  response: ({ accessToken, refreshToken, idToken, scope, lifetime }) => ({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetime,
    ...(refreshToken && { refresh_token: refreshToken }),
    ...(scope && { scope }),
    ...(idToken && { id_token: idToken }),
  }),
  errorResponse(rejection) {
    if (rejection.kind === 'rate_limited')
      return json(429, { error: 'temporarily_unavailable' }, { 'Retry-After': '60' });
    const [error, status, template] = errors[rejection.kind] ?? ['invalid_request', 400, 'The request is malformed.'];
    const description = formatDescription(template, rejection);
    const challenge = status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth-profile emulator"' } : {};
    return json(status, { error, error_description: description }, challenge);
  },
  resource: (user, clientId) => json(200, { sub: user ?? clientId }),
  unauthorizedResponse: () =>
    json(401, { error: 'invalid_token' }, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }),
  tenantOf: () => undefined,
};
