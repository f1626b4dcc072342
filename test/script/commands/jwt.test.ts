import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Value } from '../../../src/config/value.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { Authority } from '../../support/certificates.ts';
import { type Outcome, runStep, ScriptClock } from '../run-steps.ts';

const now = new ScriptClock().now() / 1000;
const LONG = 'a key that is long enough for HS256';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const [p256, p384, p521, ed] = [curve('P-256'), curve('P-384'), curve('P-521'), generateKeyPairSync('ed25519')];

const pem = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }) as string;
const jwk = (key: KeyObject, more = {}): Record<string, Value> => ({
  ...(key.export({ format: 'jwk' }) as object),
  ...more,
});
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function sign(
  alg: string,
  key: KeyObject | Uint8Array,
  claims: object = { sub: 'ada' },
  header = {},
): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg, ...header }).sign(key);
}

/** Signs a token with any header, as an attacker would. */
function forge(header: object, key: string, claims: object = { sub: 'eve' }, hash = 'sha256'): string {
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${createHmac(hash, key).update(input).digest('base64url')}`;
}

const parse = async (token: Value, key?: Value): Promise<Outcome & { message: string | undefined }> => {
  const outcome = await runStep(['ws.jwtParse', key === undefined ? ['x', token] : ['x', token, key]]);
  return { ...outcome, message: outcome.step.failure?.message };
};

describe('ws.jwtParse', () => {
  it('decodes a token without a key and preserves types', async () => {
    const claims = { sub: 'ada', exp: 5, roles: ['a', 'b'], nested: { yes: true, none: null }, name: 'Адa 😀' };
    const { saved } = await parse(new Secret(forge({ alg: 'HS256', typ: 'JWT' }, 'x', claims)));
    expect(saved('x')).toEqual({ header: { alg: 'HS256', typ: 'JWT' }, payload: claims });
  });

  it('wraps claims with sensitive names', async () => {
    const { saved } = await parse(forge({ alg: 'HS256' }, 'x', { refresh_token: 'hunter22' }));
    expect(saved('x')).toMatchObject({ payload: { refresh_token: { secret: 'hunter22' } } });
  });

  it('preserves all digits of a large number', async () => {
    const { variables } = await parse(
      `${part({ alg: 'none' })}.${Buffer.from('{"id":1234567890123456789}').toString('base64url')}.`,
    );
    expect(variables.get('x')?.value).toMatchObject({ payload: { id: { text: '1234567890123456789' } } });
  });

  it('does not resolve ${ in a claim', async () => {
    const { saved } = await parse(forge({ alg: 'HS256' }, 'x', { name: '${env:HOME}' }));
    expect(saved('x')).toMatchObject({ payload: { name: '${env:HOME}' } });
  });

  it.each<[token: string, message: string]>([
    ['', 'three parts'],
    ['opaque', 'three parts'],
    ['a.b.c.d', 'three parts'],
    ['a.b.c.d.e', 'JWE'],
    [`Bearer ${part({})}.${part({})}.`, 'header is not base64url'],
    [`${part({})}..x`, 'payload is not base64url'],
    [`${part({})}.${Buffer.from([0x7b, 0xff]).toString('base64url')}.x`, 'payload is not UTF-8'],
    [`${part({})}.${part([1])}.x`, 'payload is not a JSON object'],
    [`${part('x')}.${part({})}.x`, 'header is not a JSON object'],
    [`${part({})}.${Buffer.from('{"a":1,"a":2}').toString('base64url')}.x`, 'payload is not a JSON object'],
    [`${part({})}.${Buffer.from('['.repeat(9999)).toString('base64url')}.x`, 'payload is not a JSON object'],
  ])('D2 rejects %s and does not set the variable', async (token, message) => {
    const { step, saved } = await runStep(['ws.jwtParse', ['x', token]], { data: { x: 'before' } });
    expect(step.failure?.message).toContain(message);
    expect(saved('x')).toBe('before');
  });

  it.each<[alg: string, pair: { privateKey: KeyObject; publicKey: KeyObject }]>([
    ['RS256', rsa],
    ['RS384', rsa],
    ['RS512', rsa],
    ['PS256', rsa],
    ['PS384', rsa],
    ['PS512', rsa],
    ['ES256', p256],
    ['ES384', p384],
    ['ES512', p521],
    ['EdDSA', ed],
    ['Ed25519', ed],
  ])('verifies %s with PEM, JWK, JWKS and bare base64', async (alg, { privateKey, publicKey }) => {
    const token = await sign(alg, privateKey);
    const keys: Value[] = [
      pem(publicKey),
      pem(publicKey).replaceAll('\n', '\\n'),
      publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
      jwk(publicKey),
      JSON.stringify(jwk(publicKey)),
      new Secret(JSON.stringify(jwk(publicKey))),
      { keys: [jwk(otherRsa.publicKey), jwk(publicKey, { alg })] },
      JSON.stringify({ keys: [null, { kty: 'other' }, jwk(otherRsa.publicKey, { kid: 'b' }), jwk(publicKey)] }),
    ];
    for (const key of keys) expect(await parse(token, key)).toMatchObject({ message: undefined });
    const other = { ...jwk(publicKey), alg: alg === 'RS256' ? 'RS512' : 'RS256' };
    expect((await parse(token, other)).result.state).toBe('failed');
  });

  it('verifies with a certificate', async () => {
    const { cert, key } = new Authority().issue({ name: 'signer' });
    const token = await sign('ES256', createPrivateKey(key));
    const bare = cert.replace(/-----[^-]+-----/g, '');
    for (const given of [cert, bare]) expect((await parse(token, given)).message).toBeUndefined();
    expect((await parse(forge({ alg: 'HS256' }, bare), bare)).message).toContain('no key for alg "HS256"');
  });

  it.each(['HS256', 'HS384', 'HS512'])('verifies %s with a shared secret or an oct JWK', async (alg) => {
    const token = forge({ alg }, 'short', { sub: 'ada' }, `sha${alg.slice(2)}`);
    const k = Buffer.from('short').toString('base64url');
    for (const key of ['short', new Secret('short'), { kty: 'oct', k }, { keys: [{ kty: 'oct', k, alg }] }]) {
      expect(await parse(token, key)).toMatchObject({ message: undefined });
    }
    expect((await parse(token, 'Short')).message).toMatch(/signature is invalid/);
  });

  it('selects the key of a set by its kid', async () => {
    const token = await sign('RS256', rsa.privateKey, {}, { kid: 'a' });
    const set = (kid: string): Value => ({
      keys: [jwk(otherRsa.publicKey, { kid: 'z' }), jwk(rsa.publicKey, { kid })],
    });
    expect((await parse(token, set('a'))).message).toBeUndefined();
    expect((await parse(token, set('b'))).message).toContain('no key for alg "RS256" and kid "a"');
  });

  it('ignores encryption keys', async () => {
    const token = await sign('RS256', rsa.privateKey);
    expect((await parse(token, jwk(rsa.publicKey, { use: 'enc' }))).message).toBe('the key cannot be used');
  });

  describe('ignores the header of a token when it selects algorithms:', () => {
    const spki = rsa.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const rsaPem = pem(rsa.publicKey);
    it.each<[kind: string, token: string, key: Value]>([
      ['HS256 made with a public PEM', forge({ alg: 'HS256' }, rsaPem), rsaPem],
      ['HS256 made with a trimmed PEM', forge({ alg: 'HS256' }, rsaPem.trim()), rsaPem.trim()],
      [
        'HS256 made with a broken PEM',
        forge({ alg: 'HS256' }, '-----BEGIN PUBLIC KEY-----\nx'),
        '-----BEGIN PUBLIC KEY-----\nx',
      ],
      ['HS256 made with bare base64', forge({ alg: 'HS256' }, spki), spki],
      ['HS256 made with wrapped base64', forge({ alg: 'HS256' }, ` ${spki}\n`), ` ${spki}\n`],
      [
        'HS256 made with a JWK',
        forge({ alg: 'HS256' }, JSON.stringify(jwk(rsa.publicKey))),
        JSON.stringify(jwk(rsa.publicKey)),
      ],
      ['HS256 made with a broken JWK', forge({ alg: 'HS256' }, '{"kty":'), '{"kty":'],
      ['HS256 made with a list', forge({ alg: 'HS256' }, '[]'), '[]'],
      ['HS256 made with a URL', forge({ alg: 'HS256' }, 'https://example.com/jwks'), 'https://example.com/jwks'],
      ['none', `${part({ alg: 'none' })}.${part({})}.`, rsaPem],
      ['none with a string', `${part({ alg: 'none' })}.${part({})}.`, LONG],
      ['None', `${part({ alg: 'None' })}.${part({})}.`, LONG],
      ['no alg', forge({}, LONG), LONG],
      ['an alg that is a list', forge({ alg: ['HS256'] }, LONG), LONG],
      ['an alg of the language', forge({ alg: 'constructor' }, LONG), LONG],
      ['its own key', forge({ alg: 'HS256', jwk: { kty: 'oct', k: 'eA' } }, 'x'), LONG],
      ['a critical extension', forge({ alg: 'HS256', crit: ['b64'], b64: false }, LONG), LONG],
      ['an unknown critical extension', forge({ alg: 'HS256', crit: ['x'], x: 1 }, LONG), LONG],
      ['a cut signature', forge({ alg: 'HS256' }, LONG).slice(0, -2), LONG],
      ['no signature', `${forge({ alg: 'HS256' }, LONG).split('.').slice(0, 2).join('.')}.`, LONG],
    ])('%s', async (_, token, key) => {
      const { result, saved } = await parse(token, key);
      expect(result.state).toBe('failed');
      expect(saved('x')).toBeUndefined();
    });
  });

  it('rejects a token with a changed payload', async () => {
    const [header, , signature] = (await sign('ES256', p256.privateKey)).split('.');
    const { message } = await parse(`${header}.${part({ sub: 'eve' })}.${signature}`, pem(p256.publicKey));
    expect(message).toContain('signature is invalid');
  });

  it('reports the algorithms of the key', async () => {
    const { step } = await runStep(['ws.jwtParse', ['x', await sign('RS256', rsa.privateKey), pem(p256.publicKey)]]);
    expect(step.failure).toMatchObject({
      code: 'step_failed',
      expected: 'ES256',
      actual: '"RS256"',
    });
  });

  it.each<[claims: object, message: string | undefined]>([
    [{ exp: now + 1 }, undefined],
    [{ exp: now - 4 }, undefined],
    [{ exp: now - 5 }, 'the token has expired'],
    [{ exp: now - 3600 }, 'the token has expired'],
    [{ exp: 'never' }, 'the exp of the token is not a timestamp'],
    [{ exp: null }, 'the exp of the token is not a timestamp'],
    [{ nbf: now }, undefined],
    [{ nbf: now + 5 }, undefined],
    [{ nbf: now + 6 }, 'the token is not valid yet'],
    [{ nbf: '5' }, 'the nbf of the token is not a timestamp'],
    [{ exp: 1e300 }, undefined],
    [{ exp: -1e300 }, 'the token has expired'],
  ])('checks the timestamps %j', async (claims, message) => {
    expect((await parse(forge({ alg: 'HS256' }, LONG, claims), LONG)).message).toBe(message);
  });

  it('reports the expiry of a token', async () => {
    const { step } = await runStep(['ws.jwtParse', ['x', forge({ alg: 'HS256' }, LONG, { exp: 0 }), LONG]]);
    expect(step.failure?.actual).toBe('1970-01-01T00:00:00.000Z');
  });

  it.each<[key: Value, message: string]>([
    ['', 'the key is empty'],
    [null, 'the key is empty'],
    [new Secret(''), 'the key is empty'],
    ['{}', 'the key cannot be used'],
    ['{"keys":5}', 'the key cannot be used'],
    [{ keys: [] }, 'the key cannot be used'],
    [jwk(curve('secp256k1').publicKey), 'the key cannot be used'],
    [pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), 'the key cannot be used'],
    [pem(generateKeyPairSync('x25519').publicKey), 'the key cannot be used'],
    ['https://example.com/jwks', 'the key is a URL'],
  ])('rejects the key %j', async (key, message) => {
    expect((await parse(forge({ alg: 'HS256' }, 'x'), key)).message).toBe(message);
  });

  it('masks the token and the key, even if they are written in the script', async () => {
    const token = forge({ alg: 'HS256' }, LONG);
    const { result, events } = await parse(token, 'hunter22 and many letters more');
    const text = JSON.stringify([result, events]);
    expect(result.state).toBe('failed');
    for (const secret of ['hunter22', ...token.split('.')]) expect(text).not.toContain(secret);
  });
});

describe('ws.jwtSignHS256', () => {
  it.each<[kind: string, payload: Value, claims: string]>([
    ['a map', { sub: 'ada', n: 1, list: [true, null] }, '{"sub":"ada","n":1,"list":[true,null]}'],
    ['a JSON string', '{"id": 1234567890123456789}', '{"id": 1234567890123456789}'],
    ['a map with a secret', { nonce: new Secret('hunter22') }, '{"nonce":"hunter22"}'],
    ['a secret JSON string', new Secret('{"a":"ü"}'), '{"a":"ü"}'],
  ])('signs %s like another implementation', async (_, payload, claims) => {
    const { saved, step } = await runStep(['ws.jwtSignHS256', ['jwt', payload, new Secret(LONG)]]);
    const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${Buffer.from(claims).toString('base64url')}`;
    const signature = createHmac('sha256', LONG).update(input).digest('base64url');
    expect(saved('jwt')).toEqual({ secret: `${input}.${signature}` });
    expect(step.output).toEqual([]);
  });

  it('signs with a short key and logs a warning', async () => {
    const { step, saved } = await runStep(['ws.jwtSignHS256', ['jwt', { sub: 'ada' }, 'short']]);
    expect(step.state).toBe('passed');
    expect(step.output).toEqual([expect.stringContaining('shorter than 32 bytes')]);
    expect((saved('jwt') as { secret: string }).secret.split('.')).toHaveLength(3);
  });

  it('counts the bytes of a key, not its characters', async () => {
    expect((await runStep(['ws.jwtSignHS256', ['jwt', {}, 'ü'.repeat(16)]])).step.output).toEqual([]);
    expect((await runStep(['ws.jwtSignHS256', ['jwt', {}, 'u'.repeat(31)]])).step.output).toHaveLength(1);
  });

  it.each<[payload: Value, key: Value, message: string]>([
    [{}, '', 'the key is empty'],
    [[1], LONG, 'payload is not a JSON object'],
    ['[1]', LONG, 'payload is not a JSON object'],
    ['{', LONG, 'payload is not a JSON object'],
    ['', LONG, 'payload is not a JSON object'],
    [5, LONG, 'payload is not a JSON object'],
  ])('rejects the payload %j with the key %j', async (payload, key, message) => {
    const { step } = await runStep(['ws.jwtSignHS256', ['jwt', payload, key]]);
    expect(step.failure?.message).toContain(message);
  });

  it('masks a key that is written in the script', async () => {
    const { result, events } = await runStep(['ws.jwtSignHS256', ['jwt', '{', 'hunter22hunter22hunter22hunter22']]);
    expect(JSON.stringify([result, events])).not.toContain('hunter22');
  });
});
