import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { toTokenResponseError } from '../../src/oauth/explain-response.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import { buildTokenRequest, withAssertion } from '../../src/oauth/token-request.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { anyText } from '../support/any-text.ts';
import { encodings } from '../support/encodings.ts';
import { outsideWith, readAcme, refusalOf, replyWith } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

/** Everything of an error that a person or a log may get to see. */
function everythingOf(profile: Profile, reply: HttpResponse): string {
  const error = refusalOf(profile, reply);
  return [
    error.message,
    error.hint,
    error.stack,
    JSON.stringify(error),
    JSON.stringify(error.provider),
    inspect(error, { depth: 9, maxStringLength: null, breakLength: Number.POSITIVE_INFINITY }),
  ].join('\n');
}

/** Every place where a reply can repeat something. */
const places: Record<string, (echo: string) => HttpResponse> = {
  error: (echo) => replyWith(400, { error: echo }),
  error_description: (echo) => replyWith(400, { error: 'invalid_request', error_description: `got ${echo} from you` }),
  suberror: (echo) => replyWith(400, { error: 'x', suberror: echo }),
  error_subtype: (echo) => replyWith(400, { error: 'x', error_subtype: echo }),
  error_codes: (echo) => replyWith(400, { error: 'x', error_codes: [echo, [echo], { toString: echo }] }),
  correlation_id: (echo) => replyWith(400, { error: 'x', correlation_id: echo }),
  trace_id: (echo) => replyWith(400, { error: 'x', trace_id: echo }),
  'correlation id in a header': (echo) => replyWith(400, '', { 'x-request-id': `id ${echo}` }),
  'Location, path': (echo) => replyWith(302, '', { location: `https://a.example/${echo}/x` }),
  'Location, user': (echo) => replyWith(302, '', { location: `https://${echo}@a.example/` }),
  'Location, query': (echo) => replyWith(302, '', { location: `https://a.example/?s=${echo}` }),
  'Location, all of it': (echo) => replyWith(302, '', { location: echo }),
  'member names': (echo) => replyWith(200, { a: 1, [echo]: 2 }),
  'member names of a refusal': (echo) => replyWith(400, { error: 'x', [echo]: 2 }),
  'plain text': (echo) => replyWith(400, `We got ${echo} from you`),
  'plain text of a throttle': (echo) => replyWith(429, `slow down, ${echo}`),
  'plain text of an outage': (echo) => replyWith(500, `cannot bind ${echo}`),
  'HTML title': (echo) => replyWith(400, `<html><title>Bad ${echo} request</title>`),
  'HTML title of an outage': (echo) => replyWith(502, `<title>${echo}</title>`),
  'an error object': (echo) => replyWith(400, { error: { status: echo, message: echo, code: echo } }),
  'a list of errors': (echo) => replyWith(400, { errors: [{ code: echo, label: echo, message: echo }] }),
  'a list of sentences': (echo) => replyWith(400, { errors: [`got ${echo}`] }),
  "Okta's platform": (echo) => replyWith(400, { errorCode: echo, errorSummary: echo, errorId: echo }),
  'a problem document': (echo) => replyWith(400, { title: echo, detail: echo }),
  'a success without a token': (echo) => replyWith(200, `${echo}`),
};

const spellings: Record<string, (secret: string) => string> = {
  clear: (secret) => secret,
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'percent-encoded, lower case': (secret) => encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
  'form-encoded': (secret) => new URLSearchParams({ a: secret }).toString().slice(2),
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'JSON-escaped': (secret) => JSON.stringify(secret).slice(1, -1),
  'HTML-escaped': encodings['escaped for HTML'] as (secret: string) => string,
  hex: (secret) => Buffer.from(secret).toString('hex'),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 inside a longer text': (secret) => Buffer.from(`x${secret}y`).toString('base64'),
  'form-encoded, then base64': (secret) => Buffer.from(encodeURIComponent(secret)).toString('base64'),
};

