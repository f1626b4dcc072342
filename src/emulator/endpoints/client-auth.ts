import type { JWTPayload } from 'jose';
import type { EmulatorRequest } from '../messages.ts';
import type { Realm, RequestContext } from '../realm.ts';
import { reject } from '../rejection.ts';
import type { Client, Credential } from '../subjects.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Authenticates the client as the provider does. Returns `undefined` for a permitted request without a client. */
export async function authenticateClient(context: RequestContext, grant: string): Promise<Client | undefined> {
  const { request, realm } = context;
  const { provider } = realm;
  const { form } = request;
  const pairs = basicPairs(request, provider.clientAuth.basicDecoding);
  // An empty parameter counts as absent (RFC 6749 §3.2).
  const bodySecret = form.get('client_secret') || undefined;
  const assertion = form.get('client_assertion') || undefined;
  const methods = [pairs, bodySecret, assertion].filter((method) => method !== undefined);
  if (methods.length > 1 && (!provider.clientAuth.headerWins || pairs === undefined)) reject('multiple_client_auth');
  if (pairs !== undefined) {
    const client = pairs.map(([id]) => realm.clients.get(id)).find((found) => found !== undefined);
    if (client === undefined) return reject('unknown_client', pairs[0]?.[0] ?? '');
    const credentials = registeredCredentials(realm, client, 'client_secret_basic');
    const secrets = pairs.filter(([id]) => id === client.id).map(([, secret]) => secret);
    if (!credentials.some(({ secret = '' }) => secrets.includes(secret))) reject('invalid_client_secret');
    return client;
  }
  const id = form.get('client_id') || (assertion === undefined ? '' : ((await decodeAssertion(assertion)).sub ?? ''));
  if (id === '') {
    if (bodySecret !== undefined || assertion !== undefined) reject('missing_field', 'client_id');
    if (provider.passwordGrantWithoutClient && (grant === 'password' || grant === 'refresh_token')) return undefined;
    return reject(provider.clientAuth.basicOnly ? 'missing_client_auth' : 'missing_client', 'client_id');
  }
  const client = realm.clients.get(id) ?? reject('unknown_client', id);
  if (assertion !== undefined) await checkAssertion(context, client, assertion);
  else if (bodySecret !== undefined) checkBodySecret(realm, client, bodySecret);
  else if (provider.clientAuth.basicOnly || !client.credentials.some(isPublic)) reject('missing_client_auth');
  return client;
}

function isPublic({ secret, auth }: Credential): boolean {
  return secret === undefined && auth !== 'private_key_jwt';
}

function checkBodySecret(realm: Realm, client: Client, secret: string): void {
  if (realm.provider.clientAuth.basicOnly) reject('missing_client_auth');
  if (client.credentials.every((credential) => credential.secret === undefined)) reject('secret_for_public_client');
  const credentials = registeredCredentials(realm, client, 'client_secret_post');
  if (!credentials.some((credential) => credential.secret === secret)) reject('invalid_client_secret');
}

/** The credentials that a client may use with a method. */
function registeredCredentials(realm: Realm, { credentials }: Client, method: string): readonly Credential[] {
  if (!realm.provider.clientAuth.registeredMethodOnly) return credentials;
  const registered = credentials.filter(({ auth }) => auth === method);
  return registered.length > 0 ? registered : reject('unexpected_auth_method');
}

/** Id and secret of a Basic header, in each decoding that the provider accepts. */
function basicPairs({ headers }: EmulatorRequest, decoding?: 'raw' | 'either'): [string, string][] | undefined {
  const [, encoded] = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(String(headers['authorization'] ?? '')) ?? [];
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, 'base64').toString();
  const end = credentials.indexOf(':');
  const raw: [string, string] = [credentials.slice(0, end), credentials.slice(end + 1)];
  if (decoding === 'raw') return [raw];
  const decoded: [string, string] = [decodeFormValue(raw[0]), decodeFormValue(raw[1])];
  return decoding === 'either' ? [decoded, raw] : [decoded];
}

/** Decodes a part of a Basic header (RFC 6749 §2.3.1). */
function decodeFormValue(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The claims of an assertion, not verified; none if it is malformed. */
export async function decodeAssertion(assertion: string): Promise<JWTPayload> {
  const { decodeJwt } = await import('jose');
  try {
    return decodeJwt(assertion);
  } catch {
    return {};
  }
}

async function checkAssertion(context: RequestContext, client: Client, assertion: string) {
  const { form } = context.request;
  const usesSecret = client.credentials.some(({ auth }) => auth === 'client_secret_jwt');
  registeredCredentials(context.realm, client, usesSecret ? 'client_secret_jwt' : 'private_key_jwt');
  if (form.get('client_assertion_type') !== ASSERTION_TYPE) reject('missing_field', 'client_assertion_type');
  const expected = { issuer: client.id, subject: client.id };
  if (!(await verifyAssertion(context, client, assertion, expected))) reject('invalid_assertion');
}

/** Checks issuer, subject, audience, times and signature (RFC 7523 §3). */
export async function verifyAssertion(
  { request, now, realm }: RequestContext,
  client: Client,
  assertion: string,
  expected: { readonly issuer: string; readonly subject?: string; readonly withoutAudience?: boolean },
): Promise<boolean> {
  const { withoutAudience, ...claims } = expected;
  const { host, path, origin } = request;
  const { jwtVerify } = await import('jose');
  const own = `${origin}/${host}`;
  const urls = ['https://', 'http://'].flatMap((scheme) => [
    `${scheme}${host}${path}`,
    `${scheme}${host}`,
    `${scheme}${host}/`,
  ]);
  for (const { auth, secret, key: publicKey, audience } of client.credentials) {
    const isSecretKey = realm.provider.clientAuth.secretAssertions === true && auth === 'client_secret_jwt';
    const key = isSecretKey ? new TextEncoder().encode(secret) : publicKey;
    if (key === undefined) continue;
    const audiences = [...urls, own, `${own}${path}`, ...(audience === undefined ? [] : [audience])];
    const options = {
      ...claims,
      ...(withoutAudience !== true && { audience: audiences }),
      requiredClaims: ['exp'],
      currentDate: new Date(now),
    };
    const verified = await jwtVerify(assertion, key, options).catch(() => undefined);
    if (verified !== undefined) return true;
  }
  return false;
}
