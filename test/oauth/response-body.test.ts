import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBody } from '../../src/oauth/response-body.ts';
import { anyUnits } from '../support/any-text.ts';

describe('the body of a reply', () => {
  it.each([
    ['JSON', '{"access_token":"a"}', { access_token: 'a' }],
    ['JSON with blanks around', ' \r\n\t{"access_token":"a"}\n\n', { access_token: 'a' }],
    ['JSON after a byte order mark', '\ufeff{"access_token":"a"}', { access_token: 'a' }],
    ['JSON after a byte order mark and blanks', '\ufeff\n {"access_token":"a"}', { access_token: 'a' }],
    ['an empty object', '{}', {}],
    [
      'a form',
      'access_token=a%2Fb&scope=x+y&token_type=bearer',
      { access_token: 'a/b', scope: 'x y', token_type: 'bearer' },
    ],
    ['a form with a byte order mark and a line end', '\ufeffaccess_token=a\r\n', { access_token: 'a' }],
    ['a form with an empty value', 'access_token=&expires_in=5', { access_token: '', expires_in: '5' }],
    ['a form whose value has equal signs', 'access_token=YWJj==&x=', { access_token: 'YWJj==', x: '' }],
    [
      'a form of an error',
      'error=invalid_grant&error_description=Nope%21',
      { error: 'invalid_grant', error_description: 'Nope!' },
    ],
  ])('may be %s', (_, body, members) => {
    expect(parseBody(body)).toEqual({ kind: 'object', members });
  });

  it.each([
    ['', 'empty'],
    [' \r\n\t', 'empty'],
    ['\ufeff', 'empty'],
    ['<!DOCTYPE html><title>x</title>', 'html'],
    [' <html>', 'html'],
    ['\ufeff<?xml version="1.0"?><a/>', 'html'],
    ['Too Many Requests', 'text'],
    ['refused for reason=quota', 'text'],
    ['reason=quota is used up', 'text'],
    ['Retry later\n', 'text'],
    ['[{"access_token":"a"}]', 'text'],
    ['"access_token"', 'text'],
    ['null', 'text'],
    ['42', 'text'],
    ['{"access_token":"a"', 'text'],
    ["{'access_token':'a'}", 'text'],
    ['{"access_token":"a"} trailing', 'text'],
    ['an error = a problem', 'text'],
    ['=x', 'text'],
    ['eyJhbGciOiJub25lIn0.e30.', 'text'],
    ['c29tZSB0b2tlbiE=', 'text'],
    ['c29tZSB0b2tlbg==', 'text'],
  ])('%j is %s', (body, kind) => {
    expect(parseBody(body).kind).toBe(kind);
  });

  it('has members of its own only, whatever their names', () => {
    for (const body of ['{"__proto__":{"error":"x"},"constructor":"c"}', '__proto__=p&constructor=c']) {
      const parsed = parseBody(body);
      if (parsed.kind !== 'object') throw new Error('not read as members');
      expect(Object.keys(parsed.members)).toEqual(['__proto__', 'constructor']);
      expect(Object.getPrototypeOf(parsed.members)).toBe(Object.prototype);
      expect(parsed.members['error']).toBeUndefined();
    }
    expect(({} as Record<string, unknown>)['error']).toBeUndefined();
  });

  it('never throws', () => {
    const starts = fc.constantFrom('', '{', '{"a":', '<', 'a=', '%=', 'a=%zz&', '\ufeff');
    fc.assert(
      fc.property(starts, anyUnits, (start, rest) => {
        expect(['object', 'html', 'text', 'empty']).toContain(parseBody(start + rest).kind);
      }),
      { numRuns: 500 },
    );
  });
});
