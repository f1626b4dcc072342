import { describe, expect, it } from 'vitest';
import type { ErrorResponse } from '../../src/errors.ts';
import { readAcme, refusalOf, replyWith } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const profile = readAcme(samples.custom);

/** What is understood of a reply, without the members that are undefined. */
function understood(status: number, body: unknown, headers = {}): Partial<ErrorResponse> {
  const { provider } = refusalOf(profile, replyWith(status, body, headers));
  return JSON.parse(JSON.stringify(provider));
}

describe('the words of a refusal', () => {
  it.each([
    ['asks for a sign-in with claims', { claims: '{"access_token":{}}' }, true],
    ['does not', {}, undefined],
  ])('tell whether Microsoft %s', (_, members, expected) => {
    const { provider } = refusalOf(profile, replyWith(400, { error: 'interaction_required', ...members }));
    expect(provider.claims).toBe(expected);
  });

  it('name the codes that the description does', () => {
    const told = { error: 'a', error_description: 'AADSTS7000215: Invalid. See AADSTS7000222, AADSTSx.' };
    expect(understood(400, told).codes).toEqual(['AADSTS7000215', 'AADSTS7000222']);
  });

  it.each([
    ['the standard shape', { error: 'a', error_description: 'b', error_uri: 'c' }, { error: 'a', description: 'b' }],
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
    ['a list of sentences', { errors: ['b', 'c'] }, { description: 'b' }],
    ['a list of nothing', { errors: [null] }, {}],
    ['a problem document', { type: 'about:blank', title: 'T', detail: 'b' }, { error: 'T', description: 'b' }],
    ['a message', { message: '401 Unauthorized' }, { description: '401 Unauthorized' }],
    ['a code and a message', { code: 'c', message: 'b' }, { error: 'c', description: 'b' }],
    ['an object of nothing known', { a: 1 }, {}],
    ['a form', 'error=a&error_description=b+c', { error: 'a', description: 'b c' }],
    ['plain text', 'Too Many Requests', { description: 'Too Many Requests' }],
    ['plain text of several lines', 'a\r\n\tb\n', { description: 'a b' }],
    ['HTML', '<html><head><TITLE id="x"> 502 Bad\nGateway </TITLE>', { description: '502 Bad Gateway' }],
    ['HTML without a title', '<html><p>x</p>', { description: 'an HTML page without a title' }],
    ['HTML with an empty title', '<title></title>', { description: 'an HTML page without a title' }],
    ['nothing', '', {}],
    ['half of JSON', '{"error":"a"', { description: '{"error":"a"' }],
    ['a list', '["a"]', { description: '["a"]' }],
    ['members that are no text', { error: 'a', error_description: { x: 1 }, suberror: [1] }, { error: 'a' }],
  ])('are found in %s', (_, body, expected) => {
    expect(understood(400, body)).toEqual({ status: 400, ...expected });
  });

  it.each([
    [{ correlation_id: 'a', trace_id: 'b', errorId: 'c' }, 'a'],
    [{ trace_id: 'b' }, 'b'],
    [{ errorId: 'c' }, 'c'],
    [{}, 'from-header'],
    ['plain text', 'from-header'],
    ['', 'from-header'],
    ['<html>', 'from-header'],
  ])('come with the correlation id of the body, else of the header: %j', (body, id) => {
    const full = typeof body === 'string' ? body : { error: 'x', ...body };
    expect(understood(400, full, { 'x-ms-request-id': 'from-header' }).correlationId).toBe(id);
  });

  it.each([
    'x-ms-request-id',
    'x-okta-request-id',
    'x-request-id',
    'x-correlation-id',
    'x-transaction-id',
    'x-gitlab-meta-correlation-id',
  ])('come with the id in %s', (name) => {
    expect(understood(500, 'x', { [name]: 'id-1' }).correlationId).toBe('id-1');
  });

  it('are cut: 100 characters of a code, 400 of a sentence', () => {
    const { error, description, suberror, correlationId } = understood(400, {
      error: 'e'.repeat(1000),
      error_description: 'd'.repeat(100_000),
      suberror: 's'.repeat(1000),
      correlation_id: 'c'.repeat(1000),
    });
    expect(error).toBe(`${'e'.repeat(99)}…`);
    expect(description).toBe(`${'d'.repeat(399)}…`);
    expect([suberror?.length, correlationId?.length]).toEqual([100, 100]);
    expect(understood(400, 'x'.repeat(1000)).description).toHaveLength(400);
    expect(understood(400, `<title>${'t'.repeat(1000)}`).description).toHaveLength(400);
  });

  it('are few, however long the lists', () => {
    const many = Array.from({ length: 5000 }, (_, code) => ({ code }));
    expect(understood(400, { errors: many }).codes).toHaveLength(8);
    expect(understood(400, { error: 'a', error_codes: many.map(({ code }) => code) }).codes).toHaveLength(8);
  });

  it('are found in a hostile page without much ado', () => {
    expect(understood(400, '<title'.repeat(150_000)).description).toBe('an HTML page without a title');
    expect(understood(400, `<${'-eyJ'.repeat(250_000)}`).description).toBe('an HTML page without a title');
  });

  it('have their control characters and bidi marks escaped', () => {
    const nasty = 'a\u001b[31mb\u0007\u0000c\u202e\u2066d\u200be\ud800\r\nf';
    const escaped = 'a\\u001b[31mb\\u0007\\u0000c\\u202e\\u2066d\\u200be\\ud800 f';
    const error = refusalOf(
      profile,
      replyWith(400, { error: nasty, error_description: nasty, suberror: nasty, correlation_id: nasty }),
    );
    expect(error.provider).toMatchObject({
      error: escaped,
      description: escaped,
      suberror: escaped,
      correlationId: escaped,
    });
    expect(error.message).toBe(`id.example.com refused profile acme (HTTP 400, ${escaped}: ${escaped})`);
  });
});
