import type { Provider } from './provider.ts';

/** Google's OAuth 2.0 for web and installed applications. Source: https://developers.google.com/identity/protocols/oauth2 */
export const google: Provider = {
  type: 'google',
  // The older of two equivalent URLs; Google's current documentation names https://oauth2.googleapis.com/token.
  tokenUrl: 'https://accounts.google.com/o/oauth2/token',
  grantsByFields: [],
  defaultGrant: 'refresh_token',
  // Neither is documented: applications use service accounts, users log in.
  unsupportedGrants: [{ grant: 'client_credentials' }, { grant: 'password' }],
  required: {
    refresh_token: ['client_id', 'client_secret', 'refresh_token'],
    client_credentials: ['client_id', 'client_secret'],
    password: ['username', 'password'],
  },
  clientAuth: 'client_secret_post',
  // …/native-app#offline: a refresh returns no new refresh token, and the old one stays valid.
  refreshTokenReuse: 'allowed',
  login: {
    preferredFlow: 'browser',
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    revocationUrl: 'https://oauth2.googleapis.com/revoke',
    // …/native-app#tokenrevoke: the request contains the token only.
    revocationWithoutClientAuth: true,
    metadataUrl: 'https://accounts.google.com/.well-known/openid-configuration',
    userinfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
    requiredFields: ['scope'],
    // …/web-server#offline: a refresh token is returned for access_type=offline, and after the first consent only with
    // prompt=consent.
    authorizationParameters: { access_type: 'offline', prompt: 'consent' },
    missingRefreshTokenHint:
      'Google returns one only after consent: remove the app at https://myaccount.google.com/connections, then {login}',
  },
  // Hosts with one label before this domain are services of Google; those of customers, such as buckets, have two.
  apiOrigins: ['https://*.googleapis.com'],
  // https://cloud.google.com/artifact-registry/docs/docker/authentication#token
  dockerUsername: 'oauth2accesstoken',
  hints: {
    invalid_grant: [
      {
        grant: 'refresh_token',
        description: /expired or revoked/i,
        hint: 'the refresh token was revoked or has expired (after 7 days for an app in "Testing"); {login}',
      },
      { grant: 'refresh_token', hint: 'the refresh token is no longer valid; {login}' },
      {
        grant: 'authorization_code',
        hint: 'the code was already used, has expired, or does not match its verifier: get a new one and set {code}',
      },
    ],
    invalid_client: [
      { description: /not found/i, hint: 'the client ID does not exist: set {client_id}' },
      'the client secret is wrong: set {client_secret}',
    ],
    // Google Cloud console help, "Manage OAuth clients": clients unused for six months are deleted.
    deleted_client:
      'the client was deleted (Google deletes clients after six months without use): restore it or create a new one, then set {client_id} and {client_secret}',
    invalid_request: [
      // https://github.com/prasmussen/gdrive/issues/554
      { description: /client_secret is missing/i, hint: 'desktop clients need their secret too: set {client_secret}' },
      'a field is missing or malformed: check {client_id}, {client_secret} and {refresh_token}',
    ],
    admin_policy_enforced:
      'a Workspace policy does not allow the app: ask the administrator to allow the app in {client_id} and the scopes in {scope}',
    org_internal:
      'the app is restricted to its own organization: use an account in that organization, or set {client_id} to another app',
    disallowed_useragent: 'Google does not allow embedded browsers: use a full browser; {login}',
    access_denied:
      'the user denied access or is not a test user of the app: add the account to the test users of {client_id}, or consent again',
    rate_limit_exceeded: 'too many users log in to the app {client_id} at once: wait before the next login',
    redirect_uri_mismatch:
      'the redirect URI is not registered for this client: set {options.redirect_uri} to one that is',
    unauthorized_client: 'this type of client is not allowed to use the grant: check {client_id} and {grant_type}',
    unsupported_grant_type: 'Google has no password or client_credentials grant: remove {grant_type}, then {login}',
  },
};
