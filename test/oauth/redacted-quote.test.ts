import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import { buildTokenRequest, withFieldValue } from '../../src/oauth/token-request.ts';
import { parseTokenResponse } from '../../src/oauth/token-response.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { anyText } from '../support/arbitraries.ts';
import { encodings } from '../support/leaks.ts';
import { createResponse, providerErrorFor, readAcme, samples } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

/** Everything of an error that a user or a log may show. */
function printError(profile: Profile, response: HttpResponse): string {
  const error = providerErrorFor(profile, response);
  return [
    error.message,
    error.hint,
    error.stack,
    JSON.stringify(error),
    JSON.stringify(error.provider),
    inspect(error, { depth: 9, maxStringLength: null, breakLength: Number.POSITIVE_INFINITY }),
  ].join('\n');
}

/** Every place of a response that can repeat a value. */
const places: Record<string, (echo: string) => HttpResponse> = {
  error: (echo) => createResponse(400, { error: echo }),
  error_description: (echo) =>
    createResponse(400, { error: 'invalid_request', error_description: `got ${echo} from you` }),
  suberror: (echo) => createResponse(400, { error: 'x', suberror: echo }),
  error_subtype: (echo) => createResponse(400, { error: 'x', error_subtype: echo }),
  error_codes: (echo) => createResponse(400, { error: 'x', error_codes: [echo, [echo], { toString: echo }] }),
  correlation_id: (echo) => createResponse(400, { error: 'x', correlation_id: echo }),
  trace_id: (echo) => createResponse(400, { error: 'x', trace_id: echo }),
  'correlation id in a header': (echo) => createResponse(400, '', { 'x-request-id': `id ${echo}` }),
  'Location, path': (echo) => createResponse(302, '', { location: `https://a.example/${echo}/x` }),
  'Location, user': (echo) => createResponse(302, '', { location: `https://${echo}@a.example/` }),
  'Location, query': (echo) => createResponse(302, '', { location: `https://a.example/?s=${echo}` }),
  'Location, all of it': (echo) => createResponse(302, '', { location: echo }),
  'member names': (echo) => createResponse(200, { a: 1, [echo]: 2 }),
  'member names of an error response': (echo) => createResponse(400, { error: 'x', [echo]: 2 }),
  'plain text': (echo) => createResponse(400, `We got ${echo} from you`),
  'plain text with status 429': (echo) => createResponse(429, `slow down, ${echo}`),
  'plain text with status 500': (echo) => createResponse(500, `cannot bind ${echo}`),
  'HTML title': (echo) => createResponse(400, `<html><title>Bad ${echo} request</title>`),
  'HTML title with status 502': (echo) => createResponse(502, `<title>${echo}</title>`),
  'an error object': (echo) => createResponse(400, { error: { status: echo, message: echo, code: echo } }),
  'a list of errors': (echo) => createResponse(400, { errors: [{ code: echo, label: echo, message: echo }] }),
  'a list of strings': (echo) => createResponse(400, { errors: [`got ${echo}`] }),
  "Okta's platform": (echo) => createResponse(400, { errorCode: echo, errorSummary: echo, errorId: echo }),
  'a problem document': (echo) => createResponse(400, { title: echo, detail: echo }),
  'a response without a token': (echo) => createResponse(200, `${echo}`),
};

const echoEncodings: Record<string, (secret: string) => string> = {
  plain: (secret) => secret,
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'percent-encoded, lower case': (secret) => encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
  'form-encoded': (secret) => new URLSearchParams({ a: secret }).toString().slice(2),
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'JSON-escaped': (secret) => JSON.stringify(secret).slice(1, -1),
  'HTML-escaped': encodings['escaped for HTML'] as (secret: string) => string,
  hex: (secret) => Buffer.from(secret).toString('hex'),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 inside a longer string': (secret) => Buffer.from(`x${secret}y`).toString('base64'),
  'form-encoded, then base64': (secret) => Buffer.from(encodeURIComponent(secret)).toString('base64'),
};

