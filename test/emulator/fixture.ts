/** A profile for each provider, with everything that the emulator can know. */
export const profiles = {
  graph: {
    type: 'microsoft',
    tenant_id: 'contoso.com',
    client_id: 'ms',
    client_secret: 'ms~secret',
    username: 'ada@contoso.com',
    password: 'pw-ada',
    refresh_token: 'ms-rt',
  },
  public: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'ms-public' },
  drive: { type: 'google', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' },
  org: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'o',
    client_secret: 'o-secret',
    username: 'bob',
    password: 'pw-bob',
    refresh_token: 'o-rt',
    scope: 'openid offline_access',
  },
  lab: {
    type: 'gitlab',
    client_id: 'l',
    client_secret: 'gloas-secret',
    username: 'root',
    password: 'pw-root',
    refresh_token: 'l-rt',
  },
  x: { type: 'twitter', client_id: 'key', client_secret: 'x-secret' },
  acme: {
    type: 'custom',
    url: 'https://login.example.test/oauth/token',
    client_id: 'c',
    client_secret: 'c secret',
    username: 'eve',
    password: 'pw-eve',
    refresh_token: 'c-rt',
  },
};

/** The token endpoint of each provider. */
export const tokenUrls = {
  microsoft: 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token',
  google: 'https://accounts.google.com/o/oauth2/token',
  okta: 'https://acme.okta.com/oauth2/default/v1/token',
  gitlab: 'https://gitlab.com/oauth/token',
  twitter: 'https://api.twitter.com/oauth2/token',
  custom: 'https://login.example.test/oauth/token',
};