const key = outsideWith({ k: 'key' });
const secret = 'Zq9-correct_horse "battery" <stapl€> & more/kX7';
/** Profiles that send the secret, each in another way. */
const senders: Record<string, DataObject> = {
  'client_secret in the body': { ...samples.microsoftClient, client_secret: secret },
  'client_secret in a Basic header': { ...samples.twitter, client_secret: secret },
  'client_secret in a raw Basic header': {
    ...samples.twitter,
    client_secret: secret,
    options: { client_auth: 'client_secret_basic_raw' },
  },
  'basic.password': { ...samples.custom, basic: { user: 'u', password: secret } },
  password: { ...samples.gitlabPassword, password: secret },
  'refresh_token of microsoft': { ...samples.microsoftRefresh, refresh_token: secret },
  'refresh_token of okta': { ...samples.oktaRefresh, refresh_token: secret },
  'a secret field of its own': { ...samples.custom, my_api_key: secret },
};

describe('a provider that repeats what it was sent', () => {
  it.each(Object.entries(senders))('does not get %s into the error, wherever and however it writes it', (_, fields) => {
    const profile = readAcme(fields);
    for (const [place, reply] of Object.entries(places)) {
      for (const [spelling, spell] of Object.entries(spellings)) {
        const echo = spell(secret);
        const shown = everythingOf(profile, reply(echo));
        for (let at = 0; at + 8 <= echo.length; at++) {
          const part = echo.slice(at, at + 8);
          if (shown.includes(part)) expect.fail(`${place}, ${spelling}: ${part} of ${echo} is shown`);
        }
      }
    }
  });

  it('does not get the Basic header into the error, with its name or without', () => {
    for (const fields of [
      samples.twitter,
      samples.oktaPassword,
      { ...samples.custom, basic: { user: 'me', password: 'abc' } },
    ]) {
      const profile = readAcme(fields);
      const [user, password] =
        'basic' in fields ? ['me', 'abc'] : [fields.client_id, encodeURIComponent(fields.client_secret)];
      const header = btoa(`${user}:${password}`);
      for (const reply of Object.values(places)) {
        expect(everythingOf(profile, reply(`Basic ${header}`))).not.toContain(header.slice(0, 10));
        expect(everythingOf(profile, reply(header))).not.toContain(header.slice(0, 10));
      }
    }
  });

  it('does not get an assertion into the error, though it was signed after the request was built', () => {
    const options = { client_auth: 'private_key_jwt', key_file: 'k' };
    const profile = readAcme({ ...samples.custom, options }, key);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const assertion = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iss: 'me', jti: 'x' })}.c2lnbmF0dXJl_-`;
    for (const reply of Object.values(places)) {
      for (const echo of [
        assertion,
        `client_assertion=${assertion}`,
        `client_assertion%3D${assertion}&x`,
        `"${assertion}"`,
      ]) {
        expect(everythingOf(profile, reply(echo))).not.toMatch(/eyJhbGci|c2lnbmF0/);
      }
    }
  });

  it('shows nothing of a secret at the cut, wherever that falls', () => {
    const profile = readAcme({ ...samples.microsoftRefresh, refresh_token: secret });
    for (const length of [0, 40, 60, 90, 99, 100, 101, 350, 370, 390, 395, 398, 399, 400, 401, 410]) {
      const echo = `${'n '.repeat(length / 2)}${secret} and more`;
      for (const reply of Object.values(places)) {
        expect(everythingOf(profile, reply(echo))).not.toMatch(/Zq9|kX7|horse/);
      }
    }
  });

  it('shows nothing of a secret where the search of a long text ends', () => {
    const profile = readAcme({ ...samples.microsoftRefresh, refresh_token: secret });
    const shown = (text: string) => everythingOf(profile, replyWith(400, text));
    for (const room of [1, 5, 20, secret.length - 1, secret.length]) {
      // Blanks count for the search but are trimmed from what is shown.
      expect(shown(`x${'\n'.repeat(65_536 - 1 - room)}${secret} y`)).not.toMatch(/Zq9|kX7|horse/);
    }
  });

  it('cannot put a passphrase together from lines', () => {
    const profile = readAcme({ ...samples.gitlabPassword, password: 'Zq9 correct horse kX7' });
    for (const wrapped of ['Zq9\ncorrect horse kX7', 'Zq9 correct\r\nhorse\tkX7']) {
      for (const reply of [places['plain text'], places['HTML title'], places['error_description']]) {
        expect(everythingOf(profile, reply?.(wrapped) as HttpResponse)).not.toMatch(/Zq9|kX7/);
      }
    }
  });

  it('cannot hide a secret in the host of a redirect, where capitals are lost', () => {
    const profile = readAcme({ ...samples.google, client_secret: 'GOCSPX-AbCdEfGhIj' });
    const reply = replyWith(302, '', { location: 'https://GOCSPX-AbCdEfGhIj.evil.com/' });
    expect(everythingOf(profile, reply)).not.toMatch(/gocspx|abcdefghij/i);
  });

  it('does not get any secret into the error', () => {
    const named = Object.entries(places).filter(([place]) => !place.startsWith('Location'));
    const secrets = anyText.filter((text) => !text.includes('${')).map((middle) => `Zq9xw${middle}vukX7`);
    fc.assert(
      fc.property(
        secrets,
        fc.constantFrom(...named),
        fc.constantFrom(...Object.keys(spellings).filter((name) => !/base64|hex/.test(name))),
        fc.constantFrom('client_secret', 'client_secret_basic'),
        fc.nat(420),
        (value, [, reply], spelling, way, filler) => {
          const fields =
            way === 'client_secret_basic'
              ? { ...samples.custom, basic: { user: 'u', password: value } }
              : { ...samples.microsoftClient, client_secret: value };
          const echo = `${'n'.repeat(filler)} ${spellings[spelling]?.(value)} n`;
          expect(everythingOf(readAcme(fields), reply(echo))).not.toMatch(/Zq9xw|vukX7/);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gets everything else into the error as it is', () => {
    const profile = readAcme({ ...samples.twitter, client_secret: secret });
    const error = refusalOf(
      profile,
      replyWith(400, { error: 'x', error_description: `app xKey sent ${secret}, why?` }),
    );
    expect(error.provider.description).toBe('app xKey sent ••••, why?');
  });
});

describe('a provider that fails while it gives a token', () => {
  const profile = readAcme(samples.custom);
  const fresh = '2YotnFZFEjr1zCsicMWpAA';
  const cut = (reply: object, left = 3): string => JSON.stringify(reply).slice(0, -left);

  it.each<[string, HttpResponse]>([
    ['a cut JSON text', replyWith(500, cut({ access_token: fresh, token_type: 'Bearer' }))],
    ['a cut JSON text that ends in the token', replyWith(500, `{"token_type":"Bearer","access_token":"${fresh}`)],
    ['a cut JSON text with blanks', replyWith(500, `{ "access_token" : "${fresh}", "x": `)],
    ['a cut JSON text that nests it', replyWith(500, cut({ data: { token: { type: 'x', value: fresh } } }))],
    ['a cut JSON text with a list', replyWith(500, cut({ tokens: ['none', fresh], more: 1 }))],
    ['JSON in a JSON text that is cut', replyWith(500, cut({ got: JSON.stringify({ access_token: fresh }), more: 1 }))],
    ['a form among words', replyWith(502, `upstream said access_token=${fresh}&token_type=bearer`)],
    ['an encoded form among words', replyWith(502, `upstream said access_token%3D${fresh}%26x`)],
    ['a word in a sentence', replyWith(500, `cannot keep refresh_token: ${fresh}`)],
    ['a form with an error', replyWith(400, `access_token=${fresh}&error=x&error_description=${fresh}+failed`)],
    [
      'a member beside the error',
      replyWith(400, { error: 'x', error_description: `no ${fresh}`, access_token: fresh }),
    ],
    [
      'a member below the error',
      replyWith(400, { error: 'x', suberror: fresh, extra: { refresh_token: { value: fresh } } }),
    ],
    ['a member of a success with an error', replyWith(200, { error: fresh, id_token: fresh })],
    ['hex of a member', replyWith(500, { error: Buffer.from(fresh).toString('hex'), access_token: fresh })],
    [
      'a description alone',
      replyWith(500, { error: 'x', error_description: `got token=${fresh}, client_secret='${fresh}'` }),
    ],
    ['a description with JSON', replyWith(500, { error: 'x', error_description: `got {"password":"${fresh}"}` })],
    ['the title of a page', replyWith(500, `<title>token=${fresh}</title>`)],
    ['a name of a member', replyWith(200, { [fresh]: 1, scope: 'x' })],
    ['a name of a member that is long', replyWith(200, { ['abcdefghij'.repeat(6)]: 1, [`x${fresh}`]: 2 })],
    ['a name of a member beside its value', replyWith(200, { tokenvalue: 1, refresh_token: 'tokenvalue' })],
  ])('does not get it into the error: %s', (_, reply) => {
    expect(everythingOf(profile, reply)).not.toMatch(
      new RegExp(`${fresh}|${Buffer.from(fresh).toString('hex')}|abcdefghij|tokenvalue`),
    );
  });

  it.each<[string, unknown, string]>([
    ['a sentence about tokens', 'the token: expired, get another', 'the token: expired, get another'],
    ['a code', { errors: [{ code: 'E_LONG_CODE_12', message: 'no' }] }, 'no'],
    [
      'what comes before it',
      { error: 'x', error_description: 'user=ada token=abc page=7' },
      'user=ada token=•••• page=7',
    ],
    [
      'other names',
      { error: 'x', error_description: 'token_type=bearer url=https://a' },
      'token_type=bearer url=https://a',
    ],
  ])('still says what is harmless: %s', (what, body, expected) => {
    const { description, error } = refusalOf(profile, replyWith(400, body)).provider;
    // In plain text nobody can tell where a secret would end.
    expect(description).toBe(what === 'a sentence about tokens' ? 'the token:••••' : expected);
    if (what === 'a code') expect(error).toBe('E_LONG_CODE_12');
  });

  it.each([
    ['the token: expired, get another', 'the token: expired, get another'],
    ['the token:  expired', 'the token:  expired'],
    ['the token:expired', 'the token:••••'],
    ['the token= expired', 'the token= ••••'],
    ['the token: "expired"', 'the token: "••••"'],
    ['the token: expired7', 'the token: ••••'],
    [`the token: ${'x'.repeat(19)}`, `the token: ${'x'.repeat(19)}`],
    [`the token: ${'x'.repeat(20)}`, 'the token: ••••'],
    ['the page: 7', 'the page: 7'],
  ])('takes a word after a colon and a blank for the rest of a sentence: %s', (said, shown) => {
    const { description } = refusalOf(profile, replyWith(400, { error: 'x', error_description: said })).provider;
    expect(description).toBe(shown);
  });

  it('cuts a plain text at the first name of a secret, however much follows', () => {
    const text = `${'n '.repeat(150)}password: ${'n '.repeat(40_000)}`;
    expect(refusalOf(profile, replyWith(400, text)).provider.description).toBe(`${'n '.repeat(150)}password:••••`);
    const late = `${'n '.repeat(32_768)}password: x`;
    expect(refusalOf(profile, replyWith(400, late)).provider.description).toHaveLength(400);
  });

  it('still names the members that look like names', () => {
    const error = refusalOf(profile, replyWith(200, { expiresIn: 1, 'x-oauth2-scopes': 2, token_type: 3, _links: 4 }));
    expect(error.message).toContain('(it sent expiresIn, x-oauth2-scopes, token_type, _links)');
  });
});

describe('what was added to the request when it was sent', () => {
  const spelled = (text: string): string[] => [
    text,
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('base64'),
    Buffer.from(`x${text}`).toString('base64url'),
  ];

  it('a signed assertion does not get into the error, in hex or base64 either', () => {
    const options = { client_auth: 'private_key_jwt', key_file: 'k' };
    const profile = readAcme({ ...samples.custom, options }, key);
    const assertion = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJtZSJ9.c2lnbmF0dXJlX3NpZ25hdHVyZQ';
    const request = withAssertion(buildTokenRequest(profile, '1'), new Secret(assertion));
    for (const echo of spelled(assertion)) {
      for (const reply of Object.values(places)) {
        const error = toTokenResponseError(profile, request, reply(echo), 0);
        expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain(echo.slice(8, 28));
      }
    }
  });

  it("a proxy's password does not get into the error", () => {
    const profile = readAcme(samples.custom);
    for (const echo of spelled('c4n4ry-of-the-proxy')) {
      const reply = { ...replyWith(403, `no access for ${echo}`), secrets: [new Secret('c4n4ry-of-the-proxy')] };
      expect(everythingOf(profile, reply)).not.toContain(echo.slice(4, 16));
    }
  });
});
