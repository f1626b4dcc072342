import type { Dialect } from '../dialect.ts';
import { json } from '../message.ts';
import { fill, type Problem } from '../problem.ts';

const refusals: Partial<Record<Problem['kind'], readonly [error: string, status: number, words: string]>> = {
  unknown_client: ['invalid_client', 401, 'The client is unknown.'],
  wrong_secret: ['invalid_client', 401, 'The client secret is wrong.'],
  no_client_auth: ['invalid_client', 401, 'The client did not authenticate.'],
  wrong_auth_method: ['invalid_client', 401, 'The client is registered for another authentication method.'],
  wrong_assertion: ['invalid_client', 401, 'The client assertion is not valid.'],
  secret_of_public_client: ['invalid_client', 401, 'The client is public.'],
  two_auths: ['invalid_request', 400, 'The client authenticated in more than one way.'],
  missing_field: ['invalid_request', 400, 'The parameter {field} is missing.'],
  duplicate_field: ['invalid_request', 400, 'The parameter {field} is repeated.'],
  wrong_password: ['invalid_grant', 400, 'The user name or password is wrong.'],
  password_off: ['unauthorized_client', 400, 'The client may not use the password grant.'],
  dead_refresh_token: ['invalid_grant', 400, 'The refresh token is invalid, revoked or was used before.'],
  expired_refresh_token: ['invalid_grant', 400, 'The refresh token has expired.'],
  dead_code: ['invalid_grant', 400, 'The code is invalid, expired or was used before.'],
  wrong_verifier: ['invalid_grant', 400, 'The code verifier does not match (RFC 7636 §4.6).'],
  wrong_redirect: ['invalid_grant', 400, 'The redirect URI is not the one of the authorization request.'],
  unsupported_grant: ['unsupported_grant_type', 400, 'The grant type {grant} is not supported.'],
  wrong_scope: ['invalid_scope', 400, 'The scope is not valid.'],
  pending: ['authorization_pending', 400, 'The person has not decided yet.'],
  slow_down: ['slow_down', 400, 'Poll more slowly.'],
  declined: ['access_denied', 400, 'The person said no.'],
  expired_device_code: ['expired_token', 400, 'The device code has expired.'],
  dead_device_code: ['invalid_grant', 400, 'The device code is not valid.'],
};

/** A plain RFC 6749 server with strict rotation, at the addresses that custom profiles name. */
export const custom: Dialect = {
  type: 'custom',
  tokenUrl: undefined,
  hosts: undefined,
  hostsApart: true,
  routes: [
    { action: 'device', method: 'POST', path: /\/device_authorization$/ },
    { action: 'authorize', method: 'ANY', path: /\/authorize$/ },
    { action: 'verify', method: 'ANY', path: /\/device$/ },
    { action: 'revoke', method: 'POST', path: /\/revoke$/ },
    { action: 'resource', method: 'GET', path: /\/userinfo$/ },
    { action: 'metadata', method: 'GET', path: /^\/\.well-known\/oauth-authorization-server$/ },
    { action: 'keys', method: 'GET', path: /\/jwks$/ },
    // Whatever address the profile names is the token endpoint.
    { action: 'token', method: 'POST', path: /^/ },
  ],
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'device_code'],
  clientAuth: { usual: 'body', basic: 'decoded', body: true, onlyRegistered: false, both: 'refused' },
  anonymousPassword: true,
  tenantsWithoutPassword: [],
  scopeRequiredFor: [],
  allowsOwnScope: () => true,
  codeReuseRevokes: true,
  metadata: ({ origin, tokenUrl }) => {
    // All else stands beside the token endpoint.
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
  revokesWithoutClient: false,
  refresh: {
    policy: 'rotates',
    onRequest: false,
    widens: false,
    graceSeconds: 0,
    scope: undefined,
    lifetimeSeconds: 30 * 86_400,
  },
  lifetimeSeconds: 3600,
  device: { expiresIn: 600, complete: true, verifyPath: '/device', message: false },
  sameToken: false,
  dress: (token) => token,
  undress: (token) => token,
  response: ({ accessToken, refreshToken, idToken, scope, lifetime }) => ({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetime,
    ...(refreshToken && { refresh_token: refreshToken }),
    ...(scope && { scope }),
    ...(idToken && { id_token: idToken }),
  }),
  refusal(problem) {
    if (problem.kind === 'throttled') return json(429, { error: 'temporarily_unavailable' }, { 'Retry-After': '60' });
    const [error, status, words] = refusals[problem.kind] ?? ['invalid_request', 400, 'The request is malformed.'];
    const description = fill(words, problem);
    const challenge = status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth-profile emulator"' } : {};
    return json(status, { error, error_description: description }, challenge);
  },
  resource: (user, clientId) => json(200, { sub: user ?? clientId }),
  resourceRefusal: () => json(401, { error: 'invalid_token' }, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }),
  tenantOf: () => undefined,
};
