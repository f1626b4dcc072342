import { createHash } from 'node:crypto';
import { type EmulatorResponse, json, text } from '../messages.ts';
import type { EmulatedProvider } from '../provider.ts';
import { formatDescription, type Rejection } from '../rejection.ts';

/** AADSTS code, `error`, HTTP status and description of each error. */
const errors: Partial<
  Record<Rejection['kind'], readonly [code: number, error: string, status: number, description: string]>
> = {
  unknown_client: [
    700016,
    'unauthorized_client',
    400,
    "Application with identifier '{clientId}' was not found in the directory.",
  ],
  invalid_client_secret: [
    7000215,
    'invalid_client',
    401,
    'Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app.',
  ],
  missing_client_auth: [
    7000218,
    'invalid_client',
    401,
    "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
  ],
  invalid_assertion: [700027, 'invalid_client', 401, 'Client assertion failed signature validation.'],
  secret_for_public_client: [
    700025,
    'invalid_client',
    401,
    "Client is public so neither 'client_assertion' nor 'client_secret' should be presented.",
  ],
  multiple_client_auth: [700030, 'invalid_request', 400, 'More than one client credential was presented.'],
  unexpected_auth_method: [
    7000218,
    'invalid_client',
    401,
    "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
  ],
  missing_field: [900144, 'invalid_request', 400, "The request body must contain the following parameter: '{field}'."],
  duplicate_field: [90100, 'invalid_request', 400, "'{field}' parameter is not valid: it is duplicated."],
  unknown_tenant: [
    90002,
    'invalid_request',
    400,
    "Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.",
  ],
  tenant_without_metadata: [
    90002,
    'invalid_tenant',
    400,
    "Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.",
  ],
  tenant_without_password_grant: [
    9001023,
    'invalid_request',
    400,
    'The grant type is not supported over the /common or /consumers endpoints. Please use the /organizations or tenant-specific endpoint.',
  ],
  password_grant_disabled: [
    7000218,
    'invalid_client',
    401,
    "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
  ],
  invalid_password: [50126, 'invalid_grant', 400, 'Error validating credentials due to invalid username or password.'],
  invalid_refresh_token: [9002313, 'invalid_grant', 400, 'Invalid request. Request is malformed or invalid.'],
  expired_refresh_token: [700082, 'invalid_grant', 400, 'The refresh token has expired due to inactivity.'],
  invalid_code: [
    54005,
    'invalid_grant',
    400,
    'OAuth2 Authorization code was already redeemed, please retry with a new valid code or use an existing refresh token.',
  ],
  invalid_code_verifier: [
    501481,
    'invalid_grant',
    400,
    'The Code_Verifier does not match the code_challenge supplied in the authorization request.',
  ],
  redirect_uri_mismatch: [
    500112,
    'invalid_client',
    400,
    'The reply address does not match the reply address provided when requesting Authorization code.',
  ],
  unsupported_grant: [70003, 'unsupported_grant_type', 400, "The app requested an unsupported grant type '{grant}'."],
  invalid_scope: [
    70011,
    'invalid_scope',
    400,
    "The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' is not valid. The scope {scope} is not valid.",
  ],
  authorization_pending: [
    70016,
    'authorization_pending',
    400,
    'OAuth 2.0 device flow error. Authorization is pending. Continue polling.',
  ],
  slow_down: [70016, 'slow_down', 400, 'OAuth 2.0 device flow error. Polling too fast.'],
  access_denied: [
    70000,
    'authorization_declined',
    400,
    'The user has denied access to the scope requested by the client application.',
  ],
  expired_device_code: [70019, 'expired_token', 400, 'Verification code expired.'],
  invalid_device_code: [70018, 'bad_verification_code', 400, 'Invalid verification code.'],
};

