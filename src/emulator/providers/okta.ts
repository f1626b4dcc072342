import { json } from '../messages.ts';
import type { EmulatedProvider } from '../provider.ts';
import { formatDescription, type Rejection } from '../rejection.ts';

const errors: Partial<Record<Rejection['kind'], readonly [error: string, status: number, description: string]>> = {
  unknown_client: ['invalid_client', 401, "Invalid value for 'client_id' parameter."],
  invalid_client_secret: ['invalid_client', 401, 'The client secret supplied for a confidential client is invalid.'],
  missing_client_auth: ['invalid_client', 401, 'No client credentials found.'],
  unexpected_auth_method: [
    'invalid_client',
    401,
    "Client authentication failed: the 'token_endpoint_auth_method' of the client does not match.",
  ],
  invalid_assertion: ['invalid_client', 401, 'The client_assertion signature is invalid.'],
  secret_for_public_client: [
    'invalid_client',
    401,
    "Client authentication failed: the 'token_endpoint_auth_method' of the client does not match.",
  ],
  multiple_client_auth: [
    'invalid_request',
    401,
    'Cannot supply multiple client credentials. Use one of the following: credentials in the Authorization header, credentials in the post body, or a client_assertion in the post body.',
  ],
  missing_field: ['invalid_request', 400, "The token request must specify the '{field}' parameter."],
  duplicate_field: ['invalid_request', 400, "Duplicate parameter '{field}'."],
  invalid_password: ['invalid_grant', 400, 'The credentials provided were invalid.'],
  password_grant_disabled: [
    'unauthorized_client',
    400,
    'The client is not authorized to use the provided grant type. Configured grant types: [authorization_code, refresh_token].',
  ],
  invalid_refresh_token: ['invalid_grant', 400, 'The refresh token is invalid or expired.'],
  expired_refresh_token: ['invalid_grant', 400, 'The refresh token is invalid or expired.'],
  invalid_code: ['invalid_grant', 400, 'The authorization code is invalid or has expired.'],
  invalid_code_verifier: ['invalid_grant', 400, 'PKCE verification failed.'],
  redirect_uri_mismatch: [
    'invalid_grant',
    400,
    'The redirect URI does not match the one used in the authorization request.',
  ],
  unsupported_grant: [
    'unsupported_grant_type',
    400,
    "The authorization grant type '{grant}' is not supported by the authorization server.",
  ],
  invalid_scope: ['invalid_scope', 400, 'One or more scopes are not configured for the authorization server resource.'],
  authorization_pending: ['authorization_pending', 400, 'The device authorization is pending. Please try again later.'],
  slow_down: ['slow_down', 400, 'Polling too fast.'],
  access_denied: ['access_denied', 400, 'The resource owner or authorization server denied the request.'],
  expired_device_code: ['expired_token', 400, 'The device code has expired.'],
  invalid_device_code: ['invalid_grant', 400, 'The device code is invalid or has expired.'],
};

const authMethods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'];

