import type { Provider } from './provider.ts';

/** GitLab.com; self-managed instances are reached with `url`. */
export const gitlab: Provider = {
  type: 'gitlab',
  tokenUrl: 'https://gitlab.com/oauth/token',
  grantsByFields: [
    { grant: 'password', fields: ['username', 'password'] },
    { grant: 'refresh_token', fields: ['refresh_token'] },
  ],
  defaultGrant: 'password',
  required: {
    password: ['username', 'password'],
    refresh_token: ['refresh_token'],
    client_credentials: ['client_id', 'client_secret'],
  },
  clientAuth: 'client_secret_post',
  // Single use: the request kills the old refresh token and its access token, and nothing brings them back.
  refreshTokenReuse: 'rejected',
  refreshRevokesAccessTokens: true,
  login: {
    prefers: 'browser',
    device: 'authorize_device',
    authorize: 'authorize',
    revoke: 'revoke',
    metadata: '../.well-known/openid-configuration',
  },
  hints: [
    {
      error: 'unauthorized_client',
      grant: 'password',
      hint: 'GitLab.com no longer serves the password grant: remove {username} and {password}, then {login}',
    },
    {
      error: 'unauthorized_client',
      hint: 'the application may not use this grant: check {client_id} and {grant_type}',
    },
    {
      error: 'invalid_client',
      hint: 'the application is unknown, or its secret is wrong or missing: check {client_id} and {client_secret}',
    },
    {
      error: 'invalid_grant',
      grant: 'password',
      hint: 'the password is wrong, or the account has two-factor authentication or is blocked (GitLab does not say which): check {username} and {password}; failed tries lock the account',
    },
    {
      error: 'invalid_grant',
      grant: 'refresh_token',
      hint: 'the refresh token was used before (GitLab takes each one once) or was revoked; {login}',
    },
    {
      error: 'invalid_grant',
      grant: 'authorization_code',
      hint: 'the code was used, has expired, or does not fit its redirect or verifier: get a new one and set {code}',
    },
    {
      error: 'invalid_request',
      hint: 'the request lacks a field, or names the application twice: the words above say what; check {grant_type} and {client_id}',
    },
    {
      error: 'invalid_scope',
      hint: 'set {scope} to scopes that the application has',
    },
  ],
};
