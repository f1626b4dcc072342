// better-auth as an OAuth 2.1 provider: its issuer has a path, and it supports resource indicators and device codes.
import { oauthDeviceAuthorization, oauthProvider } from '@better-auth/oauth-provider';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { getAuthTables } from 'better-auth/db';
import { jwt } from 'better-auth/plugins';
import { serve } from '../support/serve-fetch.js';

const origin = String(process.env['ISSUER']);
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const clients = [
  { client_id: 'robot', client_secret: 'robot-secret', grant_types: ['client_credentials'] },
  { client_id: 'odd', client_secret: 's e+c/r:t%&=x', grant_types: ['client_credentials'] },
  { client_id: 'web', client_secret: 'web-secret', grant_types: ['authorization_code', 'refresh_token', DEVICE] },
  { client_id: 'tool', client_secret: '', grant_types: ['authorization_code', 'refresh_token', DEVICE] },
];
let created = 0;
const options = {
  baseURL: origin,
  secret: 'a key for cookies and tokens that nothing else uses',
  trustedOrigins: [origin],
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    jwt(),
    oauthProvider({
      loginPage: '/sign-in',
      consentPage: '/consent',
      scopes: ['openid', 'offline_access', 'read', 'write'],
      resources: ['https://api.example.com'],
      enforcePerClientResources: false,
      clientPrivileges: () => true,
      generateClientId: () => String(clients[created]?.client_id),
      generateClientSecret: () => String(clients[created]?.client_secret),
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
    oauthDeviceAuthorization({ verificationUri: '/device', interval: '1s' }),
  ],
};
const tables = Object.fromEntries(Object.keys(getAuthTables(options)).map((name) => [name, []]));
const auth = betterAuth({ ...options, database: memoryAdapter(tables) });
const { headers: session } = await auth.api.signUpEmail({
  body: { name: 'Ada', email: 'ada@example.com', password: 'lovelace-1815' },
  returnHeaders: true,
});
const headers = new Headers({
  cookie: session
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; '),
});
for (; created < clients.length; created++) {
  const { client_secret, grant_types = [], client_id } = clients[created] ?? {};
  await auth.api.adminCreateOAuthClient({
    headers,
    body: {
      client_name: client_id,
      redirect_uris: [String(process.env['REDIRECT_URI'])],
      application_type: 'native',
      token_endpoint_auth_method: client_secret === '' ? 'none' : 'client_secret_basic',
      grant_types,
      scope: 'openid offline_access read write',
      ...(grant_types.includes('client_credentials') && { client_credentials_scopes: ['read', 'write'] }),
    },
  });
}

/** A resource server: a token is valid for the userinfo endpoint, or by introspection if it has no user. */
async function readResource(request) {
  const userInfo = await auth.handler(new Request(`${origin}/api/auth/oauth2/userinfo`, { headers: request.headers }));
  if (userInfo.ok) return userInfo;
  const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
  const introspection = new Request(`${origin}/api/auth/oauth2/introspect`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('robot:robot-secret')}` },
    body: new URLSearchParams({ token }),
  });
  const { active, scope } = await (await auth.handler(introspection)).json();
  return Response.json({ scope }, { status: active === true && String(scope).includes('read') ? 200 : 401 });
}

serve((request) => (new URL(request.url).pathname === '/resource' ? readResource(request) : auth.handler(request)));
