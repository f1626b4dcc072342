import type { Provider } from './provider.ts';

/** Google's OAuth 2.0 for web and installed applications. */
export const google: Provider = {
  type: 'google',
  tokenUrl: 'https://accounts.google.com/o/oauth2/token',
  grantsByFields: [],
  defaultGrant: 'refresh_token',
  required: {
    refresh_token: ['client_id', 'client_secret', 'refresh_token'],
    client_credentials: ['client_id', 'client_secret'],
    password: ['username', 'password'],
  },
  clientAuth: 'client_secret_post',
  // A refresh returns no new refresh token, and the old one stays.
  refreshTokenReuse: 'allowed',
  login: {
    prefers: 'browser',
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    revoke: 'https://oauth2.googleapis.com/revoke',
    revocationWithoutClientAuth: true,
    metadata: 'https://accounts.google.com/.well-known/openid-configuration',
    required: ['scope'],
    withoutRefreshToken:
      'Google sends one with a consent only: remove the app at https://myaccount.google.com/connections, then {login}',
    // Without a consent asked for anew, a second sign-in brings no refresh token.
    authorizationParameters: { access_type: 'offline', prompt: 'consent' },
  },
  hints: [
    {
      error: 'invalid_grant',
      grant: 'refresh_token',
      description: /expired or revoked/i,
      hint: 'the refresh token was revoked or has expired (an app in "Testing" loses it after 7 days); {login}',
    },
    {
      error: 'invalid_grant',
      grant: 'refresh_token',
      hint: 'the refresh token is no longer valid; {login}',
    },
    {
      error: 'invalid_grant',
      grant: 'authorization_code',
      hint: 'the code was used before, has expired, or does not fit its verifier: get a new one and set {code}',
    },
    {
      error: 'invalid_client',
      description: /not found/i,
      hint: 'Google does not know the client: set {client_id}',
    },
    {
      error: 'invalid_client',
      hint: 'the client secret is wrong: set {client_secret}',
    },
    {
      error: 'deleted_client',
      hint: 'the client was deleted (unused ones are, after six months): restore it or make a new one, then set {client_id} and {client_secret}',
    },
    {
      error: 'invalid_request',
      description: /client_secret is missing/i,
      hint: 'desktop clients need their secret too: set {client_secret}',
    },
    {
      error: 'invalid_request',
      hint: 'a field is missing or malformed, the words above say which: check {client_id}, {client_secret} and {refresh_token}',
    },
    {
      error: 'admin_policy_enforced',
      hint: 'a policy of the Workspace does not allow the app: ask its administrator to allow {client_id} and {scope}',
    },
    {
      error: 'org_internal',
      hint: 'the app is for its own organization only: use an account of it, or set {client_id} to another app',
    },
    {
      error: 'disallowed_useragent',
      hint: 'Google refuses embedded browsers; with a full one {login}',
    },
    {
      error: 'access_denied',
      hint: 'the person refused, or is no test user of the app: add the account to the app {client_id} and consent again',
    },
    {
      error: 'rate_limit_exceeded',
      hint: 'too many people sign in to the app {client_id} at once: wait before another try',
    },
    {
      error: 'redirect_uri_mismatch',
      hint: 'the redirect is not registered for this client: set {options.redirect_uri} to one that is',
    },
    {
      error: 'unauthorized_client',
      hint: 'this type of client may not use the grant: check {client_id} and {grant_type}',
    },
    {
      error: 'unsupported_grant_type',
      hint: 'Google has no password or client_credentials grant: remove {grant_type}, then {login}',
    },
  ],
};
