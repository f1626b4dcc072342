import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorResponse } from '../../src/errors.ts';
import { createResponse, providerErrorFor, readAcme, samples } from '../support/profiles.ts';

const profile = readAcme(samples.custom);
const memberNames = [
  ...['error', 'error_description', 'error_codes', 'suberror', 'correlation_id', 'errors', 'errorCode'],
  ...['errorSummary', 'title', 'detail', 'message', 'code'],
];

/** The parsed error response, without members that are undefined. */
function parse(status: number, body: unknown, headers = {}): Partial<ErrorResponse> {
  const { provider } = providerErrorFor(profile, createResponse(status, body, headers));
  return JSON.parse(JSON.stringify(provider));
}

describe('parseErrorResponse()', () => {
  it('returns printable strings of limited length for any JSON object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...memberNames), fc.jsonValue()), (members) => {
        const { error, description, codes = [], suberror, correlationId } = parse(400, members);
        for (const text of [error, suberror, correlationId, ...codes]) {
          expect(text ?? 'x').toMatch(/^[^\u0000-\u001f]{1,100}$/);
        }
        expect(description ?? 'x').toMatch(/^[^\u0000-\u001f]{1,400}$/);
      }),
    );
  });

  it.each([
    ['with claims', { claims: '{"access_token":{}}' }, true],
    ['without claims', {}, undefined],
  ])("recognizes Microsoft's claims challenge: %s", (_, members, expected) => {
    const { provider } = providerErrorFor(profile, createResponse(400, { error: 'interaction_required', ...members }));
    expect(provider.claims).toBe(expected);
  });

  it('finds the codes in a description of Microsoft', () => {
    const body = { error: 'a', error_description: 'AADSTS7000215: Invalid. See AADSTS7000222, AADSTSx.' };
    expect(parse(400, body).codes).toEqual(['AADSTS7000215', 'AADSTS7000222']);
  });

  it.each([
    ['the standard format', { error: 'a', error_description: 'b', error_uri: 'c' }, { error: 'a', description: 'b' }],
    ['an error alone', { error: 'a' }, { error: 'a' }],
    ['an error with a message', { error: 'a', message: 'b' }, { error: 'a', description: 'b' }],
    ['an error that is a number', { error: 403, error_description: 'b' }, { error: '403', description: 'b' }],
    ['a description alone', { error_description: 'b' }, { description: 'b' }],
    ['an error object', { error: { code: 1, message: 'b', status: 'S' } }, { error: 'S', description: 'b' }],
    ['an error object with a type', { error: { type: 'T', message: 'b' } }, { error: 'T', description: 'b' }],
    ['an error object with a code', { error: { code: 190, message: 'b' } }, { error: '190', description: 'b' }],
    ['an empty error object', { error: {} }, {}],
    ['an error that is a list', { error: ['a'] }, {}],
    ['an error that is true', { error: true, error_description: 'b' }, { description: 'b' }],
    ["Okta's platform", { errorCode: 'E1', errorSummary: 'b' }, { error: 'E1', codes: ['E1'], description: 'b' }],
    [
      'a list of errors',
      { errors: [{ code: 1, label: 'l', message: 'b' }, { code: 2 }, null, 'x'] },
      { error: 'l', codes: ['1', '2'], description: 'b' },
    ],
    ['a list of strings', { errors: ['b', 'c'] }, { description: 'b' }],
    ['a list of null', { errors: [null] }, {}],
    ['a problem document', { type: 'about:blank', title: 'T', detail: 'b' }, { error: 'T', description: 'b' }],
    ['a message', { message: '401 Unauthorized' }, { description: '401 Unauthorized' }],
    ['a code and a message', { code: 'c', message: 'b' }, { error: 'c', description: 'b' }],
    ['an object without known members', { a: 1 }, {}],
    ['a form', 'error=a&error_description=b+c', { error: 'a', description: 'b c' }],
    ['plain text', 'Too Many Requests', { description: 'Too Many Requests' }],
    ['plain text of several lines', 'a\r\n\tb\n', { description: 'a b' }],
    ['HTML', '<html><head><TITLE id="x"> 502 Bad\nGateway </TITLE>', { description: '502 Bad Gateway' }],
    ['HTML without a title', '<html><p>x</p>', { description: 'an HTML page without a title' }],
    ['HTML with an empty title', '<title></title>', { description: 'an HTML page without a title' }],
    ['an empty body', '', {}],
    ['truncated JSON', '{"error":"a"', { description: '{"error":"a"' }],
    ['a list', '["a"]', { description: '["a"]' }],
    ['members that are not strings', { error: 'a', error_description: { x: 1 }, suberror: [1] }, { error: 'a' }],
  ])('parses %s', (_, body, expected) => {
    expect(parse(400, body)).toEqual({ status: 400, ...expected });
  });

  it.each([
    [{ correlation_id: 'a', trace_id: 'b', errorId: 'c' }, 'a'],
    [{ trace_id: 'b' }, 'b'],
    [{ errorId: 'c' }, 'c'],
    [{}, 'from-header'],
    ['plain text', 'from-header'],
    ['', 'from-header'],
    ['<html>', 'from-header'],
  ])('takes the correlation id from the body %j, else from the header: %s', (body, id) => {
    const full = typeof body === 'string' ? body : { error: 'x', ...body };
    expect(parse(400, full, { 'x-ms-request-id': 'from-header' }).correlationId).toBe(id);
  });

  it.each([
    'x-ms-request-id',
    'x-okta-request-id',
    'x-request-id',
    'x-correlation-id',
    'x-transaction-id',
    'x-gitlab-meta-correlation-id',
  ])('takes the correlation id from the header %s', (name) => {
    expect(parse(500, 'x', { [name]: 'id-1' }).correlationId).toBe('id-1');
  });

  it('truncates codes to 100 and descriptions to 400 characters', () => {
    const { error, description, suberror, correlationId } = parse(400, {
      error: 'e'.repeat(1000),
      error_description: 'd'.repeat(100_000),
      suberror: 's'.repeat(1000),
      correlation_id: 'c'.repeat(1000),
    });
    expect(error).toBe(`${'e'.repeat(99)}…`);
    expect(description).toBe(`${'d'.repeat(399)}…`);
    expect([suberror?.length, correlationId?.length]).toEqual([100, 100]);
    expect(parse(400, 'x'.repeat(1000)).description).toHaveLength(400);
    expect(parse(400, `<title>${'t'.repeat(1000)}`).description).toHaveLength(400);
  });

  it('returns at most eight codes', () => {
    const many = Array.from({ length: 5000 }, (_, code) => ({ code }));
    expect(parse(400, { errors: many }).codes).toHaveLength(8);
    expect(parse(400, { error: 'a', error_codes: many.map(({ code }) => code) }).codes).toHaveLength(8);
  });

  it('parses hostile pages in linear time', () => {
    expect(parse(400, '<title'.repeat(150_000)).description).toBe('an HTML page without a title');
    expect(parse(400, `<${'-eyJ'.repeat(250_000)}`).description).toBe('an HTML page without a title');
  });

  it('escapes control characters and bidi marks', () => {
    const hostile = 'a\u001b[31mb\u0007\u0000c\u202e\u2066d\u200be\ud800\r\nf';
    const escaped = 'a\\u001b[31mb\\u0007\\u0000c\\u202e\\u2066d\\u200be\\ud800 f';
    const error = providerErrorFor(
      profile,
      createResponse(400, { error: hostile, error_description: hostile, suberror: hostile, correlation_id: hostile }),
    );
    expect(error.provider).toMatchObject({
      error: escaped,
      description: escaped,
      suberror: escaped,
      correlationId: escaped,
    });
    expect(error.message).toContain(`(HTTP 400, ${escaped}: ${escaped})`);
  });
});
