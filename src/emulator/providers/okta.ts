import { json } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider, type RequestTarget, type ResourceSubject } from '../provider.ts';
import type { ErrorTable } from '../rejection.ts';
import { identifierOf, namesOf } from './identifiers.ts';

const errors: ErrorTable = {
  unknown_client: "401 invalid_client: Invalid value for 'client_id' parameter.",
  invalid_client_secret: '401 invalid_client: The client secret supplied for a confidential client is invalid.',
  missing_client_auth: '401 invalid_client: No client credentials found.',
  unexpected_auth_method:
    "401 invalid_client: Client authentication failed: the 'token_endpoint_auth_method' of the client does not match.",
  invalid_assertion: '401 invalid_client: The client_assertion signature is invalid.',
  secret_for_public_client:
    "401 invalid_client: Client authentication failed: the 'token_endpoint_auth_method' of the client does not match.",
  multiple_client_auth:
    '401 invalid_request: Cannot supply multiple client credentials. Use one of the following: credentials in the Authorization header, credentials in the post body, or a client_assertion in the post body.',
  missing_field: "400 invalid_request: The token request must specify the '{}' parameter.",
  missing_grant_type: "400 invalid_request: The token request must specify the '{}' parameter.",
  missing_client: '401 invalid_client: No client credentials found.',
  missing_scope:
    "400 invalid_scope: The authorization server resource does not have any configured default scopes, 'scope' must be provided.",
  duplicate_field: "400 invalid_request: Duplicate parameter '{}'.",
  invalid_password: '400 invalid_grant: The credentials provided were invalid.',
  password_grant_disabled:
    '400 unauthorized_client: The client is not authorized to use the provided grant type. Configured grant types: [authorization_code, refresh_token].',
  invalid_refresh_token: '400 invalid_grant: The refresh token is invalid or expired.',
  expired_refresh_token: '400 invalid_grant: The refresh token is invalid or expired.',
  invalid_code: '400 invalid_grant: The authorization code is invalid or has expired.',
  invalid_code_verifier: '400 invalid_grant: PKCE verification failed.',
  redirect_uri_mismatch:
    '400 invalid_grant: The redirect URI does not match the one used in the authorization request.',
  unsupported_grant:
    "400 unsupported_grant_type: The authorization grant type '{}' is not supported by the authorization server.",
  invalid_scope: '400 invalid_scope: One or more scopes are not configured for the authorization server resource.',
  authorization_pending: '400 authorization_pending: The device authorization is pending. Please try again later.',
  slow_down: '400 slow_down: Polling too fast.',
  access_denied: '400 access_denied: The resource owner or authorization server denied the request.',
  expired_device_code: '400 expired_token: The device code has expired.',
  invalid_device_code: '400 invalid_grant: The device code is invalid or has expired.',
};

const authMethods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'];

/** The claims that the scopes allow (developer.okta.com, "OpenID Connect & OAuth 2.0 API", "Scope-dependent claims"). */
function userClaims({ user, scopes }: Pick<ResourceSubject, 'user' | 'scopes'>) {
  if (user === undefined) return {};
  const { name, given, family, email } = namesOf(user);
  return {
    sub: user.sub ?? identifierOf('00u', user.login),
    ...(scopes.includes('profile') && {
      ...{ preferred_username: user.login, name, given_name: given, family_name: family },
      ...{ locale: 'en-US', zoneinfo: 'America/Los_Angeles' },
    }),
    ...(scopes.includes('email') && { email, email_verified: true }),
    groups: user.groups,
  };
}

/** The id of the authorization server in a path; empty for the org authorization server. */
function serverOf(path: string): string {
  return /^\/oauth2\/(?!v1\/)([A-Za-z0-9]+)\//.exec(path)?.[1] ?? '';
}

function issuerOf({ origin, path }: RequestTarget): string {
  const server = serverOf(path);
  return server === '' ? origin : `${origin}/oauth2/${server}`;
}

