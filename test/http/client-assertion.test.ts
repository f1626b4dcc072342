import {
  constants,
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  verify,
  X509Certificate,
} from 'node:crypto';
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { InvalidProfileError } from '../../src/errors.ts';
import { signAssertion } from '../../src/http/client-assertion.ts';
import type { AssertionSpec } from '../../src/oauth/token-request.ts';
import { LoadedFile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { Authority } from '../support/certificates.ts';
import { errorOf } from '../support/errors.ts';
import { bounds } from '../support/ports.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' });
const ed25519 = generateKeyPairSync('ed25519');

type Pair = { publicKey: KeyObject; privateKey: KeyObject };
const pem = ({ privateKey }: Pair, type: 'pkcs8' | 'pkcs1' | 'sec1') =>
  privateKey.export({ format: 'pem', type } as { format: 'pem'; type: 'pkcs8' }).toString();
const jwk = ({ privateKey }: Pair, more = {}) => JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...more });

/** A random odd number with this many bits, base64url. */
function oddNumber(bits: number): string {
  const bytes = randomBytes(bits / 8);
  bytes[0] = 0xff;
  bytes[bytes.length - 1] = 0xff;
  return bytes.toString('base64url');
}

/** Random numbers instead of those of a key, so that signing is slow. */
const randomNumbers = (bits: number) => ({
  n: oddNumber(bits),
  d: oddNumber(bits),
  ...Object.fromEntries(['p', 'q', 'dp', 'dq', 'qi'].map((name) => [name, oddNumber(bits / 2)])),
});

function spec(text: string, changes: Partial<AssertionSpec> = {}): AssertionSpec {
  return {
    clientId: 'my-client',
    audience: 'https://login.example.test/token',
    key: new LoadedFile('keys/own.pem', text),
    keyId: undefined,
    rsaAlgorithm: 'RS256',
    ...changes,
  };
}

async function signed(text: string, changes: Partial<AssertionSpec> = {}) {
  const assertion = (await signAssertion(spec(text, changes), 'svc', bounds())).reveal();
  const [header = '', payload = '', signature = ''] = assertion.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const input = Buffer.from(`${header}.${payload}`);
  return { header: read(header), payload: read(payload), input, signature: Buffer.from(signature, 'base64url') };
}

/** Verifies a signature with `node:crypto` (RFC 7518 §3.1, RFC 8037). */
function isValid(publicKey: KeyObject, alg: string, input: Buffer, signature: Buffer): boolean {
  if (alg === 'Ed25519' || alg === 'EdDSA') return verify(null, input, publicKey, signature);
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return verify(hash, input, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
  if (alg.startsWith('RS')) return verify(hash, input, publicKey, signature);
  const saltLength = Number(alg.slice(2)) / 8;
  return verify(hash, input, { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, signature);
}

describe('the signature of a client assertion', () => {
  it.each<[string, string, string, Pair]>([
    ['RSA, PKCS #8', pem(rsa, 'pkcs8'), 'RS256', rsa],
    ['RSA, PKCS #1', pem(rsa, 'pkcs1'), 'RS256', rsa],
    ['RSA, JWK', jwk(rsa), 'RS256', rsa],
    ['RSA, JWK with PS384', jwk(rsa, { alg: 'PS384' }), 'PS384', rsa],
    ['RSA, JWK with RS512', jwk(rsa, { alg: 'RS512' }), 'RS512', rsa],
    ['P-256, PKCS #8', pem(p256, 'pkcs8'), 'ES256', p256],
    ['P-256, SEC 1', pem(p256, 'sec1'), 'ES256', p256],
    ['P-384, SEC 1', pem(p384, 'sec1'), 'ES384', p384],
    ['P-521, SEC 1', pem(p521, 'sec1'), 'ES512', p521],
    ['P-384, JWK', jwk(p384), 'ES384', p384],
    ['P-521, JWK with its alg', jwk(p521, { alg: 'ES512' }), 'ES512', p521],
    ['Ed25519, PKCS #8', pem(ed25519, 'pkcs8'), 'EdDSA', ed25519],
    ['Ed25519, JWK', jwk(ed25519), 'EdDSA', ed25519],
    ['Ed25519, JWK with its newer name', jwk(ed25519, { alg: 'Ed25519' }), 'Ed25519', ed25519],
  ])('D12 is valid: %s', async (_what, text, alg, { publicKey }) => {
    const { header, input, signature } = await signed(text);
    expect(header).toEqual({ alg, typ: 'JWT' });
    expect(isValid(publicKey, alg, input, signature)).toBe(true);
    expect(isValid(publicKey, alg, Buffer.concat([input, Buffer.from('x')]), signature)).toBe(false);
  });

  it.each(['short', 'Cl13nt~Secret/with+signs=', 'ünïcödé-secret'])(
    'D12 is an HMAC with SHA-256 of the client secret %s (RFC 7523, RFC 7518 §3.2)',
    async (secret) => {
      const { header, payload, input, signature } = await signed('', { key: new Secret(secret) });
      expect(header).toEqual({ alg: 'HS256', typ: 'JWT' });
      expect(payload).toMatchObject({ iss: 'my-client', sub: 'my-client', aud: 'https://login.example.test/token' });
      expect(signature).toEqual(createHmac('sha256', secret).update(input).digest());
    },
  );

  it('D12 uses the RSA algorithm of the provider, unless the JWK has another', async () => {
    const plain = await signed(pem(rsa, 'pkcs8'), { rsaAlgorithm: 'PS256' });
    expect(plain.header.alg).toBe('PS256');
    expect(isValid(rsa.publicKey, 'PS256', plain.input, plain.signature)).toBe(true);
    expect((await signed(jwk(rsa, { alg: 'RS256' }), { rsaAlgorithm: 'PS256' })).header.alg).toBe('RS256');
    expect((await signed(pem(p256, 'pkcs8'), { rsaAlgorithm: 'PS256' })).header.alg).toBe('ES256');
  });

  it('accepts CRLF line ends, and text and spaces around the key', async () => {
    const text = `Bag Attributes\r\n  friendlyName: own\r\n${pem(p256, 'pkcs8').replaceAll('\n', '\r\n')}\r\n\r\n`;
    expect((await signed(text)).header.alg).toBe('ES256');
    expect((await signed(`\n  ${jwk(p256)}\n`)).header.alg).toBe('ES256');
  });
});

describe('the claims of a client assertion', () => {
  it('D12 are issuer, subject, audience, a random id and a short lifetime', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { payload } = await signed(pem(p256, 'pkcs8'));
    const after = Math.floor(Date.now() / 1000);
    expect(payload).toMatchObject({
      iss: 'my-client',
      sub: 'my-client',
      aud: 'https://login.example.test/token',
      jti: expect.stringMatching(/^[\w-]{20,}$/),
    });
    expect(payload.iat).toBeGreaterThanOrEqual(before);
    expect(payload.iat).toBeLessThanOrEqual(after);
    expect(payload.nbf).toBe(payload.iat);
    expect(payload.exp - payload.iat).toBeGreaterThanOrEqual(30);
    expect(payload.exp - payload.iat).toBeLessThanOrEqual(600);
  });

  it('D12 contain the audience of the profile unchanged', async () => {
    const { payload } = await signed(pem(p256, 'pkcs8'), { audience: 'urn:x:y' });
    expect(payload.aud).toBe('urn:x:y');
  });

  it('contain a client id that is a secret', async () => {
    const { payload } = await signed(pem(p256, 'pkcs8'), { clientId: new Secret('hidden-client') });
    expect(payload).toMatchObject({ iss: 'hidden-client', sub: 'hidden-client' });
  });

  it('D18 have a new id each time', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await signed(pem(p256, 'pkcs8'))).payload.jti));
    expect(new Set(ids).size).toBe(3);
  });
});

