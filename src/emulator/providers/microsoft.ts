import { createHash } from 'node:crypto';
import { json, text } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider } from '../provider.ts';
import type { ErrorTable } from '../rejection.ts';

const credentialRequired =
  "401 invalid_client: AADSTS7000218: The request body must contain the following parameter: 'client_assertion' or 'client_secret'.";
const unknownTenant =
  "AADSTS90002: Tenant '{}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.";

const errors: ErrorTable = {
  unknown_client:
    "400 unauthorized_client: AADSTS700016: Application with identifier '{}' was not found in the directory.",
  invalid_client_secret:
    '401 invalid_client: AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app.',
  missing_client_auth: credentialRequired,
  invalid_assertion: '401 invalid_client: AADSTS700027: Client assertion failed signature validation.',
  secret_for_public_client:
    "401 invalid_client: AADSTS700025: Client is public so neither 'client_assertion' nor 'client_secret' should be presented.",
  multiple_client_auth: '400 invalid_request: AADSTS700030: More than one client credential was presented.',
  unexpected_auth_method: credentialRequired,
  missing_field: "400 invalid_request: AADSTS900144: The request body must contain the following parameter: '{}'.",
  duplicate_field: "400 invalid_request: AADSTS90100: '{}' parameter is not valid: it is duplicated.",
  unknown_tenant: `400 invalid_request: ${unknownTenant}`,
  tenant_without_metadata: `400 invalid_tenant: ${unknownTenant}`,
  tenant_without_password_grant:
    '400 invalid_request: AADSTS9001023: The grant type is not supported over the /common or /consumers endpoints. Please use the /organizations or tenant-specific endpoint.',
  password_grant_disabled: credentialRequired,
  invalid_password: '400 invalid_grant: AADSTS50126: Error validating credentials due to invalid username or password.',
  invalid_refresh_token: '400 invalid_grant: AADSTS9002313: Invalid request. Request is malformed or invalid.',
  expired_refresh_token: '400 invalid_grant: AADSTS700082: The refresh token has expired due to inactivity.',
  invalid_code:
    '400 invalid_grant: AADSTS54005: OAuth2 Authorization code was already redeemed, please retry with a new valid code or use an existing refresh token.',
  invalid_code_verifier:
    '400 invalid_grant: AADSTS501481: The Code_Verifier does not match the code_challenge supplied in the authorization request.',
  redirect_uri_mismatch:
    '400 invalid_client: AADSTS500112: The reply address does not match the reply address provided when requesting Authorization code.',
  unsupported_grant: "400 unsupported_grant_type: AADSTS70003: The app requested an unsupported grant type '{}'.",
  invalid_scope:
    "400 invalid_scope: AADSTS70011: The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' is not valid. The scope {} is not valid.",
  authorization_pending:
    '400 authorization_pending: AADSTS70016: OAuth 2.0 device flow error. Authorization is pending. Continue polling.',
  slow_down: '400 slow_down: AADSTS70016: OAuth 2.0 device flow error. Polling too fast.',
  access_denied:
    '400 authorization_declined: AADSTS70000: The user has denied access to the scope requested by the client application.',
  expired_device_code: '400 expired_token: AADSTS70019: Verification code expired.',
  invalid_device_code: '400 bad_verification_code: AADSTS70018: Invalid verification code.',
};

/** Microsoft Entra ID, identity platform v2.0. */
export const microsoft: EmulatedProvider = {
  type: 'microsoft',
  tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
  hosts: /^(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|graph\.microsoft\.com)$/,
  routes: {
    token: /^\/[^/]+\/oauth2\/v2\.0\/token$/,
    device: /^\/[^/]+\/oauth2\/v2\.0\/devicecode$/,
    authorize: /^\/[^/]+\/oauth2\/v2\.0\/authorize$/,
    verify: /^\/devicelogin$/,
    resource: /^\/v1\.0\/(?:me|users|organization)$/,
    metadata: /^\/[^/]+\/v2\.0\/\.well-known\/openid-configuration$/,
    keys: /^\/[^/]+\/discovery\/v2\.0\/keys$/,
  },
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', DEVICE_CODE_GRANT],
  // Basic is documented as well, and has been observed to be compared without decoding.
  clientAuth: { default: 'client_secret_post', basicDecoding: 'either' },
  tenantsWithoutPasswordGrant: ['common', 'consumers'],
  scopeRequiredFor: ['client_credentials'],
  allowsClientScope: (scope) => scope.endsWith('/.default'),
  metadata: ({ host, origin, path }) => {
    if (!host.startsWith('login.')) return undefined;
    const tenant = path.split('/')[1] ?? '';
    return {
      token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
      jwks_uri: `${origin}/${tenant}/discovery/v2.0/keys`,
      response_modes_supported: ['query', 'fragment', 'form_post'],
      subject_types_supported: ['pairwise'],
      response_types_supported: ['code', 'id_token', 'code id_token', 'id_token token'],
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      issuer: `${origin}/${tenantIdOf(tenant.toLowerCase())}/v2.0`,
      request_uri_parameter_supported: false,
      // The document does not list these.
      grant_types_supported: undefined,
      code_challenge_methods_supported: undefined,
      authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
      device_authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/devicecode`,
    };
  },
  refresh: { policy: 'reusable', allowsNewScopes: true, requiredScope: 'offline_access', lifetimeSeconds: 90 * 86_400 },
  lifetimeSeconds: 3599,
  device: { expiresIn: 900, verificationPath: '/devicelogin', hasMessage: true },
  response: (standard, { scope, lifetime, grant }) => ({
    ...standard,
    scope: (grant !== 'client_credentials' && withoutProtocolScopes(scope)) || undefined,
    ext_expires_in: lifetime,
  }),
  errors,
  errorResponse({ status, body: { error, error_description: description } }, kind, now) {
    if (kind === 'rate_limited') return text(429, 'Too Many Requests', { 'Retry-After': '60' });
    const [, code] = /^AADSTS(\d+)/.exec(description) ?? [];
    const id = '00000000-0000-4000-8000-000000000000';
    const timestamp = new Date(now).toISOString().replace('T', ' ').replace(/\.\d+/, '');
    return json(status, {
      error,
      error_description: `${description}\r\nTrace ID: ${id}\r\nCorrelation ID: ${id}\r\nTimestamp: ${timestamp}`,
      error_codes: [Number(code)],
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
