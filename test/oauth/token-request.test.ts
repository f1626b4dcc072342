import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';
import {
  buildTokenRequest,
  encode,
  encodeForm,
  type TokenRequest,
  withAssertion,
} from '../../src/oauth/token-request.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { anyText } from '../support/any-text.ts';
import { clear, outsideWith, readAcme } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const url = 'https://id.example.com/token';

describe('the request', () => {
  it.each(Object.entries(samples))('R1.2 D11 %s: a POST of a form that asks for JSON', (_, sample) => {
    const { method, headers } = buildTokenRequest(readAcme(sample), '1.2.3');
    const { Authorization: _auth, ...others } = headers;
    expect(method).toBe('POST');
    expect(others).toEqual({
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
      'User-Agent': 'oauth-profile/1.2.3',
    });
  });

  it('D11 is UTF-8, blanks as +', () => {
    const request = buildTokenRequest(readAcme({ type: 'custom', url, 'ä b': 'é&=+%20 €😀\r\n\0' }), '1');
    expect(encodeForm(request)).toBe('%C3%A4+b=%C3%A9%26%3D%2B%2520+%E2%82%AC%F0%9F%98%80%0D%0A%00');
  });

  it('encodes nothing that the standard leaves alone', () => {
    expect(encode("AZaz09-_.~!'()*")).toBe("AZaz09-_.~!'()*");
  });

  it('D14 any names and values come back exactly, each name once', () => {
    const names = anyText.filter(
      (name) => !/[.]/.test(name) && !['type', 'url', 'options', 'client_secret_basic'].includes(name),
    );
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

  it('D14 CR, LF and NUL never reach a header', () => {
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
            expect(clear(value)).toMatch(/^[\x20-\x7e]+$/);
          }
        },
      ),
    );
  });

  it('R2.2 an empty form is an empty body', () => {
    expect(encodeForm(buildTokenRequest(readAcme({ type: 'custom', url }), '1'))).toBe('');
  });

  it('D12 the assertion that was signed for this attempt takes its place', () => {
    const options = { client_auth: 'private_key_jwt', key_file: 'k' };
    const request = buildTokenRequest(readAcme({ ...samples.twitter, options }, outsideWith({ k: 'key' })), '1');
    const assertionOf = (body: string) => new URLSearchParams(body).getAll('client_assertion');
    expect(assertionOf(encodeForm(withAssertion(request, new Secret('first.of.all'))))).toEqual(['first.of.all']);
    expect(assertionOf(encodeForm(withAssertion(request, new Secret('second'))))).toEqual(['second']);
  });
});

describe('the request of a key', () => {
  const options = { client_auth: 'private_key_jwt', key_file: 'k' };
  const signed = readAcme({ ...samples.twitter, options }, outsideWith({ k: 'key' }));

  it('D12 has a place for the assertion, empty until it is signed', () => {
    const { form } = buildTokenRequest(signed, '1');
    expect(form.map(({ name, value, source }) => [name, clear(value), source]).slice(-2)).toEqual([
      ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', 'options.client_auth'],
      ['client_assertion', '', 'signed with k'],
    ]);
  });

  it.each([
    ['a key', { options: { ...signed.options, key: undefined } }],
    ['a client id', { fields: [] }],
  ])('is not made without %s, which no profile that was read lacks', (_, change) => {
    expect(() => buildTokenRequest({ ...signed, ...change }, '1')).toThrow('a profile without a key was not checked');
  });
});

describe('the size of a request', () => {
  const withValue = (length: number): TokenRequest =>
    buildTokenRequest(readAcme({ type: 'custom', url, v: 'a'.repeat(length) }), '1');

  it('D17 may be 256 KiB and no more', () => {
    expect(encodeForm(withValue(262_144 - 2))).toHaveLength(262_144);
    expect(() => encodeForm(withValue(262_144 - 1))).toThrow(OAuthProfileError);
    expect(() => encodeForm(withValue(262_144 - 1))).toThrow(
      expect.objectContaining({
        code: 'request_too_large',
        message: 'the request is larger than 262144 bytes',
        hint: 'a field holds far too much: look at the longest with explain',
      }),
    );
  });

  it('D17 counts bytes on the wire', () => {
    const request = buildTokenRequest(readAcme({ type: 'custom', url, v: '€'.repeat(30_000) }), '1');
    expect(() => encodeForm(request)).toThrow(expect.objectContaining({ code: 'request_too_large' }));
  });

  it('D17 counts what a Basic header carries', () => {
    const fields = { ...samples.twitter, client_secret: 's'.repeat(200_000) };
    expect(() => encodeForm(buildTokenRequest(readAcme(fields), '1'))).toThrow(
      expect.objectContaining({ code: 'request_too_large' }),
    );
  });

  it('D17 does not repeat the field that is too long', () => {
    try {
      encodeForm(withValue(300_000));
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify(error).length).toBeLessThan(300);
    }
  });
});
