// `npm run demo`: gets a token for each of the six types of profiles from emulated providers.

import { startEmulator } from '../dist/emulator.js';
import { oauthProfile } from '../dist/index.js';

const coloured = process.stdout.isTTY && !process.env['NO_COLOR'];
const paint = (/** @type {number} */ code) => (/** @type {string} */ text) =>
  coloured ? `\u001b[${code}m${text}\u001b[0m` : text;
const [bold, dim, green, cyan] = [paint(1), paint(2), paint(32), paint(36)];

/** Profiles as a user writes them; the values are made up. */
const profiles = {
  graph: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    grant_type: 'client_credentials',
    client_id: '5f6a7b8c-demo',
    client_secret: 'demo~secret',
    scope: 'https://graph.microsoft.com/.default',
  },
  graph_again: {
    type: 'microsoft',
    tenant_id: 'contoso.onmicrosoft.com',
    client_id: '1b2c3d4e-demo',
    refresh_token: '0.AXoA-demo-refresh-token',
    scope: 'user.read offline_access',
  },
  drive: {
    type: 'google',
    client_id: '42-demo.apps.googleusercontent.com',
    client_secret: 'GOCSPX-demo-secret',
    refresh_token: '1//0demo-refresh-token',
  },
  staff: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: '0oa1demo',
    client_secret: 'demo-okta-secret',
    grant_type: 'client_credentials',
    scope: 'orders.read',
  },
  lab: { type: 'gitlab', client_id: 'demo-app', refresh_token: 'demo-refresh-token' },
  x: { type: 'twitter', client_id: 'demoApiKey', client_secret: 'demoApiSecret' },
  own: {
    type: 'custom',
    url: 'https://login.example.com/oauth/token',
    grant_type: 'client_credentials',
    client_id: 'robot',
    client_secret: 'demo-own-secret',
    audience: 'https://api.example.com',
  },
};

/** @type {import('../dist/emulator.js').ServedRequest | undefined} */
let served;
const emulator = await startEmulator({
  profiles,
  onRequest: (request) => {
    served = request;
  },
});

console.log(`${bold('oauth-profile')}: name a profile, get a token`);
console.log(
  dim(
    'The providers are emulated on this machine, at their real URLs and with TLS. Nothing is sent to the internet.\n',
  ),
);
let count = 0;
for (const [name, profile] of Object.entries(profiles)) {
  const token = await oauthProfile(name, { data: { [name]: profile }, emulator });
  count++;
  console.log(`${green('●')} ${bold(name)} ${dim(`(${profile.type})`)}`);
  console.log(`  ${cyan('POST')} https://${served?.host}${served?.path}`);
  if (served?.authorization) console.log(`       Authorization: ${served.authorization} ••••`);
  console.log(`       ${served?.form.map(([field, value]) => `${field}=${value}`).join('  ')}`);
  console.log(
    `  ${cyan('→')}    ${served?.status}  ${Object.entries(served?.response ?? {})
      .map(([member, value]) => `${member}=${value}`)
      .join('  ')}`,
  );
  const expiry = token['expires_in'] === undefined ? 'does not expire' : `expires in ${token['expires_in']} s`;
  console.log(
    `  ${cyan('$')}    \${token.access_token} has ${String(token['access_token']).length} characters, ${expiry}\n`,
  );
}
await emulator.close();
console.log(`${green('✓')} ${count} tokens from six types of providers.`);
console.log(dim('Next: run  npm link  and continue with "Your first token" in README.md.'));
