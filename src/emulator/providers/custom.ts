import { json } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider } from '../provider.ts';

/** An RFC 6749 server with strict refresh token rotation, at the URLs of custom profiles. */
export const custom: EmulatedProvider = {
  type: 'custom',
  isolatedHosts: true,
  routes: {
    device: /\/device_authorization$/,
    authorize: /\/authorize$/,
    verify: /\/device$/,
    revoke: /\/revoke$/,
    resource: /\/userinfo$/,
    metadata: /^\/\.well-known\/oauth-authorization-server$/,
    keys: /\/jwks$/,
    // Every other URL is a token endpoint: the profile defines it.
    token: /^/,
  },
  grants: ['authorization_code', 'refresh_token', 'client_credentials', 'password', DEVICE_CODE_GRANT],
  clientAuth: { default: 'client_secret_post' },
  passwordGrantWithoutClient: true,
  codeReuseRevokesTokens: true,
  metadata: ({ origin, tokenUrl }) => {
    // The other endpoints are siblings of the token endpoint.
    const base = `${origin}${tokenUrl?.pathname.replace(/\/[^/]*$/, '') ?? ''}`;
    return {
      issuer: origin,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: tokenUrl?.href ?? `${origin}/token`,
      device_authorization_endpoint: `${base}/device_authorization`,
      revocation_endpoint: `${base}/revoke`,
      jwks_uri: `${base}/jwks`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      scopes_supported: ['openid', 'offline_access'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
      token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      authorization_response_iss_parameter_supported: true,
    };
  },
  issuer: ({ origin }) => origin,
  refresh: { policy: 'rotating', lifetimeSeconds: 30 * 86_400 },
  lifetimeSeconds: 3600,
  device: { expiresIn: 600, hasCompleteUri: true, verificationPath: '/device' },
  errorResponse({ status, body }) {
    if (status === 429) return json(status, body, { 'Retry-After': '60' });
    return json(status, body, status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth-profile emulator"' } : {});
  },
  resource: (user, clientId) => json(200, { sub: user ?? clientId }),
  unauthorizedResponse: () =>
    json(401, { error: 'invalid_token' }, { 'WWW-Authenticate': 'Bearer error="invalid_token"' }),
};
