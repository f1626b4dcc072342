import type { Provider } from './provider.ts';

const guid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

/**
 * Microsoft Entra ID, identity platform v2.0. Sources named `*.md` are in docs/identity-platform of
 * https://github.com/MicrosoftDocs/entra-docs. Codes of the form AADSTS…: reference-error-codes.md.
 */
export const microsoft: Provider = {
  type: 'microsoft',
  // Name of the refresh variant in older scripts (D5).
  aliases: { 'microsoft-refresh': 'refresh_token' },
  tokenUrl: 'https://login.microsoftonline.com/{tenant_id}/oauth2/v2.0/token',
  variables: {
    tenant_id: {
      // v2-protocols.md; the server returns AADSTS900023 for other values.
      pattern: new RegExp(`^(?:common|organizations|consumers|${guid}|(?=.{1,253}$)${label}(?:\\.${label})+)$`, 'i'),
      example: 'contoso.onmicrosoft.com',
      description: 'a tenant GUID, a domain such as contoso.onmicrosoft.com, or common, organizations or consumers',
    },
  },
  // v2-oauth-ropc.md, AADSTS9001023.
  unsupportedGrants: [{ grant: 'password', tenants: ['common', 'consumers'] }],
  grantsByFields: [{ grant: 'refresh_token', fields: ['refresh_token'] }],
  defaultGrant: 'password',
  required: {
    password: ['client_id', 'username', 'password'],
    refresh_token: ['client_id', 'refresh_token'],
    client_credentials: ['client_id', 'client_secret'],
  },
  // v2-oauth2-client-creds-grant-flow.md: any other scope is rejected with AADSTS70011 or AADSTS1002012.
  valueHints: [
    {
      grant: 'client_credentials',
      field: 'scope',
      pattern: /^\S+\/\.default$/,
      description: 'one API followed by /.default, such as https://graph.microsoft.com/.default',
    },
  ],
  // v2-oauth2-auth-code-flow.md
  clientAuth: 'client_secret_post',
  // certificate-credentials.md: PS256, and the thumbprint x5t#S256.
  rsaAlgorithm: 'PS256',
  // https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust
  federationAudience: 'api://AzureADTokenExchange',
  keyNeedsCertificate: true,
  // refresh-tokens.md: every use returns a new refresh token; the old one is not revoked.
  refreshTokenReuse: 'allowed',
  login: {
    preferredFlow: 'device',
    authorizationUrl: 'authorize',
    deviceAuthorizationUrl: 'devicecode',
    metadataUrl: '../../v2.0/.well-known/openid-configuration',
    // userinfo.md
    userinfoUrl: 'https://graph.microsoft.com/oidc/userinfo',
    // v2-oauth2-auth-code-flow.md: a refresh token is returned only with this scope.
    requiredScopes: ['offline_access'],
    // v2-oauth2-auth-code-flow.md: responses do not list offline_access and name scopes in another form; a refresh may
    // request other scopes than the login.
    grantedScopeDiffers: true,
    missingRefreshTokenHint: 'the application or a policy does not allow offline_access: check {scope} and {client_id}',
    // Redirect URI restrictions, "Localhost exceptions": the portal accepts http: only for localhost, and the port is
    // ignored.
    redirectHost: 'localhost',
    // R4.3 step 1. The shared tenant rejects single-tenant applications with these codes.
    deviceTenant: {
      name: 'organizations',
      rejectedWith: ['AADSTS50194', 'AADSTS500202', 'AADSTS50020', 'AADSTS50059'],
    },
    // R4.3 step 3 sends the device code as `code`, RFC 8628 §3.4 as `device_code`.
    deviceCodeAlias: 'code',
  },
  apiOrigins: ['https://graph.microsoft.com'],
  hints: {
    AADSTS50126: 'the username or password is wrong: set {username} and {password}',
    AADSTS50053:
      'the account is locked, or the request came from a blocked IP address: wait, then check {username} before the next attempt',
    AADSTS50055: 'the password of the user in {username} has expired: change it, then set {password}',
    AADSTS50057: 'the account is disabled: ask an administrator to enable the user in {username}',
    AADSTS50076: 'the account requires multi-factor authentication, which the password grant does not support; {login}',
    AADSTS50079: 'the account requires multi-factor authentication, which the password grant does not support; {login}',
    AADSTS50173: 'the grant was revoked, often by a password change; {login}',
    AADSTS50196:
      'the provider detected a loop of identical requests from {client_id}: cache the token instead of requesting it repeatedly',
    AADSTS53003: 'a Conditional Access policy blocks this login: ask an administrator of the tenant in {tenant_id}',
    AADSTS54005: 'the code was already used: get a new one and set {code}',
    AADSTS65001:
      'the application {client_id} has no consent yet: consent once in a browser, or ask an administrator to do so',
    AADSTS70008: 'the refresh token has expired because it was not used for too long; {login}',
    AADSTS700082: 'the refresh token has expired because it was not used for too long; {login}',
    // https://github.com/simonrob/email-oauth2-proxy/issues/181
    AADSTS70043: 'the refresh token is older than the sign-in frequency of a Conditional Access policy allows; {login}',
    AADSTS700084:
      'the refresh token of a single-page app expires after 24 hours: register a redirect URI of type "mobile and desktop", then {login}',
    AADSTS70011: 'the scope is wrong: set {scope} (client_credentials needs one resource followed by /.default)',
    AADSTS1002012: 'the scope is wrong: set {scope} (client_credentials needs one resource followed by /.default)',
    AADSTS700016: 'the application was not found in the tenant: check {client_id} and {tenant_id}',
    AADSTS700025: 'the application is a public client and must not send a secret: remove {client_secret}',
    // With federation, the token of the CI system lives 5 to 10 minutes (https://github.com/Azure/azure-cli/issues/28708).
    AADSTS700024:
      'the client assertion has expired or is not valid yet: check the clock, and {options.assertion_source}',
    AADSTS700213:
      'no federated credential of {client_id} matches the subject of the assertion: compare repository, branch and environment',
    AADSTS70021:
      'no federated credential of {client_id} matches the assertion: compare issuer, subject and audience in the portal',
    AADSTS700027:
      "the signature of the client assertion was rejected: upload the key's certificate to the app registration, and add the certificate to the file named in {options.key_file}",
    AADSTS7000215:
      "the client secret is wrong; often the secret's ID was pasted instead of its value: set {client_secret}",
    AADSTS7000218: 'set {client_secret}; for a public client, enable "Allow public client flows" in the portal instead',
    AADSTS7000222: 'the client secret has expired: create a new one in the portal and set {client_secret}',
    AADSTS90002:
      'the tenant does not exist, or is in another cloud: check {tenant_id}, or set {url} for a national cloud',
    AADSTS900023: 'the tenant is neither a GUID nor a known domain: set {tenant_id}',
    AADSTS900144: 'a required field is missing, often {scope}: set it in the profile',
    AADSTS9001023:
      'the tenants "common" and "consumers" do not support the password grant: set {tenant_id} to your own tenant',
    AADSTS901002:
      'the v2.0 endpoint does not accept the resource parameter: remove {resource} and name the API in {scope}',
    // https://github.com/geelen/mcp-remote: --disable-resource-parameter
    AADSTS9010010: 'the resource does not match the scope: remove {resource}, or name the same API in {scope}',
    AADSTS501481: 'the code verifier does not match the code: set {code_verifier}, or get a new code',
  },
};
