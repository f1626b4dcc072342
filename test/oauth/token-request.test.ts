import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildBasicHeader,
  buildTokenRequest,
  encodeForm,
  encodeFormComponent,
  type TokenRequest,
  withFieldValue,
} from '../../src/oauth/token-request.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { anyText } from '../support/arbitraries.ts';
import { failureOf } from '../support/errors.ts';
import { decodeBasic, readAcme, reveal, samples } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

const url = 'https://id.example.com/token';
const signed = readAcme(
  { ...samples.twitter, options: { client_auth: 'private_key_jwt', key_file: 'k' } },
  createSources({ k: 'key' }),
);

describe('buildTokenRequest()', () => {
  it.each(Object.entries(samples))('R1.2 D11 posts the form of %s and accepts JSON', (_, sample) => {
    const { method, headers } = buildTokenRequest(readAcme(sample), '1.2.3');
    const { Authorization: _auth, ...others } = headers;
    expect(method).toBe('POST');
    expect(others).toEqual({
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
      'User-Agent': 'oauth-profile/1.2.3',
    });
  });

  it('D14 never puts CR, LF or NUL into a header', () => {
    fc.assert(
      fc.property(
        anyText,
        anyText,
        fc.constantFrom('client_secret_basic', 'client_secret_basic_raw'),
        (id, secret, client_auth) => {
          const basic = { user: id.replaceAll(':', ''), password: secret };
          const fields = { type: 'custom', url, basic, options: { client_auth } };
          if (/\$\{/.test(id + secret)) return;
          for (const value of Object.values(buildTokenRequest(readAcme(fields), '1').headers)) {
            expect(reveal(value)).toMatch(/^[\x20-\x7e]+$/);
          }
        },
      ),
    );
  });

  it('D12 leaves the assertion empty until it is signed', () => {
    const { form } = buildTokenRequest(signed, '1');
    expect(form.map(({ name, value, source }) => [name, reveal(value), source]).slice(-2)).toEqual([
      ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', 'options.client_auth'],
      ['client_assertion', '', 'signed with k'],
    ]);
  });

  it.each([
    ['a key', { options: { ...signed.options, key: undefined } }],
    ['a client id', { fields: [] }],
  ])('throws a TypeError for private_key_jwt without %s', (_, change) => {
    expect(() => buildTokenRequest({ ...signed, ...change }, '1')).toThrow(/private_key_jwt/);
  });
});

describe('withFieldValue()', () => {
  it('D12 replaces the assertion for each attempt', () => {
    const request = buildTokenRequest(signed, '1');
    const assertionOf = (body: string) => new URLSearchParams(body).getAll('client_assertion');
    expect(assertionOf(encodeForm(withFieldValue(request, 'client_assertion', new Secret('first.of.all'))))).toEqual([
      'first.of.all',
    ]);
    expect(assertionOf(encodeForm(withFieldValue(request, 'client_assertion', new Secret('second'))))).toEqual([
      'second',
    ]);
  });
});

describe('buildBasicHeader()', () => {
  it('D12 encodes with encodeURIComponent, which leaves -_.~ unchanged', () => {
    const header = buildBasicHeader('gloas-a_b.c~d', new Secret('p w+/:%ü'), true).reveal();
    expect(atob(header.replace('Basic ', ''))).toBe('gloas-a_b.c~d:p%20w%2B%2F%3A%25%C3%BC');
  });

  it('D12 sends plain UTF-8 if values are not encoded', () => {
    const header = buildBasicHeader(new Secret('ü'), 'p w+/:%€', false).reveal();
    expect(Buffer.from(header.replace('Basic ', ''), 'base64').toString('utf8')).toBe('ü:p w+/:%€');
  });

  it('D14 encodes any values so that a server decodes the same', () => {
    fc.assert(
      fc.property(anyText, anyText, (user, password) => {
        expect(decodeBasic(buildBasicHeader(user, new Secret(password), true).reveal())).toEqual([user, password]);
      }),
      { numRuns: 500 },
    );
  });

  it('accepts a secret of any length', () => {
    const long = 'x'.repeat(500_000);
    expect(decodeBasic(buildBasicHeader('u', long, true).reveal())?.[1]).toHaveLength(500_000);
  });

  it('prints as Basic ••••', () => {
    const header = buildBasicHeader('user', 'password', true);
    expect([`${header}`, JSON.stringify(header), inspect(header)]).toEqual([
      'Basic ••••',
      '"Basic ••••"',
      'Basic ••••',
    ]);
  });
});

describe('encodeForm()', () => {
  const withValue = (length: number): TokenRequest =>
    buildTokenRequest(readAcme({ type: 'custom', url, v: 'a'.repeat(length) }), '1');

  it('D11 encodes UTF-8, with + for a space', () => {
    const request = buildTokenRequest(readAcme({ type: 'custom', url, 'ä b': 'é&=+%20 €😀\r\n\0' }), '1');
    expect(encodeForm(request)).toBe('%C3%A4+b=%C3%A9%26%3D%2B%2520+%E2%82%AC%F0%9F%98%80%0D%0A%00');
  });

  it('separates fields with &', () => {
    const request = buildTokenRequest(readAcme({ type: 'custom', url, a: '1', b: '2', c: '' }), '1');
    expect(encodeForm(request)).toBe('a=1&b=2&c=');
  });

  it('R2.2 returns an empty body for an empty form', () => {
    expect(encodeForm(buildTokenRequest(readAcme({ type: 'custom', url }), '1'))).toBe('');
  });

  it('D14 encodes any fields so that a server decodes the same, each name once', () => {
    const names = anyText.filter((name) => !/[.]/.test(name) && !['type', 'url', 'options', 'basic'].includes(name));
    const values = anyText.filter((value) => !value.includes('${'));
    fc.assert(
      fc.property(fc.dictionary(names, values, { noNullPrototype: true }), (fields) => {
        const request = buildTokenRequest(readAcme({ ...fields, type: 'custom', url }), '1');
        const body = encodeForm(request);
        expect(body).toMatch(/^[\x21-\x7e]*$/);
        const decoded = [...new URLSearchParams(body)];
        const { grant_type, ...others } = fields;
        const expected = Object.entries(others);
        if (grant_type) expected.unshift(['grant_type', grant_type]);
        else if (grant_type === '') expected.push(['grant_type', '']);
        expect(new Map(decoded)).toEqual(new Map(expected));
        expect(decoded.length).toBe(expected.length);
      }),
      { numRuns: 500 },
    );
  });

  it('D17 accepts 256 KiB and rejects more', () => {
    expect(encodeForm(withValue(262_144 - 2))).toHaveLength(262_144);
    const error = failureOf(() => encodeForm(withValue(262_144 - 1)));
    expect(error.code).toBe('request_too_large');
    expect(error.message).toContain('262144');
    expect(error.hint).toContain('oauth-profile explain');
  });

  it('D17 counts encoded bytes', () => {
    const request = buildTokenRequest(readAcme({ type: 'custom', url, v: '€'.repeat(30_000) }), '1');
    expect(failureOf(() => encodeForm(request)).code).toBe('request_too_large');
  });

  it('D17 counts the Basic header', () => {
    const fields = { ...samples.twitter, client_secret: 's'.repeat(200_000) };
    expect(failureOf(() => encodeForm(buildTokenRequest(readAcme(fields), '1'))).code).toBe('request_too_large');
  });

  it('D17 does not repeat the long field in the error', () => {
    expect(JSON.stringify(failureOf(() => encodeForm(withValue(300_000)))).length).toBeLessThan(300);
  });
});

describe('encodeFormComponent()', () => {
  it('leaves unreserved characters unchanged', () => {
    expect(encodeFormComponent("AZaz09-_.~!'()*")).toBe("AZaz09-_.~!'()*");
  });

  it('encodes every space as +', () => {
    expect(encodeFormComponent(' a  b ')).toBe('+a++b+');
  });
});
