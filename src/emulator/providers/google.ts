import { json } from '../messages.ts';
import type { EmulatedProvider } from '../provider.ts';
import { formatDescription, type Rejection } from '../rejection.ts';

const errors: Partial<Record<Rejection['kind'], readonly [error: string, status: number, description: string]>> = {
  unknown_client: ['invalid_client', 401, 'The OAuth client was not found.'],
  invalid_client_secret: ['invalid_client', 401, 'Unauthorized'],
  missing_client_auth: ['invalid_request', 400, 'client_secret is missing.'],
  unexpected_auth_method: ['invalid_client', 401, 'Unauthorized'],
  invalid_assertion: ['invalid_client', 401, 'Unauthorized'],
  secret_for_public_client: ['invalid_client', 401, 'Unauthorized'],
  multiple_client_auth: ['invalid_request', 400, 'Multiple client credentials were sent.'],
  missing_field: ['invalid_request', 400, 'Missing required parameter: {field}'],
  duplicate_field: ['invalid_request', 400, 'Parameter not allowed more than once: {field}'],
  invalid_refresh_token: ['invalid_grant', 400, 'Bad Request'],
  expired_refresh_token: ['invalid_grant', 400, 'Token has been expired or revoked.'],
  invalid_code: ['invalid_grant', 400, 'Bad Request'],
  invalid_code_verifier: ['invalid_grant', 400, 'Bad Request'],
  redirect_uri_mismatch: ['redirect_uri_mismatch', 400, 'Bad Request'],
  unsupported_grant: ['unsupported_grant_type', 400, 'Invalid grant_type: {grant}'],
  authorization_pending: ['authorization_pending', 428, 'Precondition Required'],
  slow_down: ['slow_down', 403, 'Rate Limit Exceeded'],
  access_denied: ['access_denied', 403, 'Forbidden'],
  expired_device_code: ['expired_token', 400, 'Bad Request'],
  invalid_device_code: ['invalid_grant', 400, 'Bad Request'],
  rate_limited: ['rate_limit_exceeded', 429, 'Rate Limit Exceeded'],
};

const ISSUER = 'https://accounts.google.com';

const metadata = {
  issuer: ISSUER,
  authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
  device_authorization_endpoint: 'https://oauth2.googleapis.com/device/code',
  token_endpoint: 'https://oauth2.googleapis.com/token',
  userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
  revocation_endpoint: 'https://oauth2.googleapis.com/revoke',
  jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
  response_types_supported: ['code', 'token', 'id_token', 'code token', 'code id_token', 'token id_token', 'none'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  scopes_supported: ['openid', 'email', 'profile'],
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  code_challenge_methods_supported: ['plain', 'S256'],
  grant_types_supported: [
    'authorization_code',
    'refresh_token',
    'urn:ietf:params:oauth:grant-type:device_code',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
  ],
};

/** Google, on its current hosts and on the old token URL. */
export const google: EmulatedProvider = {
  type: 'google',
  tokenUrl: 'https://accounts.google.com/o/oauth2/token',
  hosts: /^(?:accounts\.google\.com|oauth2\.googleapis\.com|openidconnect\.googleapis\.com|www\.googleapis\.com)$/,
  isolatedHosts: false,
  routes: [
    { action: 'token', method: 'POST', path: /^\/(?:o\/oauth2\/)?token$/ },
    { action: 'authorize', method: 'ANY', path: /^\/o\/oauth2\/(?:v2\/)?auth$/ },
    { action: 'device', method: 'POST', path: /^\/device\/code$/ },
    { action: 'verify', method: 'ANY', path: /^\/device$/ },
    { action: 'revoke', method: 'POST', path: /^\/revoke$/ },
    { action: 'resource', method: 'GET', path: /^\/(?:v1|oauth2\/v[123])\/userinfo$/ },
    {
      action: 'metadata',
      method: 'GET',
      path: /^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    },
    { action: 'keys', method: 'GET', path: /^\/oauth2\/v3\/certs$/ },
  ],
  grants: ['authorization_code', 'refresh_token', 'device_code'],
  clientAuth: {
    default: 'client_secret_post',
    basicDecoding: 'decoded',
    allowsPost: true,
    registeredMethodOnly: false,
    multiple: 'rejected',
  },
  passwordGrantWithoutClient: false,
  tenantsWithoutPasswordGrant: [],
  scopeRequiredFor: [],
  allowsClientScope: () => true,
  codeReuseRevokesTokens: false,
  metadata: ({ host }) => (host === 'accounts.google.com' ? metadata : undefined),
  // Google sends `iss`, although its metadata does not announce it.
  issuer: () => ISSUER,
  revocationWithoutClientAuth: true,
  refresh: {
    policy: 'static',
    offlineAccessOnly: true,
    allowsNewScopes: false,
    graceSeconds: 0,
    requiredScope: undefined,
    lifetimeSeconds: 180 * 86_400,
  },
  lifetimeSeconds: 3599,
  device: { expiresIn: 1800, hasCompleteUri: false, verificationPath: '/device', hasMessage: false },
  stableToken: false,
  encodeAccessToken: (token) => `ya29.${token}`,
  decodeAccessToken: (token) => token.replace(/^ya29\./, ''),
  response: ({ accessToken, refreshToken, idToken, scope, lifetime }) => ({
    access_token: accessToken,
    expires_in: lifetime,
    ...(refreshToken && { refresh_token: refreshToken }),
    scope: scope || 'openid https://www.googleapis.com/auth/userinfo.email',
    token_type: 'Bearer',
    ...(idToken && { id_token: idToken }),
  }),
  errorResponse(rejection) {
    const [error, status, template] = errors[rejection.kind] ?? ['invalid_request', 400, 'Bad Request'];
    const description = formatDescription(template, rejection);
    return json(status, { error, error_description: description });
  },
  resource: (user, clientId) => json(200, { sub: clientId, email: user ?? null, email_verified: true }),
  unauthorizedResponse: () =>
    json(401, {
      error: { code: 401, message: 'Request had invalid authentication credentials.', status: 'UNAUTHENTICATED' },
    }),
  tenantOf: () => undefined,
};
