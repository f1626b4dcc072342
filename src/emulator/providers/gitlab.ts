import { json, text } from '../messages.ts';
import type { EmulatedProvider } from '../provider.ts';
import { formatDescription, type Rejection } from '../rejection.ts';

const invalidGrant =
  'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.';
const invalidClient =
  'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.';

const errors: Partial<Record<Rejection['kind'], readonly [error: string, status: number, description: string]>> = {
  unknown_client: ['invalid_client', 401, invalidClient],
  invalid_client_secret: ['invalid_client', 401, invalidClient],
  missing_client_auth: ['invalid_client', 401, invalidClient],
  unexpected_auth_method: ['invalid_client', 401, invalidClient],
  invalid_assertion: ['invalid_client', 401, invalidClient],
  secret_for_public_client: ['invalid_client', 401, invalidClient],
  multiple_client_auth: ['invalid_request', 400, 'The request includes more than one client authentication method.'],
  missing_field: ['invalid_request', 400, 'Missing required parameter: {field}.'],
  duplicate_field: ['invalid_request', 400, 'The request includes a parameter twice: {field}.'],
  invalid_password: ['invalid_grant', 400, invalidGrant],
  password_grant_disabled: [
    'unauthorized_client',
    401,
    'The client is not authorized to perform this request using this method.',
  ],
  invalid_refresh_token: ['invalid_grant', 400, invalidGrant],
  expired_refresh_token: ['invalid_grant', 400, invalidGrant],
  invalid_code: ['invalid_grant', 400, invalidGrant],
  invalid_code_verifier: ['invalid_grant', 400, invalidGrant],
  redirect_uri_mismatch: ['invalid_grant', 400, invalidGrant],
  unsupported_grant: [
    'unsupported_grant_type',
    400,
    'The authorization grant type is not supported by the authorization server.',
  ],
  invalid_scope: ['invalid_scope', 400, 'The requested scope is invalid, unknown, or malformed.'],
  authorization_pending: [
    'authorization_pending',
    400,
    'The authorization request is still pending as the end user has not yet completed the user interaction steps.',
  ],
  slow_down: [
    'slow_down',
    400,
    'The authorization request is still pending and polling should continue, but the interval must be increased by 5 seconds.',
  ],
  access_denied: ['access_denied', 400, 'The resource owner or authorization server denied the request.'],
  expired_device_code: [
    'expired_token',
    400,
    'The device_code has expired, and the device authorization session has concluded.',
  ],
  invalid_device_code: ['invalid_grant', 400, invalidGrant],
};

/** GitLab, which uses Doorkeeper. Profiles add self-managed instances. */
export const gitlab: EmulatedProvider = {
  type: 'gitlab',
  tokenUrl: 'https://gitlab.com/oauth/token',
  hosts: /^gitlab\.com$/,
  isolatedHosts: false,
  routes: [
    { action: 'token', method: 'POST', path: /\/oauth\/token$/ },
    { action: 'device', method: 'POST', path: /\/oauth\/authorize_device$/ },
    { action: 'authorize', method: 'ANY', path: /\/oauth\/authorize$/ },
    { action: 'verify', method: 'ANY', path: /\/oauth\/device$/ },
    { action: 'revoke', method: 'POST', path: /\/oauth\/revoke$/ },
    { action: 'resource', method: 'GET', path: /\/api\/v4\/user$/ },
    {
      action: 'metadata',
      method: 'GET',
      path: /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    },
    { action: 'keys', method: 'GET', path: /\/oauth\/discovery\/keys$/ },
  ],
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'device_code'],
  // Doorkeeper deliberately does not decode the values of a Basic header.
  clientAuth: {
    default: 'client_secret_post',
    basicDecoding: 'raw',
    allowsPost: true,
    registeredMethodOnly: false,
    multiple: 'header_wins',
  },
  passwordGrantWithoutClient: true,
  tenantsWithoutPasswordGrant: [],
  scopeRequiredFor: [],
  allowsClientScope: () => true,
  // Doorkeeper supports it since 2026, but only after a database migration.
  codeReuseRevokesTokens: false,
  metadata: ({ origin, path }) => {
    const issuer = `${origin}${path.replace(/\/\.well-known\/.*$/, '')}`;
    // The device endpoint exists, but the document does not list it.
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      jwks_uri: `${issuer}/oauth/discovery/keys`,
      scopes_supported: [
        'api',
        'read_api',
        'read_user',
        'read_repository',
        'write_repository',
        'sudo',
        'openid',
        'profile',
        'email',
      ],
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'fragment', 'form_post'],
      grant_types_supported: ['authorization_code', 'password', 'client_credentials', 'device_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['plain', 'S256'],
    };
  },
  issuer: undefined,
  revocationWithoutClientAuth: false,
  refresh: {
    policy: 'single_use',
    offlineAccessOnly: false,
    allowsNewScopes: false,
    graceSeconds: 0,
    requiredScope: undefined,
    lifetimeSeconds: Number.POSITIVE_INFINITY,
  },
  lifetimeSeconds: 7200,
  device: { expiresIn: 300, hasCompleteUri: true, verificationPath: '/oauth/device', hasMessage: false },
  stableToken: false,
  encodeAccessToken: (token) => token,
  decodeAccessToken: (token) => token,
  response: ({ accessToken, refreshToken, idToken, scope, lifetime, issuedAt }) => ({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetime,
    ...(refreshToken && { refresh_token: refreshToken }),
    scope: scope || 'api',
    created_at: issuedAt,
    ...(idToken && { id_token: idToken }),
  }),
  errorResponse(rejection) {
    if (rejection.kind === 'rate_limited')
      return text(429, 'Retry later\n', { 'Retry-After': '60', 'RateLimit-Remaining': '0' });
    const [error, status, template] = errors[rejection.kind] ?? ['invalid_request', 400, 'The request is malformed.'];
    const description = formatDescription(template, rejection);
    return json(
      status,
      { error, error_description: description },
      {
        'WWW-Authenticate': `Bearer realm="Doorkeeper", error="${error}", error_description="${description.replace(/[^\x20-\x7e]|"/g, '')}"`,
      },
    );
  },
  resource: (user, clientId) => json(200, { id: 1, username: user ?? clientId, state: 'active' }),
  unauthorizedResponse: () => json(401, { message: '401 Unauthorized' }),
  tenantOf: () => undefined,
};
