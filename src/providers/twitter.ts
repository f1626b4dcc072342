import type { Provider } from './provider.ts';

/** X (Twitter), app-only bearer tokens. Sources: `docs.x.com` means https://github.com/xdevplatform/docs. */
export const twitter: Provider = {
  type: 'twitter',
  tokenUrl: 'https://api.twitter.com/oauth2/token',
  grantsByFields: [],
  defaultGrant: 'client_credentials',
  required: {
    client_credentials: ['client_id', 'client_secret'],
    refresh_token: ['refresh_token'],
    password: ['username', 'password'],
  },
  // docs.x.com, application-only authentication: only the Basic header is documented.
  clientAuth: 'client_secret_basic',
  // docs.x.com, OAuth 2.0 user context: public clients send client_id only.
  clientAuthWithoutSecret: 'none',
  // The effect of a second use of a refresh token is not documented, so the strictest behaviour is assumed.
  refreshTokenReuse: 'revokes_family',
  // docs.x.com, application-only authentication: a token is valid until it is invalidated; repeated requests return the
  // same token.
  defaultLifetimeMs: Number.POSITIVE_INFINITY,
  // docs.x.com, X API: api.x.com is the newer name of api.twitter.com.
  apiOrigins: ['https://api.x.com', 'https://api.twitter.com'],
  hints: {
    99: 'the API key or secret is wrong, or tokens are requested too often (X returns the same error for both): check {client_id} and {client_secret}, and wait before the next request',
    // https://github.com/medialab/minet/issues/299
    170: 'X could not read the request; a proxy may have changed it: check {url} and the proxy',
    220: 'this URL requires a user token, not an app-only token: check {url}',
    89: 'the API key and secret are invalid or were revoked: check {client_id} and {client_secret}',
  },
};
