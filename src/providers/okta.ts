import type { Provider } from './provider.ts';

/**
 * Okta, the custom authorization server `default`; for other servers set `url`. Sources: `guides/…`, `concepts/…` and
 * `data/…` are in https://github.com/okta/okta-developer-docs. Errors: data/oauth2-error-codes.json,
 * data/error-codes.json.
 */
export const okta: Provider = {
  type: 'okta',
  tokenUrl: 'https://{tenant_id}.okta.com/oauth2/default/v1/token',
  variables: {
    tenant_id: {
      // The tenant becomes part of the host name: it must be one DNS label, else the credentials could be sent anywhere.
      // `…-admin` is the admin console (concepts/okta-organizations). Labels with xn-- are non-ASCII names, which no org
      // has.
      pattern: /^(?!.*-admin$|xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i,
      example: 'acme',
      description: 'the first part of your Okta host, such as acme or trial-1234567; for other hosts set url',
    },
  },
  grantsByFields: [
    { grant: 'password', fields: ['username', 'password'] },
    { grant: 'refresh_token', fields: ['refresh_token'] },
  ],
  defaultGrant: 'password',
  required: {
    password: ['client_id', 'username', 'password'],
    refresh_token: ['client_id', 'refresh_token'],
    client_credentials: ['client_id', 'client_secret'],
  },
  // The default method of an Okta app; an app accepts only its registered method.
  clientAuth: 'client_secret_basic',
  clientAuthWithoutSecret: 'none',
  // guides/refresh-tokens: a rotated token is accepted again within the leeway (default 30 s); later its reuse revokes
  // the family.
  refreshTokenReuse: 'grace',
  graceMs: 30_000,
  login: {
    preferredFlow: 'browser',
    authorizationUrl: 'authorize',
    // guides/device-authorization-grant
    deviceAuthorizationUrl: 'device/authorize',
    revocationUrl: 'revoke',
    userinfoUrl: 'userinfo',
    metadataUrl: '../.well-known/oauth-authorization-server',
    // guides/refresh-tokens: a refresh token is returned only with this scope.
    requiredScopes: ['offline_access'],
    missingRefreshTokenHint:
      'enable the grant type "Refresh Token" of the app, and allow offline_access in the access policy, then {login}',
  },
  hints: {
    invalid_client: [
      {
        description: /no client credentials/i,
        hint: 'no client authentication was sent: set {client_secret}, or set {options.client_auth} to the method registered for the app',
      },
      { description: /client_id/i, hint: 'the client does not exist in this org: check {client_id} and {tenant_id}' },
      { description: /secret/i, hint: 'the client secret is wrong: set {client_secret}' },
      'check {client_id} and {client_secret}; an app accepts only the client authentication method that is registered for it: set {options.client_auth} to that method',
    ],
    invalid_grant: [
      {
        grant: 'password',
        hint: 'the username or password is wrong, the password has expired, or a sign-on policy requires more than a password: check {username} and {password}',
      },
      { grant: 'refresh_token', hint: 'the refresh token is invalid, has expired, or was already used; {login}' },
      {
        grant: 'authorization_code',
        hint: 'the code is invalid, has expired, or does not match its verifier: get a new one and set {code}',
      },
    ],
    access_denied: [
      {
        description: /policy evaluation/i,
        hint: 'no access policy of the authorization server matches: ask an administrator to add one for {client_id} and this grant',
      },
      'the user is not assigned to the app, or the scopes or network are denied: check {username} and {scope} with an administrator',
    ],
    unauthorized_client: 'the app is not allowed to use this grant: enable it in the app, or set {grant_type}',
    invalid_scope:
      'set {scope} to scopes of the authorization server (client_credentials: a custom scope, never openid)',
    invalid_request:
      'a field is missing, or the client credentials were sent twice: check {scope}, {client_id} and {options.client_auth}',
    use_dpop_nonce:
      'the app requires DPoP: set {options.dpop} to true, or remove the requirement from the app {client_id} in Okta',
    invalid_dpop_proof:
      'the proof of the key was rejected: set {options.dpop} to true, and check the clock of this machine',
    E0000004: 'the org did not accept the credentials: check {client_id}, {client_secret} and {options.client_auth}',
    E0000011: 'the org did not accept the credentials: check {client_id}, {client_secret} and {options.client_auth}',
    E0000021: 'this URL does not accept token requests, or a proxy changed the request: check {tenant_id} or {url}',
    E0000022: 'this URL does not accept token requests, or a proxy changed the request: check {tenant_id} or {url}',
    E0000007: 'the authorization server does not exist: check {tenant_id}, or set {url}',
  },
};