/** Microsoft Entra ID, identity platform v2.0. */
export const microsoft: EmulatedProvider = {
  type: 'microsoft',
  tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
  hosts: /^(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|graph\.microsoft\.com)$/,
  isolatedHosts: false,
  routes: [
    { action: 'token', method: 'POST', path: /^\/[^/]+\/oauth2\/v2\.0\/token$/ },
    { action: 'device', method: 'POST', path: /^\/[^/]+\/oauth2\/v2\.0\/devicecode$/ },
    { action: 'authorize', method: 'ANY', path: /^\/[^/]+\/oauth2\/v2\.0\/authorize$/ },
    { action: 'verify', method: 'ANY', path: /^\/devicelogin$/ },
    { action: 'resource', method: 'GET', path: /^\/v1\.0\/(?:me|users|organization)$/ },
    { action: 'metadata', method: 'GET', path: /^\/[^/]+\/v2\.0\/\.well-known\/openid-configuration$/ },
    { action: 'keys', method: 'GET', path: /^\/[^/]+\/discovery\/v2\.0\/keys$/ },
  ],
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'device_code'],
  // Basic is documented as well, and has been observed to be compared without decoding.
  clientAuth: {
    default: 'client_secret_post',
    basicDecoding: 'either',
    allowsPost: true,
    registeredMethodOnly: false,
    multiple: 'rejected',
  },
  passwordGrantWithoutClient: false,
  tenantsWithoutPasswordGrant: ['common', 'consumers'],
  scopeRequiredFor: ['client_credentials'],
  allowsClientScope: (scope) => scope.endsWith('/.default'),
  codeReuseRevokesTokens: false,
  metadata: ({ host, origin, path }) => {
    if (!host.startsWith('login.')) return undefined;
    const tenant = path.split('/')[1] ?? '';
    return {
      token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
      jwks_uri: `${origin}/${tenant}/discovery/v2.0/keys`,
      response_modes_supported: ['query', 'fragment', 'form_post'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['code', 'id_token', 'code id_token', 'id_token token'],
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      issuer: `${origin}/${tenantIdOf(tenant.toLowerCase())}/v2.0`,
      request_uri_parameter_supported: false,
      authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
      device_authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/devicecode`,
    };
  },
  issuer: undefined,
  revocationWithoutClientAuth: false,
  refresh: {
    policy: 'reusable',
    offlineAccessOnly: false,
    allowsNewScopes: true,
    graceSeconds: 0,
    requiredScope: 'offline_access',
    lifetimeSeconds: 90 * 86_400,
  },
  lifetimeSeconds: 3599,
  device: { expiresIn: 900, hasCompleteUri: false, verificationPath: '/devicelogin', hasMessage: true },
  stableToken: false,
  encodeAccessToken: (token) => token,
  decodeAccessToken: (token) => token,
  response: ({ accessToken, refreshToken, idToken, scope, lifetime, grant }) => ({
    token_type: 'Bearer',
    ...(withoutProtocolScopes(scope) && grant !== 'client_credentials' && { scope: withoutProtocolScopes(scope) }),
    expires_in: lifetime,
    ext_expires_in: lifetime,
    access_token: accessToken,
    ...(refreshToken && { refresh_token: refreshToken }),
    ...(idToken && { id_token: idToken }),
  }),
  errorResponse(rejection, { now }): EmulatorResponse {
    if (rejection.kind === 'rate_limited') return text(429, 'Too Many Requests', { 'Retry-After': '60' });
    const [code, error, status, template] = errors[rejection.kind] ?? [900144, 'invalid_request', 400, rejection.kind];
    const filled = formatDescription(template, rejection);
    const id = '00000000-0000-4000-8000-000000000000';
    const timestamp = new Date(now).toISOString().replace('T', ' ').replace(/\.\d+/, '');
    return json(status, {
      error,
      error_description: `AADSTS${code}: ${filled}\r\nTrace ID: ${id}\r\nCorrelation ID: ${id}\r\nTimestamp: ${timestamp}`,
      error_codes: [code],
      timestamp,
      trace_id: id,
      correlation_id: id,
      error_uri: `https://login.microsoftonline.com/error?code=${code}`,
    });
  },
  resource(user, _, path) {
    if (path.endsWith('/organization')) return json(200, { value: [{ id: 'contoso', displayName: 'Contoso' }] });
    const profile = { displayName: user, givenName: givenName(user), userPrincipalName: user };
    if (path.endsWith('/users')) return json(200, { value: user === undefined ? [] : [profile] });
    // An app-only token has no user.
    if (user !== undefined) return json(200, profile);
    const message = '/me request is only valid with delegated authentication flow.';
    return json(400, { error: { code: 'BadRequest', message } });
  },
  unauthorizedResponse: () =>
    json(401, { error: { code: 'InvalidAuthenticationToken', message: 'Access token is empty, expired or invalid.' } }),
  tenantOf: ({ path }) => path.split('/')[1],
};

/** The issuer contains the GUID of the tenant, or a placeholder for shared endpoints. */
function tenantIdOf(tenant: string): string {
  if (tenant === 'common' || tenant === 'organizations') return '{tenantid}';
  if (tenant === 'consumers') return '9188040d-6c67-4c5b-b112-36a304b66dad';
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(tenant)) return tenant;
  const digits = createHash('sha256').update(tenant).digest('hex');
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}

/** Removes the OpenID Connect scopes, which are not scopes of the access token. */
function withoutProtocolScopes(scope: string): string {
  return scope
    .split(' ')
    .filter((one) => !['openid', 'profile', 'offline_access'].includes(one))
    .join(' ');
}

function givenName(user: string | undefined): string | null {
  const name = user?.split(/[@.]/)[0];
  return name ? name.charAt(0).toUpperCase() + name.slice(1) : null;
}
