import { json, text } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider, type RequestTarget, type TokenSubject } from '../provider.ts';
import type { ErrorTable } from '../rejection.ts';
import { guidOf, hashOf, isGuid, namesOf } from './identifiers.ts';

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
  missing_client: "400 invalid_request: AADSTS900144: The request body must contain the following parameter: '{}'.",
  missing_grant_type: "400 invalid_request: AADSTS900144: The request body must contain the following parameter: '{}'.",
  missing_scope: "400 invalid_request: AADSTS900144: The request body must contain the following parameter: '{}'.",
  unsupported_parameter: "400 invalid_request: AADSTS901002: The '{}' request parameter is not supported.",
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

const sharedTenants = ['common', 'organizations', 'consumers'];

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
    resource: /^\/(?:v1\.0\/(?:me|users|organization)|oidc\/userinfo)$/,
    metadata: /^\/[^/]+\/v2\.0\/\.well-known\/openid-configuration$/,
    keys: /^\/[^/]+\/discovery\/v2\.0\/keys$/,
  },
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', DEVICE_CODE_GRANT],
  // Basic is documented as well, and has been observed to be compared without decoding.
  clientAuth: { default: 'client_secret_post', basicDecoding: 'either' },
  sharedTenants,
  tenantsWithoutPasswordGrant: ['common', 'consumers'],
  rejectedParameters: ['resource'],
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
      userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
    };
  },
  issuer: (target) => {
    const origin = target.host.startsWith('login.') ? target.origin : 'https://login.microsoftonline.com';
    return `${origin}/${homeTenant(target)}/v2.0`;
  },
  refresh: { policy: 'reusable', allowsNewScopes: true, requiredScope: 'offline_access', lifetimeSeconds: 90 * 86_400 },
  lifetimeSeconds: 3599,
  device: { expiresIn: 900, verificationPath: '/devicelogin', hasMessage: true },
  accessToken: {
    typ: 'JWT',
    idClaim: 'uti',
    claims: (subject) => {
      const { audience, clientId, client, clientAuth, user, scopes, issuedAt } = subject;
      const scp = withoutProtocolScopes(scopes.map((scope) => scope.slice(scope.lastIndexOf('/') + 1)).join(' '));
      return {
        aud: audience ?? audienceOf(scopes),
        nbf: issuedAt,
        azp: clientId,
        azpacr: { none: '0', secret: '1', assertion: '2' }[clientAuth],
        ...userClaims(subject),
        ...(user && { scp: scp || undefined, groups: user.groups }),
        roles: user === undefined ? client?.roles : user.roles,
        ver: '2.0',
      };
    },
  },
  idClaims: (subject) => {
    const { user, scopes, issuedAt, id } = subject;
    const email = user && scopes.includes('email') ? namesOf(user).email : undefined;
    // Microsoft has no auth_time by default.
    const claims = { nbf: issuedAt, auth_time: undefined, email, uti: id, ver: '2.0' };
    return { ...userClaims(subject), ...claims, groups: user?.groups, roles: user?.roles };
  },
  // "This claim isn't returned on ID tokens from the /token endpoint" (ID token claims reference).
  hasAccessTokenHash: false,
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
  resource(subject, { path }) {
    const { user } = subject;
    if (path.endsWith('/organization')) return json(200, { value: [{ id: 'contoso', displayName: 'Contoso' }] });
    const { name, given, family, email } = user ? namesOf(user) : {};
    const { oid, sub } = userClaims(subject);
    if (path.endsWith('/userinfo'))
      return json(200, { sub, name, given_name: given, family_name: family, email, ...user?.claims });
    const profile = { id: oid, displayName: name, givenName: given, surname: family, userPrincipalName: user?.login };
    if (path.endsWith('/users')) return json(200, { value: user === undefined ? [] : [profile] });
    // An app-only token has no user.
    if (user !== undefined) return json(200, profile);
    const message = '/me request is only valid with delegated authentication flow.';
    return json(400, { error: { code: 'BadRequest', message } });
  },
  unauthorizedResponse: () =>
    json(401, { error: { code: 'InvalidAuthenticationToken', message: 'Access token is empty, expired or invalid.' } }),
  tenantOf: ({ host, path }) => (host.startsWith('login.') ? tenantIn(path) : undefined),
  relatedTenants: (tenant) => [guidOf(tenant)],
};

const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad';
/** Application id of Microsoft Graph. */
const GRAPH = '00000003-0000-0000-c000-000000000000';

/** The issuer in metadata contains the GUID of the tenant, or a placeholder for shared endpoints. */
function tenantIdOf(tenant: string): string {
  if (tenant === 'common' || tenant === 'organizations') return '{tenantid}';
  return tenant === 'consumers' ? CONSUMERS : guidOf(tenant);
}

/** The tenant of a user: the one in the URL, or the first one that a profile has if the URL leaves it open. */
function homeTenant({ path, tenants }: Pick<RequestTarget, 'path' | 'tenants'>): string {
  const named = tenantIn(path)?.toLowerCase() ?? 'organizations';
  if (named === 'consumers') return CONSUMERS;
  if (named !== 'common' && named !== 'organizations') return guidOf(named);
  const own = [...tenants].find((tenant) => !sharedTenants.includes(tenant));
  return guidOf(own ?? 'contoso.onmicrosoft.com');
}

function tenantIn(path: string): string | undefined {
  return /^\/([^/]+)\/(?:oauth2|v2\.0|discovery)\//.exec(path)?.[1];
}

/** The API that the scopes belong to: `api://<client id>/read` is for `<client id>`. */
function audienceOf(scopes: readonly string[]): string {
  const scope = scopes.find((one) => /^\w+:\/\//.test(one));
  const [, resource = GRAPH] = /^(.*)\/[^/]*$/.exec(scope ?? '') ?? [];
  if (/^https:\/\/graph\.microsoft\./.test(resource)) return GRAPH;
  const name = resource.replace(/^api:\/\//, '');
  return isGuid(name) ? name : resource;
}

/** The claims that all tokens about a user have (learn.microsoft.com, "Access token claims reference"). */
function userClaims({ user, clientId, target, scopes }: Pick<TokenSubject, 'user' | 'clientId' | 'target' | 'scopes'>) {
  const tid = homeTenant(target);
  const oid = guidOf(`${tid} ${user?.login ?? clientId}`);
  return {
    oid,
    // Pairwise for users; the object id of its service principal for an app.
    sub: user === undefined ? oid : (user.sub ?? hashOf(clientId, user.login)),
    tid,
    ...(user && scopes.includes('profile') && { name: namesOf(user).name, preferred_username: user.login }),
  };
}

/** Removes the OpenID Connect scopes, which are not scopes of the access token. */
function withoutProtocolScopes(scope: string): string {
  return scope
    .split(' ')
    .filter((one) => !['openid', 'profile', 'offline_access'].includes(one))
    .join(' ');
}
