import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfidentialClientApplication, type Configuration, type INetworkModule } from '@azure/msal-node';
import { afterAll, expect, it } from 'vitest';
import { requestToken } from '../../src/flows/request-token.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { Authority } from '../support/certificates.ts';
import { fakePorts } from '../support/ports.ts';
import { profileOf } from '../support/profiles.ts';
import { decodeJwt } from './decode-jwt.ts';

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-msal-'));
afterAll(() => rmSync(directory, { recursive: true }));

const tenant = '99999999-2222-4333-8444-555555555555';
const clientId = '11111111-2222-4333-8444-555555555555';
const scope = 'https://graph.microsoft.com/.default';
const authority = `https://login.microsoftonline.com/${tenant}`;
const response = { token_type: 'Bearer', expires_in: 3599, access_token: 'a-token' };
const authorityOfTests = new Authority();
const certificate = authorityOfTests.issue({ name: 'robot', usage: 'clientAuth', isRsa: true });
const certificateFile = join(directory, 'robot.pem');
writeFileSync(certificateFile, certificate.key + certificate.cert + authorityOfTests.ca.cert);
const pfxFile = join(directory, 'robot.pfx');
execFileSync('openssl', [
  'pkcs12',
  '-export',
  '-in',
  certificateFile,
  '-out',
  pfxFile,
  '-passout',
  'pass:any-passphrase',
]);
const certificates = certificate.cert + authorityOfTests.ca.cert;
const { fingerprint256 } = new X509Certificate(certificate.cert);

/** Parameters that describe Microsoft's library, and those of OpenID Connect that it always requests. */
const OF_THE_LIBRARY = /^(?:x-|client-request-id$|client_info$)/;
const OF_OPENID = new Set(['openid', 'profile', 'offline_access']);

/** A request with its form and assertion decoded. */
function decode(url: string, body: string) {
  const { client_assertion: assertion = '', ...form } = Object.fromEntries(
    [...new URLSearchParams(body)].filter(([name]) => !OF_THE_LIBRARY.test(name)),
  );
  const scopes = form['scope']?.split(' ').filter((one) => !OF_OPENID.has(one));
  const isSigned = assertion.startsWith('eyJ');
  // The query has a random request id.
  return {
    url: url.replace(/\?client-request-id=.*/, ''),
    form: { ...form, scope: scopes },
    assertion: isSigned ? decodeJwt(assertion) : assertion,
  };
}

/** The requests of Microsoft's library for a client_credentials grant. */
async function sentByMsal(auth: Partial<Configuration['auth']>) {
  const sent: ReturnType<typeof decode>[] = [];
  const networkClient: INetworkModule = {
    sendGetRequestAsync: async () => {
      throw new Error('all metadata is configured');
    },
    async sendPostRequestAsync<T>(url: string, options?: { body?: string }) {
      sent.push(decode(url, options?.body ?? ''));
      return { headers: {}, status: 200, body: response as T };
    },
  };
  const metadata = {
    issuer: `${authority}/v2.0`,
    authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
    token_endpoint: `${authority}/oauth2/v2.0/token`,
    jwks_uri: `${authority}/discovery/v2.0/keys`,
  };
  const app = new ConfidentialClientApplication({
    auth: { clientId, authority, authorityMetadata: JSON.stringify(metadata), ...auth },
    system: { networkClient },
  });
  await app.acquireTokenByClientCredential({ scopes: [scope], skipCache: true });
  return sent;
}

/** The requests of a profile for the same grant. */
async function sentByProfile(options: Record<string, unknown>) {
  const sent: ReturnType<typeof decode>[] = [];
  const profile = profileOf({
    ...{ type: 'microsoft', tenant_id: tenant, client_id: clientId, grant_type: 'client_credentials', scope },
    options,
  });
  const ports = fakePorts({
    readAssertion: async () => new Secret('oidc-token-of-the-job'),
    async send({ url, body }) {
      sent.push(decode(url.href, body));
      return { status: 200, headers: {}, body: JSON.stringify(response) };
    },
  });
  await requestToken(profile, ports);
  return sent;
}

const clientCertificate = { thumbprintSha256: fingerprint256.replaceAll(':', ''), privateKey: certificate.key };
const signed = { client_auth: 'private_key_jwt', key_file: certificateFile };

it.each([
  ['a certificate', { clientCertificate }, signed],
  [
    'a certificate and its issuers',
    { clientCertificate: { ...clientCertificate, x5c: certificates } },
    { ...signed, x5c: true },
  ],
  [
    'a certificate and its issuers in a .pfx file',
    { clientCertificate: { ...clientCertificate, x5c: certificates } },
    { ...signed, key_file: pfxFile, key_passphrase: 'any-passphrase', x5c: true },
  ],
  ['an assertion of a CI system', { clientAssertion: 'oidc-token-of-the-job' }, { assertion_source: 'github-actions' }],
])('the request of a microsoft profile with %s is that of msal-node', async (_what, auth, options) => {
  const theirs = await sentByMsal(auth);
  expect(theirs).toHaveLength(1);
  expect(await sentByProfile(options)).toEqual(theirs);
});
