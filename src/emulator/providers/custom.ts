import { json } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider, JWT_BEARER_GRANT, type ResourceSubject } from '../provider.ts';
import { rfc9068 } from '../tokens/issue-tokens.ts';
import { namesOf } from './identifiers.ts';

/** The claims about a user that the scopes allow (OpenID Connect Core §5.4). */
function userClaims({ user, scopes }: Pick<ResourceSubject, 'user' | 'scopes'>): Record<string, unknown> {
  if (user === undefined) return {};
  const { name, given, family, email } = namesOf(user);
  return {
    ...(scopes.includes('profile') && {
      name,
      given_name: given,
      family_name: family,
      preferred_username: user.login,
    }),
    ...(scopes.includes('email') && { email, email_verified: true }),
    groups: user.groups,
    roles: user.roles,
  };
}

/** An RFC 6749 server with strict refresh token rotation, at the URLs of custom profiles. Its access tokens are JWTs as RFC 9068 defines them. */
export const custom: EmulatedProvider = {
  type: 'custom',
  isolatedHosts: true,
  routes: {
    device: /\/device_authorization$/,
    authorize: /\/authorize$/,
    verify: /\/device$/,
    revoke: /\/revoke$/,
    introspect: /\/introspect$/,
    resource: /\/userinfo$/,
    metadata: /\/\.well-known\/(?:oauth-authorization-server|openid-configuration)(?:\/.*)?$/,
    keys: /\/jwks$/,
    // Every other URL is a token endpoint: the profile defines it.
    token: /^/,
  },
  grants: [
    'authorization_code',
    'refresh_token',
    'client_credentials',
    'password',
    DEVICE_CODE_GRANT,
    JWT_BEARER_GRANT,
  ],
  clientAuth: { default: 'client_secret_post', secretAssertions: true },
  passwordGrantWithoutClient: true,
  dpop: true,
  codeReuseRevokesTokens: true,
  metadata: ({ origin, path, tokenUrl, configuredIssuer }) => {
    const issuer = configuredIssuer ?? origin;
    // A document below another path belongs to another issuer.
    const prefix = path.replace(/\/\.well-known\/[^/]+/, '');
    if (prefix !== '' && prefix !== '/' && `${origin}${prefix}` !== issuer.replace(/\/$/, '')) return undefined;
    // The other endpoints are siblings of the token endpoint.
    const base = `${origin}${tokenUrl?.pathname.replace(/\/[^/]*$/, '') ?? ''}`;
    return {
      issuer,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: tokenUrl?.href ?? `${origin}/token`,
      device_authorization_endpoint: `${base}/device_authorization`,
      revocation_endpoint: `${base}/revoke`,
      introspection_endpoint: `${base}/introspect`,
      userinfo_endpoint: `${base}/userinfo`,
      jwks_uri: `${base}/jwks`,
      response_modes_supported: ['query'],
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      token_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'client_secret_jwt',
        'private_key_jwt',
        'none',
      ],
      token_endpoint_auth_signing_alg_values_supported: ['HS256', 'RS256', 'PS256', 'ES256', 'EdDSA'],
      dpop_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
    };
  },
  issuer: ({ origin, configuredIssuer }) => configuredIssuer ?? origin,
  sendsIssuer: true,
  refresh: { policy: 'rotating', lifetimeSeconds: 30 * 86_400 },
  lifetimeSeconds: 3600,
  device: { expiresIn: 600, hasCompleteUri: true, hasDash: true, verificationPath: '/device' },
  accessToken: rfc9068,
  idClaims: (subject) => userClaims(subject),
  errorResponse({ status, body }) {
    if (status === 429) return json(status, body, { 'Retry-After': '60' });
    return json(status, body, status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth-profile emulator"' } : {});
  },
  resource: (subject) => {
    const { user, clientId } = subject;
    return json(200, { sub: user?.sub ?? user?.login ?? clientId, ...userClaims(subject), ...user?.claims });
  },
  unauthorizedResponse: () =>
    json(401, { error: 'invalid_token' }, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }),
};
