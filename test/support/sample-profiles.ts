import type { DataObject } from '../../src/config/flatten.ts';

/** Values long enough to be found again wherever they turn up. */
export const secrets = {
  client_secret: 'Cl13nt~Secret/with+signs=',
  password: 'pass word & "quotes" <ü>',
  refresh_token: '0.AXEA-refresh_token.of~ada!',
} as const;

/** A complete profile of each type and grant, as a user would write it. */
export const samples = {
  microsoftPassword: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    client_id: '11111111-2222-3333-4444-555555555555',
    username: 'ada@contoso.com',
    password: secrets.password,
  },
  microsoftRefresh: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    client_id: '11111111-2222-3333-4444-555555555555',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  microsoftClient: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    grant_type: 'client_credentials',
    client_id: '11111111-2222-3333-4444-555555555555',
    client_secret: secrets.client_secret,
    scope: 'https://graph.microsoft.com/.default',
  },
  google: {
    type: 'google',
    client_id: '1234.apps.googleusercontent.com',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  oktaPassword: {
    type: 'okta',
    tenant_id: 'trial-1234567',
    client_id: '0oa1',
    client_secret: secrets.client_secret,
    username: 'ada',
    password: secrets.password,
    scope: 'openid',
  },
  oktaRefresh: {
    type: 'okta',
    tenant_id: 'trial-1234567',
    client_id: '0oa1',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  gitlabPassword: { type: 'gitlab', username: 'ada', password: secrets.password },
  gitlabRefresh: {
    type: 'gitlab',
    client_id: 'gitlab-app',
    client_secret: secrets.client_secret,
    refresh_token: secrets.refresh_token,
  },
  twitter: { type: 'twitter', client_id: 'xKey', client_secret: secrets.client_secret },
  custom: {
    type: 'custom',
    url: 'https://id.example.com/token',
    grant_type: 'client_credentials',
    client_id: 'me',
    client_secret: secrets.client_secret,
  },
} as const satisfies Record<string, DataObject>;