/** An Okta org with its org authorization server and custom ones such as `default`. */
export const okta: EmulatedProvider = {
  type: 'okta',
  tokenUrl: 'https://{tenant}.okta.com/oauth2/default/v1/token',
  hosts: /^[a-z0-9-]+\.(?:okta|oktapreview|okta-emea)\.com$/,
  isolatedHosts: true,
  routes: [
    { action: 'token', method: 'POST', path: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/token$/ },
    { action: 'device', method: 'POST', path: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/device\/authorize$/ },
    { action: 'authorize', method: 'ANY', path: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/authorize$/ },
    { action: 'revoke', method: 'POST', path: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/revoke$/ },
    { action: 'verify', method: 'ANY', path: /^\/activate$/ },
    { action: 'resource', method: 'GET', path: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/userinfo$/ },
    {
      action: 'metadata',
      method: 'GET',
      path: /^\/oauth2\/[A-Za-z0-9]+\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    },
    // The org authorization server.
    {
      action: 'metadata',
      method: 'GET',
      path: /^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    },
    { action: 'keys', method: 'GET', path: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/keys$/ },
  ],
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'device_code'],
  clientAuth: {
    default: 'client_secret_basic',
    basicDecoding: 'decoded',
    allowsPost: true,
    registeredMethodOnly: true,
    multiple: 'rejected',
  },
  passwordGrantWithoutClient: false,
  tenantsWithoutPasswordGrant: [],
  scopeRequiredFor: ['password', 'client_credentials'],
  allowsClientScope: (scope) => !scope.split(' ').includes('openid'),
  codeReuseRevokesTokens: false,
  metadata: ({ origin, path }) => {
    const issuer = `${origin}${path.replace(/\/\.well-known\/.*$/, '')}`;
    const base = issuer === origin ? `${origin}/oauth2/v1` : `${issuer}/v1`;
    return {
      issuer,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      ...(path.endsWith('openid-configuration') && { userinfo_endpoint: `${base}/userinfo` }),
      jwks_uri: `${base}/keys`,
      response_types_supported: ['code', 'id_token', 'code id_token', 'code token', 'id_token token'],
      response_modes_supported: ['query', 'fragment', 'form_post', 'okta_post_message'],
      grant_types_supported: [
        'authorization_code',
        'implicit',
        'refresh_token',
        'password',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: ['openid', 'profile', 'email', 'address', 'phone', 'offline_access', 'device_sso'],
      token_endpoint_auth_methods_supported: authMethods,
      code_challenge_methods_supported: ['S256'],
      revocation_endpoint: `${base}/revoke`,
      revocation_endpoint_auth_methods_supported: authMethods,
      request_parameter_supported: true,
      device_authorization_endpoint: `${base}/device/authorize`,
    };
  },
  issuer: undefined,
  revocationWithoutClientAuth: false,
  refresh: {
    policy: 'rotating',
    offlineAccessOnly: false,
    allowsNewScopes: false,
    graceSeconds: 30,
    requiredScope: 'offline_access',
    lifetimeSeconds: 7 * 86_400,
  },
  lifetimeSeconds: 3600,
  device: { expiresIn: 600, hasCompleteUri: true, verificationPath: '/activate', hasMessage: false },
  stableToken: false,
  encodeAccessToken: (token) => token,
  decodeAccessToken: (token) => token,
  response: ({ accessToken, refreshToken, idToken, scope, lifetime }) => ({
    token_type: 'Bearer',
    expires_in: lifetime,
    access_token: accessToken,
    scope,
    ...(refreshToken && { refresh_token: refreshToken }),
    ...(idToken && { id_token: idToken }),
  }),
  errorResponse(rejection, { now }) {
    if (rejection.kind === 'rate_limited') {
      // Okta returns invalid_grant for a user's rate limit: only the status shows that the grant is valid.
      const reset = {
        'X-Rate-Limit-Limit': '4',
        'X-Rate-Limit-Remaining': '0',
        'X-Rate-Limit-Reset': String(Math.ceil(now / 1000) + 60),
      };
      return json(429, { error: 'invalid_grant', error_description: 'The user is rate limited.' }, reset);
    }
    if (rejection.kind === 'unknown_tenant' || rejection.kind === 'tenant_without_metadata') {
      return json(404, {
        errorCode: 'E0000007',
        errorSummary: 'Not found: Resource not found',
        errorLink: 'E0000007',
        errorId: 'oae0000',
        errorCauses: [],
      });
    }
    const [error, status, template] = errors[rejection.kind] ?? ['invalid_request', 400, 'The request is malformed.'];
    const description = formatDescription(template, rejection);
    return json(status, { error, error_description: description });
  },
  resource: (user, clientId) => json(200, { sub: user ?? clientId, preferred_username: user ?? null }),
  unauthorizedResponse: () => ({
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token", error_description="The access token is invalid"' },
    body: '',
  }),
  tenantOf: ({ host }) => host.split('.')[0],
};
