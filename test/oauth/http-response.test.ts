import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isErrorBody, isPresent, isSuccess, parseBody } from '../../src/oauth/http-response.ts';
import { anyText, anyUnits } from '../support/arbitraries.ts';

describe('isSuccess()', () => {
  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('returns for status %i: %s', (status, expected) => {
    expect(isSuccess({ status, headers: {}, body: '' })).toBe(expected);
  });
});

describe('isErrorBody()', () => {
  it.each([{ error: 'x' }, { error: {} }, { error: 0 }, { errorCode: 'E1' }, { errors: [null] }])(
    'accepts %j',
    (body) => {
      expect(isErrorBody(body)).toBe(true);
    },
  );

  it.each([{}, { error: '' }, { error: null }, { error: false }, { errorCode: '' }, { errors: [] }, { errors: 'x' }])(
    'does not accept %j',
    (body) => {
      expect(isErrorBody(body)).toBe(false);
    },
  );
});

describe('isPresent()', () => {
  it.each([undefined, null, '', false])('returns false for %s', (value) => {
    expect(isPresent(value)).toBe(false);
  });

  it.each([0, true, 'x', {}, []])('returns true for %j', (value) => {
    expect(isPresent(value)).toBe(true);
  });
});

describe('parseBody()', () => {
  it.each([
    ['JSON', '{"access_token":"a"}', { access_token: 'a' }],
    ['JSON with whitespace around it', ' \r\n\t{"access_token":"a"}\n\n', { access_token: 'a' }],
    ['JSON after a byte order mark', '\ufeff{"access_token":"a"}', { access_token: 'a' }],
    ['JSON after a byte order mark and whitespace', '\ufeff\n {"access_token":"a"}', { access_token: 'a' }],
    ['an empty object', '{}', {}],
    [
      'a form',
      'access_token=a%2Fb&scope=x+y&token_type=bearer',
      { access_token: 'a/b', scope: 'x y', token_type: 'bearer' },
    ],
    ['a form with a byte order mark and a line break', '\ufeffaccess_token=a\r\n', { access_token: 'a' }],
    ['a form with an empty value', 'access_token=&expires_in=5', { access_token: '', expires_in: '5' }],
    ['a form whose value has equal signs', 'access_token=YWJj==&x=', { access_token: 'YWJj==', x: '' }],
    [
      'a form of an error',
      'error=invalid_grant&error_description=Nope%21',
      { error: 'invalid_grant', error_description: 'Nope!' },
    ],
  ])('parses %s', (_, body, members) => {
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
    ['rejected for reason=quota', 'text'],
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
  ])('classifies %j as %s', (body, kind) => {
    expect(parseBody(body).kind).toBe(kind);
  });

  it('returns own members only, whatever their names', () => {
    for (const body of ['{"__proto__":{"error":"x"},"constructor":"c"}', '__proto__=p&constructor=c']) {
      const parsed = parseBody(body);
      if (parsed.kind !== 'object') throw new Error('not parsed as an object');
      expect(Object.keys(parsed.members)).toEqual(['__proto__', 'constructor']);
      expect(Object.getPrototypeOf(parsed.members)).toBe(Object.prototype);
      expect(parsed.members['error']).toBeUndefined();
    }
    expect(({} as Record<string, unknown>)['error']).toBeUndefined();
  });

  it('returns the members of any form and any JSON object', () => {
    const name = fc.stringMatching(/^[a-z_]{1,12}$/);
    fc.assert(
      fc.property(fc.dictionary(name, anyText, { minKeys: 1, noNullPrototype: true }), (members) => {
        expect(parseBody(JSON.stringify(members))).toEqual({ kind: 'object', members });
        const form = new URLSearchParams(Object.entries(members)).toString();
        if (!/^[^&=]*=$/.test(form)) expect(parseBody(form)).toEqual({ kind: 'object', members });
      }),
    );
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
