import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeControls,
  escapeControlsInJson,
  excerpt,
  hasControls,
  isPrintableAscii,
} from '../../src/redaction/sanitize.ts';
import { anyString } from '../support/arbitraries.ts';

describe('escapeControls', () => {
  it.each([
    ['an escape sequence', '\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
    ['a NUL', 'a\0b', 'a\\u0000b'],
    ['a C1 control', 'a\u009b31mb', 'a\\u009b31mb'],
    ['DEL and backspace', '\u007f\b', '\\u007f\\u0008'],
    ['characters that reorder text', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
    ['invisible characters', 'a\u200bb\u00adc\ufeffd', 'a\\u200bb\\u00adc\\ufeffd'],
    ['Unicode line separators', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['lone surrogates', 'a\ud83db\ude00c', 'a\\ud83db\\ude00c'],
    ['line ends and tabs', 'a\r\nb\n\n\tc', 'a b c'],
  ])('escapes %s', (_, text, expected) => {
    expect(escapeControls(text)).toBe(expected);
  });

  it.each(['plain', 'pässwörd 漢字 😀', 'a\\u001b b', ''])('does not change %j', (text) => {
    expect(escapeControls(text)).toBe(text);
  });

  it('returns one well-formed line without control characters, and is idempotent', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(0xffff), fc.nat(0xff)), { maxLength: 50 }), (units) => {
        const shown = escapeControls(String.fromCharCode(...units));
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
        expect(shown.isWellFormed()).toBe(true);
        expect(escapeControls(shown)).toBe(shown);
      }),
    );
  });
});

describe('excerpt', () => {
  it.each([
    ['short', 10, 'short'],
    ['exactly 10', 10, 'exactly 10'],
    ['longer than ten', 10, 'longer th…'],
    ['  spaces\naround \n', 20, 'spaces around'],
    ['\u001b[31mred', 20, '\\u001b[31mred'],
  ])('cuts %j to at most %i characters', (text, length, expected) => {
    expect(excerpt(text, length)).toBe(expected);
  });

  it('does not split a surrogate pair', () => {
    expect(excerpt('abc😀😀', 5)).toBe('abc…');
    expect(excerpt('abc😀😀', 6)).toBe('abc😀…');
  });

  it('returns a well-formed string that is not longer than requested', () => {
    fc.assert(
      fc.property(anyString(), fc.integer({ min: 1, max: 40 }), (text, length) => {
        const shown = excerpt(text, length);
        expect(shown.length).toBeLessThanOrEqual(length);
        expect(shown.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('escapeControlsInJson', () => {
  const controls = 'a\u001b\u0085\u009b31m\u202eb\u2066\u200b\u2028\r\n\t"é漢😀\ud800';

  it('returns equivalent JSON without raw control characters', () => {
    for (const indent of [undefined, 2]) {
      const json = escapeControlsInJson({ [controls]: [controls] }, indent);
      expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      expect(JSON.parse(json)).toEqual({ [controls]: [controls] });
    }
  });

  it('returns the same as JSON.stringify where nothing has to be escaped', () => {
    const value = { a: 'é漢😀 "x"\n', b: [1, null, true] };
    expect(escapeControlsInJson(value)).toBe(JSON.stringify(value));
    expect(escapeControlsInJson(value, 2)).toBe(JSON.stringify(value, null, 2));
  });
});

describe('hasControls', () => {
  it.each([
    ['plain é漢😀', false],
    ['two\nlines\tand a tab', false],
    ['\u001b[31m', true],
    ['a\u009bb', true],
    ['a\u202eb', true],
    ['a\rb', true],
  ])('of %j is %s', (text, expected) => {
    expect(hasControls(text)).toBe(expected);
  });
});

describe('isPrintableAscii', () => {
  it.each([
    ['', true],
    ['abc ~!', true],
    ['a\nb', false],
    ['a\n', false],
    ['\u007f', false],
    ['é', false],
  ])('of %j is %s', (text, expected) => {
    expect(isPrintableAscii(text)).toBe(expected);
  });
});
