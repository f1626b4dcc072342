import type { EmulatorRequest } from './messages.ts';
import type { Client, Realm, RequestContext } from './realm.ts';
import { reject } from './rejection.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Authenticates the client as the provider does. Returns `undefined` for a permitted request without a client. */
export async function authenticateClient(
  { realm, now }: RequestContext,
  request: EmulatorRequest,
  grant: string,
): Promise<Client | undefined> {
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
    checkMethod(realm, client, 'client_secret_basic');
    if (!pairs.some(([id, secret]) => id === client.id && secret === (client.secret ?? '')))
      reject('invalid_client_secret');
    return client;
  }
  const id = form.get('client_id') || (assertion === undefined ? '' : await subjectOf(assertion));
  if (id === '') {
    if (bodySecret !== undefined || assertion !== undefined) reject('missing_field', 'client_id');
    if (provider.passwordGrantWithoutClient && (grant === 'password' || grant === 'refresh_token')) return undefined;
    return provider.clientAuth.basicOnly ? reject('missing_client_auth') : reject('missing_field', 'client_id');
  }
  const client = realm.clients.get(id) ?? reject('unknown_client', id);
  if (assertion !== undefined) await checkAssertion({ realm, now }, client, request, assertion);
  else if (bodySecret !== undefined) checkBodySecret(realm, client, bodySecret);
  else if (client.secret !== undefined || client.auth === 'private_key_jwt' || provider.clientAuth.basicOnly)
    reject('missing_client_auth');
  return client;
}

function checkBodySecret(realm: Realm, client: Client, secret: string): void {
  if (realm.provider.clientAuth.basicOnly) reject('missing_client_auth');
  if (client.secret === undefined) reject('secret_for_public_client');
  checkMethod(realm, client, 'client_secret_post');
  if (secret !== client.secret) reject('invalid_client_secret');
}

function checkMethod(realm: Realm, client: Client, method: string): void {
  if (realm.provider.clientAuth.registeredMethodOnly && client.auth !== method) reject('unexpected_auth_method');
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

/** The client id of an assertion, for requests without a `client_id` (RFC 7521 §4.2). */
async function subjectOf(assertion: string): Promise<string> {
  const { decodeJwt } = await import('jose');
  try {
    return decodeJwt(assertion).sub ?? '';
  } catch {
    return '';
  }
}

/** Checks issuer, subject, audience, times and signature (RFC 7523 §3). */
async function checkAssertion(
  { realm, now }: Pick<RequestContext, 'realm' | 'now'>,
  client: Client,
  { form, host, path, base }: EmulatorRequest,
  assertion: string,
): Promise<void> {
  checkMethod(realm, client, 'private_key_jwt');
  if (form.get('client_assertion_type') !== ASSERTION_TYPE) reject('missing_field', 'client_assertion_type');
  const urls = [
    `https://${host}${path}`,
    `http://${host}${path}`,
    `${base}${path}`,
    `https://${host}`,
    `https://${host}/`,
  ];
  const { jwtVerify } = await import('jose');
  try {
    if (client.key === undefined) throw new Error('no key is registered');
    await jwtVerify(assertion, client.key, {
      issuer: client.id,
      subject: client.id,
      audience: client.audience === undefined ? urls : [...urls, client.audience],
      requiredClaims: ['exp'],
      currentDate: new Date(now),
    });
  } catch {
    reject('invalid_assertion');
  }
}
