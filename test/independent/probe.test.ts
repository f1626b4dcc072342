import { createHash } from 'node:crypto';
import { it } from 'vitest';
import { oauthProfile } from '../../src/oauth-profile.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { Browser } from '../support/independent-browser.ts';
import { startOidcProvider } from '../support/independent-oidc-provider.ts';
import { startOAuth2Server } from '../support/independent-oauth2-server.ts';

const authority = new Authority();
const tls = authority.issue({ name: 'server', hosts: SERVER_NAMES });
it('probe', async () => {
  const oidc = await startOidcProvider([
    { client_id: 'web', client_secret: 'p@ss w/+~:%', grant_types: ['client_credentials','authorization_code','refresh_token','urn:ietf:params:oauth:grant-type:device_code'], redirect_uris: ['https://app.example.test/cb'], },
  ], tls);
  const log = async (title: string, fields: any) => {
    try { console.log(title, await oauthProfile('p', { data: { p: fields } })); } catch (e: any) { console.log(title, JSON.stringify(e)); }
  };
  const base = { type: 'custom', url: oidc.tokenUrl, client_id: 'web', client_secret: 'p@ss w/+~:%', options: { ca_file: authority.caFile } };
  for (const client_auth of ['body', 'basic', 'basic_raw']) await log(client_auth, { ...base, grant_type: 'client_credentials', options: { ...base.options, client_auth } });
  const verifier = 'v'.repeat(43);
  const b = new Browser(authority.ca.cert);
  const q = new URLSearchParams({ client_id: 'web', response_type: 'code', redirect_uri: 'https://app.example.test/cb', scope: 'openid offline_access read', prompt: 'consent', code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' });
  const a = await b.visit(`${oidc.issuer}/auth?${q}`);
  console.log(a.url, a.status, a.text);
  const code = new URL(a.url).searchParams.get('code');
  await log('code', { ...base, grant_type: 'authorization_code', code, redirect_uri: 'https://app.example.test/cb', code_verifier: verifier });
  await log('code again', { ...base, grant_type: 'authorization_code', code, redirect_uri: 'https://app.example.test/cb', code_verifier: verifier });
  const d = await new Browser(authority.ca.cert).visit(`${oidc.issuer}/device/auth`, { client_id: 'web', client_secret: base.client_secret, scope: 'openid offline_access', prompt: 'consent' });
  console.log(d.status, d.text);
  const dev = JSON.parse(d.text);
  await log('pending', { ...base, grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: dev.device_code });
  const p1 = await b.visit(dev.verification_uri_complete);
  const p2 = await b.submit(p1);
  const p3 = await b.submit(p2);
  console.log(p3.status, p3.url, p3.text.slice(0, 300));
  await log('device', { ...base, grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: dev.device_code });
  await oidc.close();

  const o2 = await startOAuth2Server({ clients: [{ id: 'web', secret: 'web-secret', grants: ['password', 'client_credentials', 'refresh_token', 'authorization_code'], redirectUris: ['https://app.example.test/cb'] }], users: { ada: 'lovelace' }, scopes: ['read', 'write'] }, tls);
  const b2 = { ...base, url: o2.tokenUrl, client_secret: 'web-secret' };
  await log('cc', { ...b2, grant_type: 'client_credentials' });
  await log('pw', { ...b2, grant_type: 'password', username: 'ada', password: 'lovelace' });
  const a2 = await new Browser(authority.ca.cert).visit(`${o2.origin}/authorize?${q}`.replace('openid+offline_access+read', 'read'));
  console.log(a2.url, a2.text);
  await log('code', { ...b2, grant_type: 'authorization_code', code: new URL(a2.url).searchParams.get('code'), redirect_uri: 'https://app.example.test/cb', code_verifier: verifier });
  await o2.close();
});
