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
  clientAuth: 'basic',
  clientAuthWithoutSecret: 'none',
  // User-context refresh tokens are single use; nothing is documented of a second use.
  replay: 'revokes',
  // Its tokens live until they are revoked; repeating the call returns the same one.
  lifetimeMs: Number.POSITIVE_INFINITY,
  hints: [
    {
      codes: ['99'],
      advice:
        'the API key or secret is wrong, or tokens are asked for too often (X answers both alike): check {client_id} and {client_secret}, and wait before another try',
    },
    {
      codes: ['170'],
      advice: 'X did not read the request; a proxy may have changed it: check {url} and the proxy',
    },
    {
      codes: ['220'],
      advice: 'the address wants the token of a user, not of an app: check {url}',
    },
    {
      codes: ['89'],
      advice: 'the token is invalid or was revoked: check {client_id} and {client_secret}',
    },
  ],
};
