import type { Provider } from './provider.ts';

/** GitLab.com; for self-managed instances set `url`. Sources: `oauth2.md` means doc/api/oauth2.md in https://github.com/gitlabhq/gitlabhq. */
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
  // Doorkeeper does not decode the values of a Basic header, so the body is the safe choice.
  clientAuth: 'client_secret_post',
  // oauth2.md: a refresh invalidates the previous refresh token and access token, even one that has not expired.
  refreshTokenReuse: 'rejected',
  refreshRevokesAccessTokens: true,
  login: {
    preferredFlow: 'browser',
    authorizationUrl: 'authorize',
    // oauth2.md: device authorization grant, since GitLab 17.2.
    deviceAuthorizationUrl: 'authorize_device',
    revocationUrl: 'revoke',
    metadataUrl: '../.well-known/openid-configuration',
  },
  apiOrigins: 'token_url',
  hints: {
    unauthorized_client: [
      // https://gitlab.com/groups/gitlab-org/-/epics/16465: removed from GitLab.com in 2025.
      {
        grant: 'password',
        hint: 'GitLab.com no longer supports the password grant: remove {username} and {password}, then {login}',
      },
      'the application is not allowed to use this grant: check {client_id} and {grant_type}',
    ],
    invalid_client:
      'the application is unknown, or its secret is wrong or missing: check {client_id} and {client_secret}',
    invalid_grant: [
      // One description for all causes: locale key invalid_grant of Doorkeeper; spec/requests/api/oauth_tokens_spec.rb.
      {
        grant: 'password',
        hint: 'the password is wrong, or the account has two-factor authentication or is blocked (GitLab returns the same error for all): check {username} and {password}; failed attempts lock the account',
      },
      {
        grant: 'refresh_token',
        hint: 'the refresh token was already used (GitLab accepts each one once) or was revoked; {login}',
      },
      {
        grant: 'authorization_code',
        hint: 'the code was already used, has expired, or does not match its redirect URI or verifier: get a new one and set {code}',
      },
    ],
    invalid_request:
      'a field is missing, or the client credentials were sent twice: check {grant_type} and {client_id}',
    invalid_scope: 'set {scope} to scopes that the application has',
  },
};
