import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeControls, escapeControlsInJson, excerpt, hasControls } from '../../src/redaction/printable.ts';
import { anyString } from '../support/any-string.ts';

describe('text from outside', () => {
  it.each([
    ['an escape sequence', '\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
    ['a NUL', 'a\0b', 'a\\u0000b'],
    ['a C1 control', 'a\u009b31mb', 'a\\u009b31mb'],
    ['DEL and backspace', '\u007f\b', '\\u007f\\u0008'],
    ['what reverses the text after it', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
    ['what cannot be seen', 'a\u200bb\u00adc\ufeffd', 'a\\u200bb\\u00adc\\ufeffd'],
    ['the line ends of Unicode', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['half a surrogate pair', 'a\ud83db\ude00c', 'a\\ud83db\\ude00c'],
    ['line ends and tabs', 'a\r\nb\n\n\tc', 'a b c'],
  ])('loses its power: %s', (_, text, expected) => {
    expect(escapeControls(text)).toBe(expected);
  });

  it.each(['plain', 'pässwörd 漢字 😀', 'a\\u001b b', ''])('stays as it is: %s', (text) => {
    expect(escapeControls(text)).toBe(text);
  });

  it('never controls a terminal, is one line, well-formed, and not changed a second time', () => {
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

describe('an excerpt', () => {
  it.each([
    ['short', 10, 'short'],
    ['exactly 10', 10, 'exactly 10'],
    ['longer than ten', 10, 'longer th…'],
    ['  blanks\naround \n', 20, 'blanks around'],
    ['\u001b[31mred', 20, '\\u001b[31mred'],
  ])('of %j has at most %i characters', (text, length, expected) => {
    expect(excerpt(text, length)).toBe(expected);
  });

  it('never cuts a character in half', () => {
    expect(excerpt('abc😀😀', 5)).toBe('abc…');
    expect(excerpt('abc😀😀', 6)).toBe('abc😀…');
  });

  it('is never longer than asked for, and well-formed', () => {
    fc.assert(
      fc.property(anyString(), fc.integer({ min: 1, max: 40 }), (text, length) => {
        const shown = excerpt(text, length);
        expect(shown.length).toBeLessThanOrEqual(length);
        expect(shown.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('JSON for a person', () => {
  const nasty = 'a\u001b\u0085\u009b31m\u202eb\u2066\u200b\u2028\r\n\t"é漢😀\ud800';

  it('has no character in it that steers a terminal, and still means the same', () => {
    for (const indent of [undefined, 2]) {
      const json = escapeControlsInJson({ [nasty]: [nasty] }, indent);
      expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      expect(JSON.parse(json)).toEqual({ [nasty]: [nasty] });
    }
  });

  it('is the usual JSON where nothing has to be escaped', () => {
    const value = { a: 'é漢😀 "x"\n', b: [1, null, true] };
    expect(escapeControlsInJson(value)).toBe(JSON.stringify(value));
    expect(escapeControlsInJson(value, 2)).toBe(JSON.stringify(value, null, 2));
  });

  it.each([
    ['plain é漢😀', false],
    ['two\nlines\tand a tab', false],
    ['\u001b[31m', true],
    ['a\u009bb', true],
    ['a\u202eb', true],
    ['a\rb', true],
  ])('tells whether %j has controls', (text, expected) => {
    expect(hasControls(text)).toBe(expected);
    expect(hasControls(text)).toBe(expected);
  });
});
