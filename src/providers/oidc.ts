import type { Provider } from './provider.ts';

/** Any server that publishes its metadata (RFC 8414, OpenID Connect Discovery): its endpoints follow from `issuer`. */
export const oidc: Provider = {
  type: 'oidc',
  usesIssuer: true,
  grantsByFields: [
    { grant: 'password', fields: ['username', 'password'] },
    { grant: 'refresh_token', fields: ['refresh_token'] },
  ],
  required: {
    password: ['client_id', 'username', 'password'],
    refresh_token: ['client_id', 'refresh_token'],
    client_credentials: ['client_id', 'client_secret'],
  },
  // RFC 8414 §2: the default of token_endpoint_auth_methods_supported.
  clientAuth: 'client_secret_basic',
  clientAuthWithoutSecret: 'none',
  // Nothing is known about the server, so the strictest behaviour is assumed (RFC 9700 §4.14.2).
  refreshTokenReuse: 'revokes_family',
  hints: {},
};