const key = createSources({ k: 'key' });
const secret = 'Zq9-correct_horse "battery" <stapl€> & more/kX7';
/** Profiles that send the secret, each in another field. */
const profiles: Record<string, DataObject> = {
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
  'another sensitive field': { ...samples.custom, my_api_key: secret },
};

describe('an error response that repeats the request', () => {
  it.each(Object.entries(profiles))('does not reveal %s, in any place and encoding', (_, fields) => {
    const profile = readAcme(fields);
    for (const [place, respond] of Object.entries(places)) {
      for (const [encoding, encode] of Object.entries(echoEncodings)) {
        const echo = encode(secret);
        const shown = printError(profile, respond(echo));
        for (let at = 0; at + 8 <= echo.length; at++) {
          const part = echo.slice(at, at + 8);
          if (shown.includes(part)) expect.fail(`${place}, ${encoding}: ${part} of ${echo} is shown`);
        }
      }
    }
  });

  it('does not reveal the Basic header, with or without its scheme', () => {
    for (const fields of [
      samples.twitter,
      samples.oktaPassword,
      { ...samples.custom, basic: { user: 'me', password: 'abc' } },
    ]) {
      const profile = readAcme(fields);
      const [user, password] =
        'basic' in fields ? ['me', 'abc'] : [fields.client_id, encodeURIComponent(fields.client_secret)];
      const header = btoa(`${user}:${password}`);
      for (const respond of Object.values(places)) {
        expect(printError(profile, respond(`Basic ${header}`))).not.toContain(header.slice(0, 10));
        expect(printError(profile, respond(header))).not.toContain(header.slice(0, 10));
      }
    }
  });

  it('does not reveal an assertion that was signed after the request was built', () => {
    const options = { client_auth: 'private_key_jwt', key_file: 'k' };
    const profile = readAcme({ ...samples.custom, options }, key);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const assertion = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iss: 'me', jti: 'x' })}.c2lnbmF0dXJl_-`;
    for (const respond of Object.values(places)) {
      for (const echo of [
        assertion,
        `client_assertion=${assertion}`,
        `client_assertion%3D${assertion}&x`,
        `"${assertion}"`,
      ]) {
        expect(printError(profile, respond(echo))).not.toMatch(/eyJhbGci|c2lnbmF0/);
      }
    }
  });

  it('does not reveal part of a secret where the description is truncated', () => {
    const profile = readAcme({ ...samples.microsoftRefresh, refresh_token: secret });
    for (const length of [0, 40, 60, 90, 99, 100, 101, 350, 370, 390, 395, 398, 399, 400, 401, 410]) {
      const echo = `${'n '.repeat(length / 2)}${secret} and more`;
      for (const respond of Object.values(places)) {
        expect(printError(profile, respond(echo))).not.toMatch(/Zq9|kX7|horse/);
      }
    }
  });

  it('does not reveal part of a secret where the search of a long body ends', () => {
    const profile = readAcme({ ...samples.microsoftRefresh, refresh_token: secret });
    const shown = (text: string) => printError(profile, createResponse(400, text));
    for (const room of [1, 5, 20, secret.length - 1, secret.length]) {
      // Whitespace counts for the search but is removed from what is shown.
      expect(shown(`x${'\n'.repeat(65_536 - 1 - room)}${secret} y`)).not.toMatch(/Zq9|kX7|horse/);
    }
  });

  it('does not reveal a passphrase that is wrapped', () => {
    const profile = readAcme({ ...samples.gitlabPassword, password: 'Zq9 correct horse kX7' });
    for (const wrapped of ['Zq9\ncorrect horse kX7', 'Zq9 correct\r\nhorse\tkX7']) {
      for (const respond of [places['plain text'], places['HTML title'], places['error_description']]) {
        expect(printError(profile, respond?.(wrapped) as HttpResponse)).not.toMatch(/Zq9|kX7/);
      }
    }
  });

  it('does not reveal a secret in the host of a redirect, which is in lower case', () => {
    const profile = readAcme({ ...samples.google, client_secret: 'GOCSPX-AbCdEfGhIj' });
    const response = createResponse(302, '', { location: 'https://GOCSPX-AbCdEfGhIj.evil.com/' });
    expect(printError(profile, response)).not.toMatch(/gocspx|abcdefghij/i);
  });

  it('does not reveal any secret', () => {
    const named = Object.entries(places).filter(([place]) => !place.startsWith('Location'));
    const secrets = anyText.filter((text) => !text.includes('${')).map((middle) => `Zq9xw${middle}vukX7`);
    fc.assert(
      fc.property(
        secrets,
        fc.constantFrom(...named),
        fc.constantFrom(...Object.keys(echoEncodings).filter((name) => !/base64|hex/.test(name))),
        fc.constantFrom('client_secret', 'client_secret_basic'),
        fc.nat(420),
        (value, [, respond], encoding, method, filler) => {
          const fields =
            method === 'client_secret_basic'
              ? { ...samples.custom, basic: { user: 'u', password: value } }
              : { ...samples.microsoftClient, client_secret: value };
          const echo = `${'n'.repeat(filler)} ${echoEncodings[encoding]?.(value)} n`;
          expect(printError(readAcme(fields), respond(echo))).not.toMatch(/Zq9xw|vukX7/);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('shows everything else unchanged', () => {
    const profile = readAcme({ ...samples.twitter, client_secret: secret });
    const error = providerErrorFor(
      profile,
      createResponse(400, { error: 'x', error_description: `app xKey sent ${secret}, why?` }),
    );
    expect(error.provider.description).toBe('app xKey sent ••••, why?');
  });
});

describe('an error response that contains a token', () => {
  const profile = readAcme(samples.custom);
  const issued = '2YotnFZFEjr1zCsicMWpAA';
  const truncate = (body: object, length = 3): string => JSON.stringify(body).slice(0, -length);

  it.each<[string, HttpResponse]>([
    ['truncated JSON', createResponse(500, truncate({ access_token: issued, token_type: 'Bearer' }))],
    ['truncated JSON that ends in the token', createResponse(500, `{"token_type":"Bearer","access_token":"${issued}`)],
    ['truncated JSON with whitespace', createResponse(500, `{ "access_token" : "${issued}", "x": `)],
    ['truncated JSON that nests it', createResponse(500, truncate({ data: { token: { type: 'x', value: issued } } }))],
    ['truncated JSON with a list', createResponse(500, truncate({ tokens: ['none', issued], more: 1 }))],
    [
      'JSON in truncated JSON',
      createResponse(500, truncate({ got: JSON.stringify({ access_token: issued }), more: 1 })),
    ],
    ['a form in text', createResponse(502, `upstream said access_token=${issued}&token_type=bearer`)],
    ['an encoded form in text', createResponse(502, `upstream said access_token%3D${issued}%26x`)],
    ['a value in a sentence', createResponse(500, `cannot store refresh_token: ${issued}`)],
    ['a form with an error', createResponse(400, `access_token=${issued}&error=x&error_description=${issued}+failed`)],
    [
      'a member next to the error',
      createResponse(400, { error: 'x', error_description: `no ${issued}`, access_token: issued }),
    ],
    [
      'a member below the error',
      createResponse(400, { error: 'x', suberror: issued, extra: { refresh_token: { value: issued } } }),
    ],
    ['a member of a 200 with an error', createResponse(200, { error: issued, id_token: issued })],
    ['hex of a member', createResponse(500, { error: Buffer.from(issued).toString('hex'), access_token: issued })],
    [
      'a description alone',
      createResponse(500, { error: 'x', error_description: `got token=${issued}, client_secret='${issued}'` }),
    ],
    ['a description with JSON', createResponse(500, { error: 'x', error_description: `got {"password":"${issued}"}` })],
    ['the title of a page', createResponse(500, `<title>token=${issued}</title>`)],
    ['a name of a member', createResponse(200, { [issued]: 1, scope: 'x' })],
    ['a name of a member that is long', createResponse(200, { ['abcdefghij'.repeat(6)]: 1, [`x${issued}`]: 2 })],
    ['a name of a member that is also a value', createResponse(200, { tokenvalue: 1, refresh_token: 'tokenvalue' })],
  ])('does not reveal the token: %s', (_, response) => {
    expect(printError(profile, response)).not.toMatch(
      new RegExp(`${issued}|${Buffer.from(issued).toString('hex')}|abcdefghij|tokenvalue`),
    );
  });

  it.each<[string, unknown, string]>([
    ['a sentence about tokens', 'the token: expired, get another', 'the token: expired, get another'],
    ['a code', { errors: [{ code: 'E_LONG_CODE_12', message: 'no' }] }, 'no'],
    ['text around it', { error: 'x', error_description: 'user=ada token=abc page=7' }, 'user=ada token=•••• page=7'],
    [
      'other names',
      { error: 'x', error_description: 'token_type=bearer url=https://a' },
      'token_type=bearer url=https://a',
    ],
  ])('shows what is harmless: %s', (what, body, expected) => {
    const { description, error } = providerErrorFor(profile, createResponse(400, body)).provider;
    // In plain text the end of a secret cannot be determined.
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
  ])('treats a word after a colon and a space as the rest of a sentence: %s', (text, shown) => {
    const { description } = providerErrorFor(
      profile,
      createResponse(400, { error: 'x', error_description: text }),
    ).provider;
    expect(description).toBe(shown);
  });

  it('truncates plain text after the first sensitive name', () => {
    const text = `${'n '.repeat(150)}password: ${'n '.repeat(40_000)}`;
    expect(providerErrorFor(profile, createResponse(400, text)).provider.description).toBe(
      `${'n '.repeat(150)}password:••••`,
    );
    const atEnd = `${'n '.repeat(32_768)}password: x`;
    expect(providerErrorFor(profile, createResponse(400, atEnd)).provider.description).toHaveLength(400);
  });

  it('shows members that look like names', () => {
    const error = providerErrorFor(
      profile,
      createResponse(200, { expiresIn: 1, 'x-oauth2-scopes': 2, token_type: 3, _links: 4 }),
    );
    expect(error.message).toContain('expiresIn, x-oauth2-scopes, token_type, _links');
  });
});