describe('the key of a client assertion', () => {
  const authority = new Authority();
  const client = authority.issue({ name: 'client', usage: 'clientAuth' });
  const thumbprint = createHash('sha256').update(new X509Certificate(client.cert).raw).digest('base64url');

  it.each([
    ['options.key_id', pem(p256, 'pkcs8'), 'k-1', 'k-1'],
    ['the kid of the JWK', jwk(p256, { kid: 'k-2' }), undefined, 'k-2'],
    ['options.key_id rather than the kid of the JWK', jwk(p256, { kid: 'k-2' }), 'k-1', 'k-1'],
  ])('is identified by %s', async (_what, text, keyId, kid) => {
    expect((await signed(text, { keyId })).header.kid).toBe(kid);
  });

  it.each([
    ['after the key', client.key + client.cert],
    ['before the key', client.cert + client.key],
    ['among other certificates', authority.ca.cert + client.cert + client.key],
  ])('is identified by the thumbprint of the certificate %s', async (_what, text) => {
    const { header, input, signature } = await signed(text);
    expect(header['x5t#S256']).toBe(thumbprint);
    expect(isValid(createPublicKey(client.cert), 'ES256', input, signature)).toBe(true);
  });

  it('is identified by the thumbprint in the JWK', async () => {
    expect((await signed(jwk(p256, { 'x5t#S256': 'abc' }))).header['x5t#S256']).toBe('abc');
  });

  it('sends the certificates of the file on request, that of the key first (RFC 7515 §4.1.6)', async () => {
    const base64 = ({ cert }: { cert: string }) => new X509Certificate(cert).raw.toString('base64');
    const { header } = await signed(authority.ca.cert + client.cert + client.key, { sendsCertificate: true });
    expect(header.x5c).toEqual([base64(client), base64(authority.ca)]);
    expect((await signed(client.cert + client.key)).header).not.toHaveProperty('x5c');
    expect((await signed(client.key, { sendsCertificate: true })).header).not.toHaveProperty('x5c');
  });
});

