import { json } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider, JWT_BEARER_GRANT, type ResourceSubject } from '../provider.ts';
import type { ErrorTable } from '../rejection.ts';
import { namesOf, numberOf } from './identifiers.ts';

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
  missing_grant_type: '400 unsupported_grant_type: Invalid grant_type: ',
  missing_client: '400 invalid_request: Missing required parameter: {}',
  invalid_grant_assertion: '400 invalid_grant: Invalid JWT Signature.',
  unknown_token: '400 invalid_token: Token expired or revoked',
  authorization_pending: '428 authorization_pending: Precondition Required',
  slow_down: '403 slow_down: Rate Limit Exceeded',
  access_denied: '403 access_denied: Forbidden',
  expired_device_code: '400 expired_token: Bad Request',
  invalid_scope: '400 invalid_scope: Bad Request',
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
  claims_supported: 'aud email email_verified exp family_name given_name iat iss name picture sub'.split(' '),
};

/** The claims of the OpenID Connect guide at developers.google.com/identity/openid-connect. */
function userClaims({ user, scopes }: Pick<ResourceSubject, 'user' | 'scopes'>) {
  if (user === undefined) return {};
  const { name, given, family, email } = namesOf(user);
  const has = (scope: string): boolean =>
    scopes.includes(scope) || scopes.includes(`https://www.googleapis.com/auth/userinfo.${scope}`);
  const [, domain = ''] = email.split('@');
  return {
    sub: user.sub ?? numberOf(user.login, 21),
    ...(has('profile') && { name, given_name: given, family_name: family }),
    ...(has('email') && { email, email_verified: true }),
    // Only accounts of an organization have a domain.
    ...(domain !== 'gmail.com' && { hd: domain }),
  };
}

/** Google, on its current hosts and on the old token URL. */
export const google: EmulatedProvider = {
  type: 'google',
  tokenUrl: 'https://accounts.google.com/o/oauth2/token',
  hosts: /^(?:accounts\.google\.com|(?:oauth2|openidconnect|www|sts|iamcredentials)\.googleapis\.com)$/,
  routes: {
    token: /^\/(?:o\/oauth2\/)?token$/,
    authorize: /^\/o\/oauth2\/(?:v2\/)?auth$/,
    device: /^\/device\/code$/,
    verify: /^\/device$/,
    revoke: /^\/revoke$/,
    resource: /^\/(?:(?:v1|oauth2\/v[123])\/userinfo|tokeninfo|oauth2\/v3\/tokeninfo)$/,
    metadata: /^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/,
    keys: /^\/oauth2\/v3\/certs$/,
    federation: /^\/v1\/(?:token|projects\/-\/serviceAccounts\/[^/]+:generateAccessToken)$/,
  },
  grants: ['authorization_code', 'refresh_token', DEVICE_CODE_GRANT, JWT_BEARER_GRANT],
  clientAuth: { default: 'client_secret_post' },
  metadata: ({ host }) => (host === 'accounts.google.com' ? metadata : undefined),
  // Google sends `iss`, although its metadata does not announce it.
  issuer: () => ISSUER,
  sendsIssuer: true,
  revocation: { withoutClientAuth: true, rejectsUnknown: true },
  refresh: { policy: 'static', offlineAccessOnly: true, lifetimeSeconds: 180 * 86_400 },
  lifetimeSeconds: 3599,
  device: { expiresIn: 1800, hasDash: true, uriMember: 'verification_url', verificationPath: '/device' },
  encodeAccessToken: (token) => `ya29.${token}`,
  decodeAccessToken: (token) => token.replace(/^ya29\./, ''),
  // auth_time is present only if the client requests it as a claim, which is not emulated.
  idClaims: (subject) => ({ azp: subject.clientId, auth_time: undefined, ...userClaims(subject) }),
  response(standard, { scope, grant, idToken, accessToken }) {
    if (grant !== JWT_BEARER_GRANT)
      return { ...standard, scope: scope || 'openid https://www.googleapis.com/auth/userinfo.email' };
    // Service accounts get an access token, or an id token for the audience that they named.
    return accessToken === '' ? { id_token: idToken } : { ...standard, scope: undefined, id_token: undefined };
  },
  errors,
  resource(subject, { path }) {
    const { user, clientId, scopes } = subject;
    const claims = { ...userClaims({ user, scopes: [...scopes, 'email'] }), ...user?.claims };
    if (!path.endsWith('tokeninfo')) return json(200, user === undefined ? { sub: clientId, email: clientId } : claims);
    const [exp, left] = [subject.expiresAt ?? 0, (subject.expiresAt ?? 0) - subject.issuedAt];
    const token = { azp: clientId, aud: clientId, scope: scopes.join(' '), exp: String(exp), expires_in: String(left) };
    return json(200, { ...token, ...claims, access_type: 'offline' });
  },
  unauthorizedResponse: () =>
    json(401, {
      error: { code: 401, message: 'Request had invalid authentication credentials.', status: 'UNAUTHENTICATED' },
    }),
};
