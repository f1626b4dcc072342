import { json } from '../messages.ts';
import { DEVICE_CODE_GRANT, type EmulatedProvider } from '../provider.ts';
import { namesOf } from './identifiers.ts';

/** The differences of a provider from an RFC 6749 server. In paths, `*` stands for one segment; a missing endpoint does not exist. */
interface Dialect
  extends Pick<
    EmulatedProvider,
    | 'hosts'
    | 'urlDefaults'
    | 'jsonRequests'
    | 'grantAliases'
    | 'redirectParameters'
    | 'response'
    | 'errors'
    | 'errorResponse'
    | 'apiHeader'
  > {
  readonly type: string;
  readonly tokenUrl: string;
  readonly authorize: string;
  readonly device?: { readonly endpoint: string; readonly page: string };
  readonly revoke?: string;
  /** API that returns the user. */
  readonly resource: string | RegExp;
  /** Further endpoints, or those whose paths need a pattern. */
  readonly routes?: EmulatedProvider['routes'];
  /** In addition to the grants of all these providers. */
  readonly grants?: readonly string[];
  /** Default: `client_secret_post`. */
  readonly auth?: EmulatedProvider['clientAuth']['default'];
  /** Default: `rotating`. */
  readonly refresh?: EmulatedProvider['refresh']['policy'];
  readonly graceSeconds?: number;
  readonly requiredScope?: string;
  readonly lifetimeSeconds?: number;
}

const REFRESH_SECONDS = 60 * 86_400;

