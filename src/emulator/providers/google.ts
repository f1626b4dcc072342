import { json } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider } from '../provider.ts';
import type { ErrorTable } from '../rejection.ts';

const errors: ErrorTable = {
  invalid_client: '401 invalid_client: Unauthorized',
  invalid_grant: '400 invalid_grant: Bad Request',
  unknown_client: '401 invalid_client: The OAuth client was not found.',
  missing_client_auth: '400 invalid_request: client_secret is missing.',
  multiple_client_auth: '400 invalid_request: Multiple client credentials were sent.',
  missing_field: '400 invalid_request: Missing required parameter: {}',
  duplicate_field: '400 invalid_request: Parameter not allowed more than once: {}',
  expired_refresh_token: '400 invalid_grant: Token has been expired or revoked.',
  redirect_uri_mismatch: '400 redirect_uri_mismatch: Bad Request',
  unsupported_grant: '400 unsupported_grant_type: Invalid grant_type: {}',
  authorization_pending: '428 authorization_pending: Precondition Required',
  slow_down: '403 slow_down: Rate Limit Exceeded',
  access_denied: '403 access_denied: Forbidden',
  expired_device_code: '400 expired_token: Bad Request',
  invalid_scope: '400 invalid_request: Bad Request',
  rate_limited: '429 rate_limit_exceeded: Rate Limit Exceeded',
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
  scopes_supported: ['openid', 'email', 'profile'],
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
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
  routes: {
    token: /^\/(?:o\/oauth2\/)?token$/,
    authorize: /^\/o\/oauth2\/(?:v2\/)?auth$/,
    device: /^\/device\/code$/,
    verify: /^\/device$/,
    revoke: /^\/revoke$/,
    resource: /^\/(?:v1|oauth2\/v[123])\/userinfo$/,
    metadata: /^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    keys: /^\/oauth2\/v3\/certs$/,
  },
  grants: ['authorization_code', 'refresh_token', DEVICE_CODE_GRANT],
  clientAuth: { default: 'client_secret_post' },
  metadata: ({ host }) => (host === 'accounts.google.com' ? metadata : undefined),
  // Google sends `iss`, although its metadata does not announce it.
  issuer: () => ISSUER,
  revocationWithoutClientAuth: true,
  refresh: { policy: 'static', offlineAccessOnly: true, lifetimeSeconds: 180 * 86_400 },
  lifetimeSeconds: 3599,
  device: { expiresIn: 1800, verificationPath: '/device' },
  encodeAccessToken: (token) => `ya29.${token}`,
  decodeAccessToken: (token) => token.replace(/^ya29\./, ''),
  response: (standard, { scope }) => ({
    ...standard,
    scope: scope || 'openid https://www.googleapis.com/auth/userinfo.email',
  }),
  errors,
  resource: (user, clientId) => json(200, { sub: clientId, email: user ?? null, email_verified: true }),
  unauthorizedResponse: () =>
    json(401, {
      error: { code: 401, message: 'Request had invalid authentication credentials.', status: 'UNAUTHENTICATED' },
    }),
};
