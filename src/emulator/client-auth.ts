import { type KeyObject, verify } from 'node:crypto';
import type { EmulatorRequest } from './message.ts';
import { refuse } from './problem.ts';
import type { Client, Realm } from './realm.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Finds out which client asks, and makes it prove that, as the realm's provider would; `undefined` is a request without a client. */
export function authenticateClient(realm: Realm, request: EmulatorRequest, grant: string): Client | undefined {
  const { dialect } = realm;
  const { form } = request;
  const pairs = basicPairs(request, dialect.clientAuth.basic);
  const bodySecret = form.get('client_secret');
  const assertion = form.get('client_assertion');
  const ways = [pairs, bodySecret, assertion].filter((way) => way !== undefined && way !== null);
  if (ways.length > 1 && (dialect.clientAuth.both === 'refused' || pairs === undefined)) refuse({ kind: 'two_auths' });
  if (pairs !== undefined) {
    const client = pairs.map(([id]) => realm.clients.get(id)).find((found) => found !== undefined);
    if (client === undefined) return refuse({ kind: 'unknown_client', clientId: pairs[0]?.[0] ?? '' });
    checkMethod(realm, client, 'basic');
    if (!pairs.some(([id, secret]) => id === client.id && secret === (client.secret ?? '')))
      refuse({ kind: 'wrong_secret' });
    return client;
  }
  const id = form.get('client_id') ?? '';
  if (id === '') {
    if (bodySecret !== null || assertion !== null) refuse({ kind: 'missing_field', field: 'client_id' });
    if (dialect.anonymousPassword && (grant === 'password' || grant === 'refresh_token')) return undefined;
    return refuse(dialect.clientAuth.body ? { kind: 'missing_field', field: 'client_id' } : { kind: 'no_client_auth' });
  }
  const client = realm.clients.get(id) ?? refuse({ kind: 'unknown_client', clientId: id });
  if (assertion !== null) checkAssertion(realm, client, request, assertion);
  else if (bodySecret !== null && bodySecret !== '') checkBodySecret(realm, client, bodySecret);
  else if (client.secret !== undefined || client.auth === 'private_key_jwt' || !dialect.clientAuth.body)
    refuse({ kind: 'no_client_auth' });
  return client;
}

function checkBodySecret(realm: Realm, client: Client, secret: string): void {
  if (!realm.dialect.clientAuth.body) refuse({ kind: 'no_client_auth' });
  if (client.secret === undefined) refuse({ kind: 'secret_of_public_client' });
  checkMethod(realm, client, 'body');
  if (secret !== client.secret) refuse({ kind: 'wrong_secret' });
}

function checkMethod(realm: Realm, client: Client, method: string): void {
  if (realm.dialect.clientAuth.onlyRegistered && client.auth !== method) refuse({ kind: 'wrong_auth_method' });
}

/** The header's id and secret, in each reading that the dialect allows. */
function basicPairs(
  { headers }: EmulatorRequest,
  reading: 'decoded' | 'raw' | 'either' | 'no',
): [string, string][] | undefined {
  const [, encoded] = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(String(headers['authorization'] ?? '')) ?? [];
  if (encoded === undefined || reading === 'no') return undefined;
  const clear = Buffer.from(encoded, 'base64').toString();
  const end = clear.indexOf(':');
  const raw: [string, string] = [clear.slice(0, end), clear.slice(end + 1)];
  if (reading === 'raw') return [raw];
  const decoded: [string, string] = [decode(raw[0]), decode(raw[1])];
  return reading === 'either' ? [decoded, raw] : [decoded];
}

/** RFC 6749 §2.3.1: form-decoded. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** RFC 7523 §3: signature, issuer, subject, audience and expiry. */
function checkAssertion(realm: Realm, client: Client, request: EmulatorRequest, assertion: string): void {
  checkMethod(realm, client, 'private_key_jwt');
  if (request.form.get('client_assertion_type') !== ASSERTION_TYPE)
    refuse({ kind: 'missing_field', field: 'client_assertion_type' });
  const [head, payload, signature] = assertion.split('.');
  if (client.key === undefined || head === undefined || payload === undefined || signature === undefined) {
    refuse({ kind: 'wrong_assertion' });
  }
  let valid = false;
  try {
    const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString());
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    valid =
      verifySignature(String(alg), `${head}.${payload}`, Buffer.from(signature, 'base64url'), client.key) &&
      claims.iss === client.id &&
      claims.sub === client.id &&
      claims.aud !== undefined &&
      typeof claims.exp === 'number';
  } catch {
    // Not a JWT at all.
  }
  if (!valid) refuse({ kind: 'wrong_assertion' });
}

function verifySignature(alg: string, data: string, signature: Buffer, key: KeyObject): boolean {
  if (alg === 'EdDSA' || alg === 'Ed25519') return verify(null, Buffer.from(data), key, signature);
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return verify(hash, Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }, signature);
  const padding = alg.startsWith('PS') ? 6 : 1;
  return verify(hash, Buffer.from(data), { key, padding, ...(padding === 6 && { saltLength: -1 }) }, signature);
}
