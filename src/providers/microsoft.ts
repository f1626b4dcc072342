import type { Provider } from './provider.ts';

const guid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

/** Microsoft Entra ID, identity platform v2.0. */
export const microsoft: Provider = {
  type: 'microsoft',
  aliases: { 'microsoft-refresh': 'refresh_token' },
  tokenUrl: 'https://login.microsoftonline.com/{tenant_id}/oauth2/v2.0/token',
  tenant: {
    pattern: new RegExp(`^(?:common|organizations|consumers|${guid}|(?=.{1,253}$)${label}(?:\\.${label})+)$`, 'i'),
    form: 'a tenant GUID, a domain such as contoso.onmicrosoft.com, or common, organizations or consumers',
    // AADSTS9001023: the password grant is not served there.
    unsupported: [{ grant: 'password', tenants: ['common', 'consumers'] }],
  },
  grantsByFields: [{ grant: 'refresh_token', fields: ['refresh_token'] }],
  defaultGrant: 'password',
  required: {
    password: ['client_id', 'username', 'password'],
    refresh_token: ['client_id', 'refresh_token'],
    client_credentials: ['client_id', 'client_secret'],
  },
  // AADSTS70011, AADSTS1002012: an application asks for no other scope than this.
  valueHints: [
    {
      grant: 'client_credentials',
      field: 'scope',
      pattern: /^\S+\/\.default$/,
      form: 'one API with /.default behind it, such as https://graph.microsoft.com/.default',
    },
  ],
  clientAuth: 'client_secret_post',
  // certificate-credentials.md asks for PS256.
  rsaAlgorithm: 'PS256',
  // refresh-tokens.md: every use returns a replacement, the old one is not revoked.
  refreshTokenReuse: 'allowed',
  login: {
    prefers: 'device',
    device: 'devicecode',
    authorize: 'authorize',
    metadata: '../../v2.0/.well-known/openid-configuration',
    scopes: ['offline_access'],
    withoutRefreshToken: 'the application or a policy does not allow offline_access: check {scope} and {client_id}',
    redirectHost: 'localhost',
    // A single-tenant app is refused at the shared endpoint.
    deviceTenant: {
      name: 'organizations',
      rejectedWith: ['AADSTS50194', 'AADSTS500202', 'AADSTS50020', 'AADSTS50059'],
    },
    deviceCodeAlias: 'code',
  },
  hints: [
    {
      codes: ['AADSTS50126'],
      hint: 'the user name or password is wrong: set {username} and {password}',
    },
    {
      codes: ['AADSTS50053'],
      hint: 'the account is locked, or the sign-in came from a blocked address: wait, then check {username} before another try',
    },
    {
      codes: ['AADSTS50055'],
      hint: 'the password has expired: {username} must change it, then set {password}',
    },
    {
      codes: ['AADSTS50057'],
      hint: 'the account is disabled: ask an administrator to enable {username}',
    },
    {
      codes: ['AADSTS50076', 'AADSTS50079'],
      hint: 'the account needs multi-factor authentication, which a password alone cannot do; {login}',
    },
    {
      codes: ['AADSTS50173'],
      hint: 'the sign-in was revoked (often by a changed password); {login}',
    },
    {
      codes: ['AADSTS50196'],
      hint: 'the provider sees a loop of equal requests from {client_id}: keep the token instead of asking for it again and again',
    },
    {
      codes: ['AADSTS53003'],
      hint: 'a Conditional Access policy blocks this sign-in: ask an administrator of {tenant_id}',
    },
    {
      codes: ['AADSTS54005'],
      hint: 'the code was already used: get a new one and set {code}',
    },
    {
      codes: ['AADSTS65001'],
      hint: 'nobody consented to this application yet: consent once in a browser, or ask an administrator to, for {client_id}',
    },
    {
      codes: ['AADSTS70008', 'AADSTS700082'],
      hint: 'the refresh token has expired because it was not used for too long; {login}',
    },
    {
      codes: ['AADSTS700084'],
      hint: 'the refresh token belongs to a single-page app and lived its 24 hours: register a redirect of type "mobile and desktop", then {login}',
    },
    {
      codes: ['AADSTS70011', 'AADSTS1002012'],
      hint: 'the scope is wrong: set {scope} (client_credentials needs one resource followed by /.default)',
    },
    {
      codes: ['AADSTS700016'],
      hint: 'the tenant does not know the application: check {client_id} and {tenant_id}',
    },
    {
      codes: ['AADSTS700025'],
      hint: 'the application is a public client, which must not send a secret: remove {client_secret}',
    },
    {
      codes: ['AADSTS7000215'],
      hint: "the client secret is wrong; often the secret's ID was pasted instead of its value: set {client_secret}",
    },
    {
      codes: ['AADSTS7000218'],
      hint: 'set {client_secret}, or, if this is a public client, turn on "Allow public client flows" for the application in the portal',
    },
    {
      codes: ['AADSTS7000222'],
      hint: 'the client secret has expired: make a new one in the portal and set {client_secret}',
    },
    {
      codes: ['AADSTS90002'],
      hint: 'the tenant does not exist, or lives in another cloud: check {tenant_id}, or set {url} for a national cloud',
    },
    {
      codes: ['AADSTS900023'],
      hint: 'the tenant is neither a GUID nor a domain that the provider knows: set {tenant_id}',
    },
    {
      codes: ['AADSTS900144'],
      hint: 'the request lacks the field that the provider names above: set its variable in the profile, such as {scope}',
    },
    {
      codes: ['AADSTS9001023'],
      hint: 'the password grant does not work on common or consumers: set {tenant_id} to your own tenant',
    },
    {
      codes: ['AADSTS901002'],
      hint: 'the v2.0 endpoint takes no resource: remove {resource} and name the API in {scope}',
    },
    {
      codes: ['AADSTS501481'],
      hint: 'the code verifier does not belong to the code: set {code_verifier}, or get a new code',
    },
  ],
};