/** An Okta org with its org authorization server and custom ones such as `default`. */
export const okta: EmulatedProvider = {
  type: 'okta',
  tokenUrl: 'https://{tenant}.okta.com/oauth2/default/v1/token',
  hosts: /^[a-z0-9-]+\.(?:okta|oktapreview|okta-emea)\.com$/,
  isolatedHosts: true,
  routes: {
    token: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/token$/,
    device: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/device\/authorize$/,
    authorize: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/authorize$/,
    revoke: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/revoke$/,
    introspect: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/introspect$/,
    verify: /^\/activate$/,
    resource: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/userinfo$/,
    // Without a path it is the org authorization server.
    metadata: /^(?:\/oauth2\/[A-Za-z0-9]+)?\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    keys: /^\/oauth2\/(?:[A-Za-z0-9]+\/)?v1\/keys$/,
  },
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', DEVICE_CODE_GRANT],
  clientAuth: { default: 'client_secret_basic', registeredMethodOnly: true, secretAssertions: true },
  scopeRequiredFor: ['password', 'client_credentials'],
  allowsClientScope: (scope) => !scope.split(' ').includes('openid'),
  metadata: (target) => {
    const { origin, path } = target;
    const issuer = issuerOf(target);
    const base = issuer === origin ? `${origin}/oauth2/v1` : `${issuer}/v1`;
    return {
      issuer,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      ...(path.endsWith('openid-configuration') && { userinfo_endpoint: `${base}/userinfo` }),
      jwks_uri: `${base}/keys`,
      response_types_supported: ['code', 'id_token', 'code id_token', 'code token', 'id_token token'],
      response_modes_supported: ['query', 'fragment', 'form_post', 'okta_post_message'],
      scopes_supported: ['openid', 'profile', 'email', 'address', 'phone', 'offline_access', 'device_sso'],
      token_endpoint_auth_methods_supported: authMethods,
      code_challenge_methods_supported: ['S256'],
      revocation_endpoint: `${base}/revoke`,
      introspection_endpoint: `${base}/introspect`,
      introspection_endpoint_auth_methods_supported: authMethods,
      revocation_endpoint_auth_methods_supported: authMethods,
      request_parameter_supported: true,
      device_authorization_endpoint: `${base}/device/authorize`,
    };
  },
  issuer: issuerOf,
  refresh: { policy: 'rotating', graceSeconds: 30, requiredScope: 'offline_access', lifetimeSeconds: 7 * 86_400 },
  lifetimeSeconds: 3600,
  device: { expiresIn: 600, hasCompleteUri: true, verificationPath: '/activate' },
  accessToken: {
    idClaim: 'jti',
    idPrefix: 'AT.',
    claims: ({ issuer, audience, clientId, user, scopes, authTime, target }) => {
      const server = serverOf(target.path);
      return {
        ver: 1,
        aud: audience ?? (server === '' ? issuer : `api://${server}`),
        cid: clientId,
        ...(user && { uid: identifierOf('00u', user.login), auth_time: authTime }),
        scp: scopes,
        sub: user?.login ?? clientId,
        groups: user?.groups,
      };
    },
  },
  idClaims: (subject) => ({
    ver: 1,
    jti: `ID.${subject.id}`,
    amr: ['pwd'],
    idp: identifierOf('00o', subject.target.host),
    ...userClaims(subject),
  }),
  introspection: (standard, { user, clientId }) => ({
    ...standard,
    ...(user && { uid: identifierOf('00u', user.login) }),
    sub: user?.login ?? clientId,
  }),
  errors,
  errorResponse({ status, body }, kind, now) {
    if (kind === 'rate_limited') {
      // Okta returns invalid_grant for a user's rate limit: only the status shows that the grant is valid.
      const reset = {
        'X-Rate-Limit-Limit': '4',
        'X-Rate-Limit-Remaining': '0',
        'X-Rate-Limit-Reset': String(Math.ceil(now / 1000) + 60),
      };
      return json(429, { error: 'invalid_grant', error_description: 'The user is rate limited.' }, reset);
    }
    if (kind === 'unknown_tenant' || kind === 'tenant_without_metadata') {
      return json(404, {
        errorCode: 'E0000007',
        errorSummary: 'Not found: Resource not found',
        errorLink: 'E0000007',
        errorId: 'oae0000',
        errorCauses: [],
      });
    }
    return json(status, body);
  },
  resource: (subject) => json(200, { ...userClaims(subject), ...subject.user?.claims }),
  unauthorizedResponse: () => ({
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token", error_description="The access token is invalid"' },
    body: '',
  }),
  tenantOf: ({ host, path }) => `${host.split('.')[0]}/${serverOf(path)}`,
  // Every org has the org authorization server; most have one that is called `default`.
  relatedTenants: (tenant) => [tenant.replace(/\/.*/, '/'), tenant.replace(/\/.*/, '/default')],
};
