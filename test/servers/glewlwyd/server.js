// glewlwyd with SQLite. Its issuer has a path. It is configured with its own API, as its administration page does.
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const issuer = String(process.env['ISSUER']);
const data = String(process.env['DATA']);
const database = join(data, 'glewlwyd.db');
const modules = '/usr/lib/glewlwyd';
const schema = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3';

const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === 'object' ? address?.port : 0));
  });
});
execFileSync('sqlite3', [database], { input: readFileSync(schema) });
writeFileSync(
  join(data, 'glewlwyd.conf'),
  `port=${port}
bind_address="127.0.0.1"
external_url="${issuer}"
login_url="login.html"
api_prefix="api"
log_mode="console"
log_level="ERROR"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
hash_algorithm="SHA512"
user_module_path="${modules}/user"
client_module_path="${modules}/client"
user_auth_scheme_module_path="${modules}/scheme"
plugin_module_path="${modules}/plugin"
database={type="sqlite3" path="${database}"}
`,
);
const child = spawn('glewlwyd', ['--config-file', join(data, 'glewlwyd.conf')], { stdio: ['ignore', 2, 2] });
child.on('exit', (code) => process.exit(code ?? 1));

let cookie = '';
/** @param {string} path @param {object} body */
async function post(path, body) {
  const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: cookie },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status} ${await response.text()}`);
  cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
}

/** Signs in as soon as the server listens. */
async function signIn() {
  for (;;) {
    try {
      return await post('/auth/', { username: 'admin', password: 'password' });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
}
await signIn();
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
await post('/mod/plugin/', {
  module: 'oidc',
  name: 'oidc',
  display_name: 'OpenID Connect',
  enabled: true,
  parameters: {
    iss: `${issuer}/api/oidc`,
    'jwt-type': 'rsa',
    'jwt-key-size': '256',
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    cert: publicKey.export({ format: 'pem', type: 'spki' }),
    'code-duration': 600,
    'refresh-token-duration': 86_400,
    'refresh-token-one-use': 'always',
    'access-token-duration': 3600,
    'allow-non-oidc': true,
    'auth-type-client-enabled': true,
    'auth-type-code-enabled': true,
    'auth-type-token-enabled': false,
    'auth-type-implicit-enabled': false,
    'auth-type-password-enabled': true,
    'auth-type-refresh-enabled': true,
    'auth-type-device-enabled': true,
    'device-authorization-interval': 1,
    'pkce-allowed': true,
    'pkce-required': true,
    'pkce-method-plain-allowed': false,
    'introspection-revocation-allowed': true,
    'introspection-revocation-allow-target-client': true,
  },
});
for (const name of ['read', 'write']) await post('/scope/', { name, display_name: name, password_required: false });
await post('/user/', {
  username: 'ada',
  password: 'lovelace-1815',
  name: 'Ada',
  email: 'ada@example.com',
  enabled: true,
  scope: ['g_profile', 'openid', 'read', 'write'],
});
const userGrants = ['code', 'refresh_token', 'password', 'device_authorization', 'delete_token'];
for (const [client_id, client_secret, authorization_type] of [
  ['robot', 'robot-secret', ['client_credentials']],
  ['odd', 's e+c/r:t%&=x', ['client_credentials']],
  ['web', 'web-secret', userGrants],
  ['tool', undefined, userGrants],
])
  await post('/client/', {
    client_id,
    name: client_id,
    confidential: client_secret !== undefined,
    client_secret,
    authorization_type,
    token_endpoint_auth_method: ['client_secret_post', 'client_secret_basic', 'none'],
    redirect_uri: [process.env['REDIRECT_URI']],
    scope: ['read'],
    enabled: true,
  });
process.stdout.write(`${port}\n`);