describe('an unusable key file', () => {
  const encrypted = rsa.privateKey
    .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' })
    .toString();
  const encryptedOld = p256.privateKey
    .export({ format: 'pem', type: 'sec1', cipher: 'aes-128-cbc', passphrase: 'secret' })
    .toString();
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const k256 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  const x25519 = generateKeyPairSync('x25519');
  const publicPem = p256.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const authority = new Authority();
  const client = authority.issue({ name: 'client', usage: 'clientAuth' });
  const expired = authority.issue({ name: 'expired', usage: 'clientAuth', days: [-30, -1] });
  const broken = pem(p256, 'pkcs8').replace(/\n.{10}/, '\n');

  it.each([
    ['encrypted', encrypted],
    ['encrypted as SEC 1', encryptedOld],
    ['empty', ''],
    ['not a key', 'hunter2-is-my-password'],
    ['broken JSON', '{"kty":"EC","d":"hunter2-is-my-password"'],
    ['JSON without a key', '{"hunter2-is-my-password":1}'],
    ['a JWK without its private part', JSON.stringify(p256.publicKey.export({ format: 'jwk' }))],
    ['an RSA JWK without its private part', JSON.stringify(rsa.publicKey.export({ format: 'jwk' }))],
    ['a JWK set', `{"keys":[${jwk(p256)}]}`],
    ['a public key', publicPem],
    ['damaged', broken],
    ['an RSA key that is too short', pem(small, 'pkcs8')],
    ['a key on another curve', pem(k256, 'pkcs8')],
    ['a key that cannot sign', pem(x25519, 'pkcs8')],
    ['a JWK for another algorithm', jwk(rsa, { alg: 'ES256' })],
    ['a JWK for a weak algorithm', jwk(rsa, { alg: 'RS1' })],
    ['a JWK for encryption', jwk(rsa, { alg: 'RSA-OAEP' })],
    ['a JWK whose alg is not a string', jwk(rsa, { alg: 256 })],
    ['a JWK with the alg of another curve', jwk(p256, { alg: 'ES384' })],
    ['a JWK whose kid is not a string', jwk(p256, { kid: 7 })],
    ['an RSA key that would sign for minutes', jwk(rsa, randomNumbers(48_000))],
    ['an RSA key with slightly too many bits', jwk(rsa, { n: oddNumber(8200) })],
    ['an RSA key with a prime larger than its modulus', jwk(rsa, { p: oddNumber(60_000), dp: oddNumber(60_000) })],
    ['an RSA key with an exponent larger than its modulus', jwk(rsa, { e: oddNumber(800_000) })],
    ['a key with the certificate of another key', client.key + authority.ca.cert],
    ['a key with an expired certificate', expired.key + expired.cert],
    [
      'a key with a damaged certificate',
      `${pem(p256, 'pkcs8')}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`,
    ],
  ])('is named in the error, without its content: %s', async (_what, text) => {
    const error: unknown = await signAssertion(spec(text), 'svc', bounds()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidProfileError);
    const { issues } = error as InvalidProfileError;
    expect(issues).toEqual([
      {
        variable: 'svc.options.key_file',
        message: expect.stringMatching(/keys\/own\.pem.*\([\w .-]+\)$/),
        hint: expect.any(String),
      },
    ]);
    const shown = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error);
    expect(shown).not.toContain('hunter2');
    for (const line of text.split('\n')) if (/^[\w+/=]{32,}$/.test(line)) expect(shown).not.toContain(line);
  });
});

describe('the assertion of a jwt-bearer grant', () => {
  it('has the claims of the profile instead of the client (RFC 7523 §2.1, §3)', async () => {
    const claims = { sub: 'ada', box_sub_type: 'user' };
    const { payload } = await signed(pem(p256, 'pkcs8'), { claims, lifetimeMs: 45_000 });
    const { iat, exp, jti, ...others } = payload;
    expect(others).toEqual({ iss: 'my-client', aud: 'https://login.example.test/token', ...claims });
    expect(exp - iat).toBe(45);
    expect(jti).toMatch(/^[\w-]{16,}$/);
  });

  it('has neither an id nor a subject for Google', async () => {
    const { payload } = await signed(pem(rsa, 'pkcs8'), { claims: { scope: 'a b' }, omitsId: true });
    expect(Object.keys(payload).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'scope']);
  });
});

describe('signing', () => {
  // Node 24 rejects random numbers; generating a larger key would take longer than the test.
  const [major] = process.versions.node.split('.').map(Number);
  const slow =
    (major ?? 0) < 24 ? jwk(rsa, randomNumbers(6144)) : jwk(generateKeyPairSync('rsa', { modulusLength: 4096 }));

  it('D17 times out while the signature is still being computed', async () => {
    const error = await errorOf(signAssertion(spec(slow), 'svc', bounds(undefined, 1)));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
  });

  it('stops when it is aborted, and leaves no listener on the signal', async () => {
    const controller = new AbortController();
    const signing = errorOf(signAssertion(spec(slow), 'svc', bounds(controller.signal)));
    controller.abort('cancelled');
    expect(await signing).toMatchObject({ code: 'aborted', cause: 'cancelled' });
    const second = errorOf(signAssertion(spec(slow), 'svc', bounds(controller.signal)));
    expect(await second).toMatchObject({ code: 'aborted', cause: 'cancelled' });
    const other = new AbortController();
    await signAssertion(spec(jwk(p256)), 'svc', bounds(other.signal));
    expect(getEventListeners(other.signal, 'abort')).toHaveLength(0);
  });
});