describe('an error response that repeats what was added when the request was sent', () => {
  const encodeAll = (text: string): string[] => [
    text,
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('base64'),
    Buffer.from(`x${text}`).toString('base64url'),
  ];

  it('does not reveal the assertion, hex and base64 included', () => {
    const options = { client_auth: 'private_key_jwt', key_file: 'k' };
    const profile = readAcme({ ...samples.custom, options }, key);
    const assertion = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJtZSJ9.c2lnbmF0dXJlX3NpZ25hdHVyZQ';
    const request = withFieldValue(buildTokenRequest(profile, '1'), 'client_assertion', new Secret(assertion));
    for (const echo of encodeAll(assertion)) {
      for (const respond of Object.values(places)) {
        const exchange = { profile, request, response: respond(echo), receivedAt: 0 };
        try {
          parseTokenResponse(exchange);
          expect.unreachable();
        } catch (error) {
          expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain(echo.slice(8, 28));
        }
      }
    }
  });

  it('does not reveal the password of a proxy', () => {
    const profile = readAcme(samples.custom);
    for (const echo of encodeAll('c4n4ry-of-the-proxy')) {
      const response = {
        ...createResponse(403, `no access for ${echo}`),
        secrets: [new Secret('c4n4ry-of-the-proxy')],
      };
      expect(printError(profile, response)).not.toContain(echo.slice(4, 16));
    }
  });
});
