import { json, text } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider, type ResourceSubject } from '../provider.ts';
import type { ErrorTable } from '../rejection.ts';
import { hashOf, namesOf, numberOf } from './identifiers.ts';

const errors: ErrorTable = {
  invalid_client:
    '401 invalid_client: Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant:
    '400 invalid_grant: The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  multiple_client_auth: '400 invalid_request: The request includes more than one client authentication method.',
  missing_client:
    '401 invalid_client: Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  missing_field: '400 invalid_request: Missing required parameter: {}.',
  missing_grant_type: '400 invalid_request: Missing required parameter: {}.',
  revocation_by_other_client: '403 unauthorized_client: You are not authorized to revoke this token',
  duplicate_field: '400 invalid_request: The request includes a parameter twice: {}.',
  password_grant_disabled:
    '401 unauthorized_client: The client is not authorized to perform this request using this method.',
  unsupported_grant:
    '400 unsupported_grant_type: The authorization grant type is not supported by the authorization server.',
  invalid_scope: '400 invalid_scope: The requested scope is invalid, unknown, or malformed.',
  authorization_pending:
    '400 authorization_pending: The authorization request is still pending as the end user has not yet completed the user interaction steps.',
  slow_down:
    '400 slow_down: The authorization request is still pending and polling should continue, but the interval must be increased by 5 seconds.',
  access_denied: '400 access_denied: The resource owner or authorization server denied the request.',
  expired_device_code:
    '400 expired_token: The device_code has expired, and the device authorization session has concluded.',
};

/** Scopes of applications (docs.gitlab.com, "OAuth 2.0 identity provider API", "Authorized applications"). */
const scopes =
  'api read_api read_user create_runner manage_runner k8s_proxy self_rotate mcp read_repository write_repository read_registry write_registry read_virtual_registry write_virtual_registry read_observability write_observability ai_features ai_workflows sudo admin_mode read_service_ping openid profile email'.split(
    ' ',
  );

/** The claims of config/initializers/doorkeeper_openid_connect.rb in GitLab. `groups_direct` is in id tokens only. */
function userClaims({ user, scopes: granted, issuer }: Pick<ResourceSubject, 'user' | 'scopes' | 'issuer'>) {
  if (user === undefined) return {};
  const { name, email } = namesOf(user);
  const username = user.login.split('@')[0] ?? user.login;
  return {
    sub: user.sub ?? numberOf(user.login, 7),
    sub_legacy: hashOf(user.login),
    name,
    nickname: username,
    preferred_username: username,
    ...(granted.includes('email') && { email, email_verified: true }),
    profile: `${issuer}/${username}`,
    groups: user.groups ?? [],
  };
}

/** GitLab, which uses Doorkeeper. Its access tokens are opaque. Profiles add self-managed instances. */
export const gitlab: EmulatedProvider = {
  type: 'gitlab',
  tokenUrl: 'https://gitlab.com/oauth/token',
  hosts: /^gitlab\.com$/,
  routes: {
    token: /\/oauth\/token$/,
    device: /\/oauth\/authorize_device$/,
    authorize: /\/oauth\/authorize$/,
    verify: /\/oauth\/device$/,
    revoke: /\/oauth\/revoke$/,
    introspect: /\/oauth\/introspect$/,
    resource: /\/(?:api\/v4\/user|oauth\/userinfo|oauth\/token\/info)$/,
    metadata: /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    keys: /\/oauth\/discovery\/keys$/,
  },
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', DEVICE_CODE_GRANT],
  // Doorkeeper deliberately does not decode the values of a Basic header.
  clientAuth: { default: 'client_secret_post', basicDecoding: 'raw', headerWins: true },
  passwordGrantWithoutClient: true,
  // Doorkeeper supports it since 2026, but only after a database migration.
  codeReuseRevokesTokens: false,
  isScope: (scope) => scopes.includes(scope),
  revocation: { rejectsOthers: true },
  metadata: ({ origin, path }) => {
    const issuer = `${origin}${path.replace(/\/\.well-known\/.*$/, '')}`;
    // The device endpoint exists, but the document does not list it.
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      userinfo_endpoint: `${issuer}/oauth/userinfo`,
      jwks_uri: `${issuer}/oauth/discovery/keys`,
      scopes_supported: scopes,
      response_modes_supported: ['query', 'fragment', 'form_post'],
      grant_types_supported: ['authorization_code', 'password', 'client_credentials', 'device_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    };
  },
  // A GitLab below a path has it in its issuer.
  issuer: ({ origin, path }) => `${origin}${path.replace(/\/(?:oauth|api|\.well-known)\/.*$/, '')}`,
  refresh: { policy: 'single_use', lifetimeSeconds: Number.POSITIVE_INFINITY },
  lifetimeSeconds: 7200,
  idTokenLifetimeSeconds: 120,
  device: { expiresIn: 300, hasCompleteUri: true, verificationPath: '/oauth/device' },
  response: (standard, { scope, issuedAt }) => ({ ...standard, scope: scope || 'api', created_at: issuedAt }),
  errors,
  errorResponse({ status, body }, kind) {
    if (kind === 'rate_limited') return text(429, 'Retry later\n', { 'Retry-After': '60', 'RateLimit-Remaining': '0' });
    const description = body.error_description.replace(/[^\x20-\x7e]|"/g, '');
    const challenge = `Bearer realm="Doorkeeper", error="${body.error}", error_description="${description}"`;
    return json(status, body, { 'WWW-Authenticate': challenge });
  },
  idClaims: (subject) => ({ ...userClaims(subject), groups_direct: subject.user?.groups ?? [] }),
  // Doorkeeper's response has no user.
  introspection: ({ active, scope, client_id, token_type, exp, iat }) => ({
    ...{ active, scope, client_id, token_type, exp, iat },
  }),
  resource(subject, { path }) {
    const { user, clientId, scopes: granted } = subject;
    const id = Number(user?.sub ?? numberOf(user?.login ?? clientId, 7));
    if (path.endsWith('/userinfo')) return json(200, { ...userClaims(subject), ...user?.claims });
    if (path.endsWith('/token/info'))
      return json(200, { resource_owner_id: id, scope: granted, application: { uid: clientId } });
    return json(200, { id, username: user?.login ?? clientId, name: user && namesOf(user).name, state: 'active' });
  },
  unauthorizedResponse: () => json(401, { message: '401 Unauthorized' }),
};
