// Apache with mod_oauth2 as the resource server of oidc-provider: `/resource` needs a valid token, everything else is
// forwarded to the provider.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createProbe } from 'node:net';
import { join } from 'node:path';
import { Provider } from 'oidc-provider';

const data = String(process.env['DATA']);
const modules = '/usr/lib/apache2/modules';
const AUDIENCE = 'https://api.example.com';

const users = {
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: [String(process.env['REDIRECT_URI'])],
  application_type: /** @type {const} */ ('native'),
};
const provider = new Provider(String(process.env['ISSUER']), {
  scopes: ['openid', 'offline_access', 'read'],
  clients: [
    {
      client_id: 'robot',
      client_secret: 'robot-secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
    { client_id: 'web', client_secret: 'web-secret', ...users },
    { client_id: 'tool', token_endpoint_auth_method: 'none', ...users },
  ],
  features: {
    devInteractions: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      // A client may request a token for another API.
      defaultResource: () => AUDIENCE,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'read',
        audience: resource,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  discovery: { prompt_values_supported: ['none', 'login', 'consent'] },
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
  rotateRefreshToken: true,
  cookies: { keys: ['a key for cookies'] },
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
});

const portOf = (/** @type {import('node:net').Server} */ server) =>
  /** @type {import('node:net').AddressInfo} */ (server.address()).port;

const upstream = createServer(provider.callback()).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const probe = createProbe().listen(0, '127.0.0.1');
await once(probe, 'listening');
const port = portOf(probe);
probe.close();
await once(probe, 'close');

const load = ['mpm_event', 'authn_core', 'authz_core', 'alias', 'proxy', 'proxy_http', 'oauth2'];
// Apache reads it as another user.
chmodSync(data, 0o755);
writeFileSync(join(data, 'index.html'), 'protected\n');
writeFileSync(
  join(data, 'apache.conf'),
  `${load.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
User www-data
Group www-data
PidFile ${data}/apache.pid
DefaultRuntimeDir ${data}
ErrorLog ${data}/error.log
DocumentRoot ${data}
ProxyPreserveHost On
ProxyPass /resource !
ProxyPass / http://127.0.0.1:${portOf(upstream)}/
Alias /resource ${data}/index.html
<Location /resource>
  AuthType oauth2
  OAuth2TokenVerify jwks_uri http://127.0.0.1:${portOf(upstream)}/jwks verify.exp=required
  <RequireAll>
    Require oauth2_claim aud:${AUDIENCE}
    Require oauth2_claim iss:${process.env['ISSUER']}
    Require oauth2_claim scope:read
  </RequireAll>
</Location>
`,
);
const child = spawn('/usr/sbin/apache2', ['-d', data, '-f', join(data, 'apache.conf'), '-DFOREGROUND'], {
  stdio: ['ignore', 2, 2],
});
child.on('exit', (code) => process.exit(code ?? 1));

/** Waits until Apache listens. */
for (let listening = false; !listening; ) {
  listening = await fetch(`http://127.0.0.1:${port}/resource`).then(
    () => true,
    () => false,
  );
}
process.stdout.write(`${port}\n`);