function define(dialect: Dialect): EmulatedProvider {
  const { authorize, device, revoke, resource, routes, grants = [], auth, refresh, requiredScope, ...rest } = dialect;
  const token = dialect.tokenUrl.replace(/^https:\/\/[^/]+/, '').replace(/\{\w+\}/g, '*');
  const paths = { token, authorize, device: device?.endpoint, verify: device?.page, revoke, resource };
  const patterns = Object.entries(paths).flatMap(([action, path]) =>
    path === undefined ? [] : [[action, typeof path === 'string' ? toPattern(path) : path]],
  );
  return {
    ...rest,
    isolatedHosts: dialect.hosts === undefined,
    routes: { ...Object.fromEntries(patterns), ...routes },
    grants: [
      'authorization_code',
      'refresh_token',
      'client_credentials',
      ...(device ? [DEVICE_CODE_GRANT] : []),
      ...grants,
      ...Object.keys(dialect.grantAliases ?? {}),
    ],
    clientAuth: { default: auth ?? 'client_secret_post', basicDecoding: 'either' },
    issuer: ({ origin }) => origin,
    refresh: {
      policy: refresh ?? 'rotating',
      lifetimeSeconds: REFRESH_SECONDS,
      graceSeconds: dialect.graceSeconds ?? 0,
      allowsNewScopes: true,
      ...(requiredScope !== undefined && { requiredScope }),
    },
    lifetimeSeconds: dialect.lifetimeSeconds ?? 3600,
    ...(device && { device: { expiresIn: 900, verificationPath: device.page, hasDash: true } }),
    resource: ({ user, clientId }) =>
      json(200, user === undefined ? { id: clientId } : { id: user.login, name: namesOf(user).name }),
    unauthorizedResponse: () => json(401, { message: 'Unauthorized' }, { 'WWW-Authenticate': 'Bearer' }),
  };
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}$`);
}

const dialects: readonly Dialect[] = [
  {
    type: 'atlassian',
    tokenUrl: 'https://auth.atlassian.com/oauth/token',
    hosts: /^(?:auth|api)\.atlassian\.com$/,
    authorize: '/authorize',
    resource: '/me',
    requiredScope: 'offline_access',
  },
  {
    type: 'auth0',
    tokenUrl: 'https://{domain}/oauth/token',
    authorize: '/authorize',
    device: { endpoint: '/oauth/device/code', page: '/activate' },
    revoke: '/oauth/revoke',
    resource: '/userinfo',
    requiredScope: 'offline_access',
    lifetimeSeconds: 86_400,
  },
  {
    type: 'box',
    tokenUrl: 'https://api.box.com/oauth2/token',
    hosts: /^(?:api|account)\.box\.com$/,
    authorize: '/api/oauth2/authorize',
    revoke: '/oauth2/revoke',
    resource: '/2.0/users/me',
  },
  {
    type: 'cognito',
    tokenUrl: 'https://{prefix}.auth.{region}.amazoncognito.com/oauth2/token',
    authorize: '/oauth2/authorize',
    revoke: '/oauth2/revoke',
    resource: '/oauth2/userInfo',
    auth: 'client_secret_basic',
    refresh: 'static',
  },
  {
    type: 'discord',
    tokenUrl: 'https://discord.com/api/oauth2/token',
    hosts: /^discord\.com$/,
    authorize: '/oauth2/authorize',
    revoke: '/api/oauth2/token/revoke',
    resource: /^\/api(?:\/v\d+)?\/users\/@me$/,
    auth: 'client_secret_basic',
    lifetimeSeconds: 604_800,
  },
  {
    type: 'dropbox',
    tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
    hosts: /^(?:api\.dropboxapi|www\.dropbox)\.com$/,
    authorize: '/oauth2/authorize',
    resource: '/2/users/get_current_account',
    refresh: 'static',
  },
  {
    type: 'github',
    tokenUrl: 'https://{host}/login/oauth/access_token',
    urlDefaults: { host: 'github.com' },
    hosts: /^(?:api\.)?github\.com$/,
    authorize: '/login/oauth/authorize',
    device: { endpoint: '/login/device/code', page: '/login/device' },
    routes: {
      installation: /^(?:\/api\/v3)?\/(?:app\/installations\/\d+\/access_tokens|repos\/[^/]+\/[^/]+\/installation)$/,
    },
    resource: /^\/(?:api\/v3\/)?user$/,
    refresh: 'single_use',
    lifetimeSeconds: 28_800,
    response: (standard, { scope }) => ({ ...standard, scope: scope.replaceAll(' ', ',') }),
    errors: {
      invalid_client: '200 incorrect_client_credentials: The client_id and/or client_secret passed are incorrect.',
      invalid_refresh_token: '200 bad_refresh_token: The refresh token passed is incorrect or expired.',
      expired_refresh_token: '200 bad_refresh_token: The refresh token passed is incorrect or expired.',
      invalid_code: '200 bad_verification_code: The code passed is incorrect or expired.',
      redirect_uri_mismatch: '200 redirect_uri_mismatch: The redirect_uri must match the registered callback URL.',
      invalid_device_code: '200 incorrect_device_code: The device_code provided is not valid.',
    },
    // Errors have the status 200.
    errorResponse: ({ body, status }) => json(status === 429 ? 429 : 200, body),
  },
  {
    type: 'hubspot',
    tokenUrl: 'https://api.hubapi.com/oauth/2026-03/token',
    hosts: /^(?:api\.hubapi|app\.hubspot)\.com$/,
    authorize: '/oauth/authorize',
    revoke: '/oauth/2026-03/token/revoke',
    resource: '/account-info/v3/details',
    refresh: 'reusable',
    lifetimeSeconds: 1800,
  },
  {
    type: 'keycloak',
    tokenUrl: 'https://{host}/realms/{realm}/protocol/openid-connect/token',
    authorize: '/realms/*/protocol/openid-connect/auth',
    device: { endpoint: '/realms/*/protocol/openid-connect/auth/device', page: '/device' },
    revoke: '/realms/*/protocol/openid-connect/revoke',
    resource: '/realms/*/protocol/openid-connect/userinfo',
    grants: ['password'],
    auth: 'client_secret_basic',
    lifetimeSeconds: 300,
  },
  {
    type: 'linear',
    tokenUrl: 'https://api.linear.app/oauth/token',
    hosts: /^(?:api\.)?linear\.app$/,
    authorize: '/oauth/authorize',
    revoke: '/oauth/revoke',
    resource: '/graphql',
    graceSeconds: 1800,
    lifetimeSeconds: 86_400,
  },
  {
    type: 'notion',
    tokenUrl: 'https://api.notion.com/v1/oauth/token',
    hosts: /^api\.notion\.com$/,
    jsonRequests: true,
    authorize: '/v1/oauth/authorize',
    revoke: '/v1/oauth/revoke',
    resource: '/v1/users/me',
    auth: 'client_secret_basic',
    response: (standard) => ({ ...standard, workspace_id: 'emulated-workspace', scope: undefined }),
  },
  {
    type: 'quickbooks',
    tokenUrl: 'https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer',
    hosts: /^(?:(?:oauth\.platform|appcenter|developer\.api)\.intuit|quickbooks\.api\.intuit)\.com$/,
    authorize: '/connect/oauth2',
    revoke: '/v2/oauth2/tokens/revoke',
    resource: /^\/v3\/company\/\d+\/companyinfo\/\d+$/,
    auth: 'client_secret_basic',
    redirectParameters: { realmId: '4620816365000000000' },
  },
  {
    type: 'salesforce',
    tokenUrl: 'https://{host}/services/oauth2/token',
    urlDefaults: { host: 'login.salesforce.com' },
    authorize: '/services/oauth2/authorize',
    revoke: '/services/oauth2/revoke',
    resource: '/services/oauth2/userinfo',
    refresh: 'static',
    response: (standard, { issuedAt }) => ({
      ...standard,
      expires_in: undefined,
      instance_url: 'https://acme.my.salesforce.com',
      issued_at: String(issuedAt * 1000),
    }),
  },
  {
    type: 'shopify',
    tokenUrl: 'https://{shop}.myshopify.com/admin/oauth/access_token',
    authorize: '/admin/oauth/authorize',
    resource: '/admin/api/*/shop.json',
    graceSeconds: 3600,
    apiHeader: 'x-shopify-access-token',
    response: (standard) => ({ ...standard, token_type: undefined }),
  },
  {
    type: 'slack',
    tokenUrl: 'https://slack.com/api/oauth.v2.user.access',
    hosts: /^slack\.com$/,
    routes: { token: /^\/api\/oauth\.v2\.(?:user\.)?access$/ },
    authorize: '/oauth/v2_user/authorize',
    resource: '/api/auth.test',
    lifetimeSeconds: 43_200,
    response: (standard) => ({ ok: true, ...standard, token_type: 'user' }),
    errors: {
      unknown_client: '200 invalid_client_id: The client is unknown.',
      invalid_client_secret: '200 bad_client_secret: The client secret is wrong.',
      invalid_refresh_token: '200 invalid_refresh_token: The refresh token is not valid.',
      expired_refresh_token: '200 invalid_refresh_token: The refresh token has expired.',
      invalid_code: '200 invalid_code: The code is not valid.',
      redirect_uri_mismatch: '200 bad_redirect_uri: The redirect URI differs.',
    },
    // Errors have the status 200 and the member ok.
    errorResponse: ({ body, status }) => json(status === 429 ? 429 : 200, { ok: false, error: body.error }),
  },
  {
    type: 'spotify',
    tokenUrl: 'https://accounts.spotify.com/api/token',
    hosts: /^(?:accounts|api)\.spotify\.com$/,
    authorize: '/authorize',
    resource: '/v1/me',
    auth: 'client_secret_basic',
  },
  {
    type: 'x',
    tokenUrl: 'https://api.x.com/2/oauth2/token',
    hosts: /^(?:api\.)?x\.com$/,
    authorize: '/i/oauth2/authorize',
    revoke: '/2/oauth2/revoke',
    resource: '/2/users/me',
    auth: 'client_secret_basic',
    requiredScope: 'offline.access',
    lifetimeSeconds: 7200,
  },
  {
    type: 'xero',
    tokenUrl: 'https://identity.xero.com/connect/token',
    hosts: /^(?:identity|login|api)\.xero\.com$/,
    authorize: '/identity/connect/authorize',
    resource: '/connections',
    auth: 'client_secret_basic',
    requiredScope: 'offline_access',
    lifetimeSeconds: 1800,
  },
  {
    type: 'zoom',
    tokenUrl: 'https://zoom.us/oauth/token',
    hosts: /^(?:api\.)?zoom\.us$/,
    authorize: '/oauth/authorize',
    revoke: '/oauth/revoke',
    resource: '/v2/users/me',
    auth: 'client_secret_basic',
    grantAliases: { account_credentials: 'client_credentials' },
  },
];

/** Providers that differ from an RFC 6749 server in a few facts only. */
export const catalogue: readonly EmulatedProvider[] = dialects.map(define);
