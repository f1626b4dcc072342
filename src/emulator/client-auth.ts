import { type KeyObject, verify } from 'node:crypto';
import type { RequestContext } from './issue.ts';
import type { EmulatorRequest } from './message.ts';
import { rejectWith } from './problem.ts';
import type { Client, Realm } from './realm.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Finds out which client asks, and makes it prove that, as the realm's provider would; `undefined` is a request without a client. */
export function authenticateClient(
  { realm, now }: RequestContext,
  request: EmulatorRequest,
  grant: string,
): Client | undefined {
  const { dialect } = realm;
  const { form } = request;
  const pairs = basicPairs(request, dialect.clientAuth.basic);
  // An empty parameter counts as left out (RFC 6749 §3.2).
  const bodySecret = form.get('client_secret') || undefined;
  const assertion = form.get('client_assertion') || undefined;
  const ways = [pairs, bodySecret, assertion].filter((way) => way !== undefined);
  if (ways.length > 1 && (dialect.clientAuth.both === 'refused' || pairs === undefined))
    rejectWith({ kind: 'two_auths' });
  if (pairs !== undefined) {
    const client = pairs.map(([id]) => realm.clients.get(id)).find((found) => found !== undefined);
    if (client === undefined) return rejectWith({ kind: 'unknown_client', clientId: pairs[0]?.[0] ?? '' });
    checkMethod(realm, client, 'basic');
    if (!pairs.some(([id, secret]) => id === client.id && secret === (client.secret ?? '')))
      rejectWith({ kind: 'wrong_secret' });
    return client;
  }
  const id = form.get('client_id') || (assertion === undefined ? '' : subjectOf(assertion));
  if (id === '') {
    if (bodySecret !== undefined || assertion !== undefined) rejectWith({ kind: 'missing_field', field: 'client_id' });
    if (dialect.anonymousPassword && (grant === 'password' || grant === 'refresh_token')) return undefined;
    return rejectWith(
      dialect.clientAuth.body ? { kind: 'missing_field', field: 'client_id' } : { kind: 'no_client_auth' },
    );
  }
  const client = realm.clients.get(id) ?? rejectWith({ kind: 'unknown_client', clientId: id });
  if (assertion !== undefined) checkAssertion({ realm, now }, client, request, assertion);
  else if (bodySecret !== undefined) checkBodySecret(realm, client, bodySecret);
  else if (client.secret !== undefined || client.auth === 'private_key_jwt' || !dialect.clientAuth.body)
    rejectWith({ kind: 'no_client_auth' });
  return client;
}

function checkBodySecret(realm: Realm, client: Client, secret: string): void {
  if (!realm.dialect.clientAuth.body) rejectWith({ kind: 'no_client_auth' });
  if (client.secret === undefined) rejectWith({ kind: 'secret_of_public_client' });
  checkMethod(realm, client, 'body');
  if (secret !== client.secret) rejectWith({ kind: 'wrong_secret' });
}

function checkMethod(realm: Realm, client: Client, method: string): void {
  if (realm.dialect.clientAuth.onlyRegistered && client.auth !== method) rejectWith({ kind: 'wrong_auth_method' });
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

/** The client that an assertion speaks for, where the form does not say (RFC 7521 §4.2). */
function subjectOf(assertion: string): string {
  const { sub } = partOf(assertion, 1);
  return typeof sub === 'string' ? sub : '';
}

/** Header or claims of a JWT; of anything else nothing. */
function partOf(jwt: string, index: number): Readonly<Record<string, unknown>> {
  try {
    const part: unknown = JSON.parse(Buffer.from(jwt.split('.')[index] ?? '', 'base64url').toString());
    return typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const SKEW_SECONDS = 60;

/** RFC 7523 §3: issuer, subject, audience, times, and the signature. */
function checkAssertion(
  { realm, now }: Pick<RequestContext, 'realm' | 'now'>,
  client: Client,
  request: EmulatorRequest,
  assertion: string,
): void {
  checkMethod(realm, client, 'private_key_jwt');
  if (request.form.get('client_assertion_type') !== ASSERTION_TYPE)
    rejectWith({ kind: 'missing_field', field: 'client_assertion_type' });
  const { iss, sub, aud, exp, nbf } = partOf(assertion, 1);
  const { host, path, base } = request;
  const audiences = [
    `https://${host}${path}`,
    `http://${host}${path}`,
    `${base}${path}`,
    `https://${host}`,
    `https://${host}/`,
    client.audience,
  ];
  const seconds = now / 1000;
  const valid =
    iss === client.id &&
    sub === client.id &&
    [aud].flat().some((one) => audiences.includes(String(one))) &&
    typeof exp === 'number' &&
    exp > seconds &&
    (nbf === undefined || (typeof nbf === 'number' && nbf <= seconds + SKEW_SECONDS)) &&
    isSigned(assertion, client.key);
  if (!valid) rejectWith({ kind: 'wrong_assertion' });
}

function isSigned(assertion: string, key: KeyObject | undefined): boolean {
  const [head, payload, signature = ''] = assertion.split('.');
  try {
    const alg = String(partOf(assertion, 0)['alg']);
    return key !== undefined && verifySignature(alg, `${head}.${payload}`, Buffer.from(signature, 'base64url'), key);
  } catch {
    return false;
  }
}

function verifySignature(alg: string, data: string, signature: Buffer, key: KeyObject): boolean {
  if (alg === 'EdDSA' || alg === 'Ed25519') return verify(null, Buffer.from(data), key, signature);
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return verify(hash, Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }, signature);
  const padding = alg.startsWith('PS') ? 6 : 1;
  return verify(hash, Buffer.from(data), { key, padding, ...(padding === 6 && { saltLength: -1 }) }, signature);
}
