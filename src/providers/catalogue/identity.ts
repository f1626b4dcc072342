import { define, hostVariable, labelVariable, machine } from './define.ts';

/** Auth0. Sources: github.com/auth0/docs-v2; arctic 3.7.0. */
export const auth0 = define({
  type: 'auth0',
  name: 'Auth0',
  documentation: 'https://auth0.com/docs/secure/tokens/refresh-tokens',
  notes: [
    'Set audience to the identifier of your API: without it, the access token is opaque.',
    'If refresh token rotation has an overlap period, set options.refresh_token_reuse: grace and options.grace to its length.',
  ],
  tokenUrl: 'https://{domain}/oauth/token',
  required: machine,
  variables: {
    domain: hostVariable(
      'acme.eu.auth0.com',
      'the domain of the tenant, such as acme.eu.auth0.com, or your custom domain',
    ),
  },
  clientAuth: 'client_secret_post',
  clientAuthWithoutSecret: 'none',
  login: {
    authorizationUrl: '/authorize',
    deviceAuthorizationUrl: 'device/code',
    revocationUrl: 'revoke',
    metadataUrl: '/.well-known/openid-configuration',
    requiredScopes: ['offline_access'],
    missingRefreshTokenHint: 'enable "Allow Offline Access" of the API, check {scope}, then {login}',
  },
});

/** Keycloak. Sources: keycloak.org/securing-apps/oidc-layers; arctic 3.7.0, github.com/simov/grant. */
export const keycloak = define({
  type: 'keycloak',
  name: 'Keycloak',
  documentation: 'https://www.keycloak.org/securing-apps/oidc-layers',
  notes: [
    'Old servers have /auth before /realms in their URLs: set url, or use type: oidc with the issuer.',
    'For a server without TLS on this machine, use type: oidc with the issuer.',
  ],
  tokenUrl: 'https://{host}/realms/{realm}/protocol/openid-connect/token',
  variables: {
    host: hostVariable('sso.example.com', 'the host of the server, such as sso.example.com'),
    realm: { pattern: /^[\w-]{1,255}$/, example: 'demo', description: 'the name of the realm' },
  },
  grantsByFields: [{ grant: 'password', fields: ['username', 'password'] }],
  required: { ...machine, password: ['client_id', 'username', 'password'] },
  clientAuth: 'client_secret_basic',
  clientAuthWithoutSecret: 'none',
  login: {
    authorizationUrl: 'auth',
    deviceAuthorizationUrl: 'auth/device',
    revocationUrl: 'revoke',
    metadataUrl: '../../.well-known/openid-configuration',
  },
});

/** Amazon Cognito. Sources: docs.aws.amazon.com (token endpoint: Basic with a secret); arctic 3.7.0, github.com/simov/grant, golang.org/x/oauth2/endpoints. */
export const cognito = define({
  type: 'cognito',
  name: 'Amazon Cognito',
  documentation: 'https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html',
  notes: ['For a custom domain, set url to https://<domain>/oauth2/token.'],
  required: machine,
  tokenUrl: 'https://{prefix}.auth.{region}.amazoncognito.com/oauth2/token',
  variables: {
    prefix: labelVariable('the prefix of the domain of the user pool'),
    region: {
      pattern: /^[a-z]{2}(?:-[a-z]{1,16}){1,3}-\d$/,
      example: 'eu-central-1',
      description: 'the AWS region, such as eu-central-1',
    },
  },
  clientAuth: 'client_secret_basic',
  clientAuthWithoutSecret: 'none',
  login: { authorizationUrl: 'authorize', revocationUrl: 'revoke' },
});

/** GitHub OAuth apps, and user and installation tokens of GitHub Apps. Source: github.com/github/docs. */
export const github = define({
  type: 'github',
  name: 'GitHub',
  documentation: 'https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
  notes: [
    'Tokens of an OAuth app do not expire, and there is no refresh token.',
    'User tokens of a GitHub App expire after 8 hours. A refresh ends the former access token.',
    'The device flow needs no client secret; it must be enabled in the settings of the app. A login with --browser needs one.',
    'GitHub has no revocation endpoint: users revoke access in their settings.',
    'A GitHub App gets a token of one of its installations with options.key_file and installation_id or repository. It expires after one hour.',
  ],
  tokenUrl: 'https://{host}/login/oauth/access_token',
  variables: { host: hostVariable('github.example.com', 'the host of GitHub Enterprise Server', 'github.com') },
  apiOrigins: ['https://api.github.com', 'https://github.com'],
  gitUsername: 'x-access-token',
  clientAuth: 'client_secret_post',
  clientAuthWithoutSecret: 'none',
  // refreshing-user-access-tokens.md: the refresh token and the old access token no longer work after a refresh.
  refreshTokenReuse: 'rejected',
  refreshRevokesAccessTokens: true,
  grantsByFields: [
    { grant: 'installation', fields: ['installation_id'] },
    { grant: 'installation', fields: ['repository'] },
  ],
  // generating-an-installation-access-token-for-a-github-app.md; generating-a-json-web-token-jwt-for-a-github-app.md: at most
  // 10 minutes, and 60 seconds in the past for clocks that differ.
  installation: {
    grant: 'installation',
    apiUrls: [
      { host: /^(?:github\.com|[^.]+\.ghe\.com)$/i, url: 'https://api.{host}' },
      { host: /./, url: 'https://{host}/api/v3' },
    ],
    tokenPath: '/app/installations/{installation_id}/access_tokens',
    lookupPath: '/repos/{repository}/installation',
    accept: 'application/vnd.github+json',
    lifetimeMs: 600_000,
    backdatedMs: 60_000,
  },
  login: {
    preferredFlow: 'device',
    authorizationUrl: 'authorize',
    deviceAuthorizationUrl: '../device/code',
    // authorizing-oauth-apps.md: the scopes of a response are separated by commas.
    grantedScopeDiffers: true,
    missingRefreshTokenHint: 'tokens of an OAuth app do not expire; to replace this one, {login}',
  },
  // troubleshooting-oauth-app-access-token-request-errors.md
  hints: {
    incorrect_client_credentials: 'the client ID or secret is wrong: check {client_id} and {client_secret}',
    redirect_uri_mismatch:
      'the redirect URI does not match the callback URL of the app: set {options.redirect_uri} to that URL (on loopback, the port may differ)',
    // Not on that page, but in clients that refresh tokens of GitHub Apps.
    bad_refresh_token: 'the refresh token is not valid, has expired or was used before; {login}',
    bad_verification_code: 'the code is wrong or has expired; {login}',
    unverified_user_email: 'the user must verify their email address at GitHub first; then {login}',
    device_flow_disabled: 'enable the device flow in the settings of the app {client_id}, or log in with --browser',
    incorrect_device_code: 'the device code is not valid; {login}',
    // Errors of the API have a message only.
    '': [
      {
        grant: 'installation',
        description: /suspended/i,
        hint: 'the installation {installation_id} is suspended: its owner can unsuspend it in the settings, under Installed GitHub Apps',
      },
      {
        grant: 'installation',
        description: /permission|repositories|repository/i,
        hint: 'the installation does not have what is requested: check {permissions} and {repositories}',
      },
      {
        grant: 'installation',
        description: /not found/i,
        hint: 'the app is not installed for this account or repository: check {client_id}, {installation_id} and {repository}',
      },
      {
        grant: 'installation',
        hint: 'the key does not belong to the app, was deleted, or the clock of this machine is wrong: check {client_id} and {options.key_file}',
      },
    ],
  },
});
