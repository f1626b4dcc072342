import type { Provider } from './provider.ts';

/** X (Twitter), app-only bearer tokens. */
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
  clientAuth: 'client_secret_basic',
  clientAuthWithoutSecret: 'none',
  // User-context refresh tokens are single use; nothing is documented of a second use.
  refreshTokenReuse: 'revokes_family',
  // Its tokens live until they are revoked; repeating the call returns the same one.
  defaultLifetimeMs: Number.POSITIVE_INFINITY,
  hints: [
    {
      codes: ['99'],
      hint: 'the API key or secret is wrong, or tokens are asked for too often (X answers both alike): check {client_id} and {client_secret}, and wait before another try',
    },
    {
      codes: ['170'],
      hint: 'X did not read the request; a proxy may have changed it: check {url} and the proxy',
    },
    {
      codes: ['220'],
      hint: 'the address wants the token of a user, not of an app: check {url}',
    },
    {
      codes: ['89'],
      hint: 'the token is invalid or was revoked: check {client_id} and {client_secret}',
    },
  ],
};
