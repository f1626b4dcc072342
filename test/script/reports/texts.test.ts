import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines } from '../../../src/script/reports/diff-lines.ts';
import { duration } from '../../../src/script/reports/duration.ts';
import { indentJson } from '../../../src/script/reports/indent-json.ts';
import { shorten, visible, visibleLine } from '../../../src/script/reports/visible.ts';
import { anyField } from './any-report.ts';

describe('a text made visible', () => {
  it.each([
    ['a\u0000b', 'a\\u0000b'],
    ['\u001b[31m', '\\u001b[31m'],
    ['\ud800x\udc00', '\\ud800x\\udc00'],
    ['\ufffe\uffff', '\\ufffe\\uffff'],
    ['\u202eabc', '\\u202eabc'],
    ['ä€😀', 'ä€😀'],
    ['a\r\nb\rc\n\td', 'a\nb\nc\n\td'],
  ])('%j becomes %j', (text, expected) => expect(visible(text)).toBe(expected));

  it('is one line where one is wanted', () => expect(visibleLine('a\r\n\tb')).toBe('a b'));

  it('is well-formed and made visible once and for all', () => {
    fc.assert(
      fc.property(anyField, (text) => {
        expect(visible(text).isWellFormed()).toBe(true);
        expect(visible(visible(text))).toBe(visible(text));
        expect(visibleLine(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/);
      }),
    );
  });

  it('is cut between characters, never within one', () => {
    expect(shorten('ab😀cd', 3)).toBe('ab\n… 4 more characters');
    expect(shorten('abc', 3)).toBe('abc');
  });
});

describe('a duration', () => {
  it.each([
    [-3, '0 ms'],
    [0.4, '0 ms'],
    [999, '999 ms'],
    [999.6, '1.0 s'],
    [1240, '1.2 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [3_725_000, '62 min 5 s'],
  ])('of %d ms is %s', (ms, expected) => expect(duration(ms)).toBe(expected));
});

describe('JSON put on lines', () => {
  it.each([
    [
      '{"a":[1,{"b":{}},[]],"c":"x, {y}: [z]"}',
      '{\n  "a": [\n    1,\n    {\n      "b": {}\n    },\n    []\n  ],\n  "c": "x, {y}: [z]"\n}',
    ],
    ['[12345678901234567890, 1.0, 1e5]', '[\n  12345678901234567890,\n  1.0,\n  1e5\n]'],
    ['{"a\\"":"\\\\"}', '{\n  "a\\"": "\\\\"\n}'],
    ['{not json}', '{not json}'],
    ['{"a":1', '{"a":1'],
    ['{\n"a":1}', '{\n"a":1}'],
    ['"text"', '"text"'],
    ['', ''],
  ])('%j', (text, expected) => expect(indentJson(text)).toBe(expected));

  it('says the same as before', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is not undone by depth or length', () => {
    const deep = '['.repeat(3000) + ']'.repeat(3000);
    expect(indentJson(deep).replace(/\s/g, '')).toBe(deep);
    const long = JSON.stringify(['x'.repeat(150_000)]);
    expect(indentJson(long).replace(/\s/g, '')).toBe(long);
  });
});

describe('the difference of two texts', () => {
  const shown = (one: string, other: string): string | undefined =>
    diffLines(one, other)
      ?.map(({ side, text }) => ({ both: ' ', first: '-', second: '+' })[side] + text)
      .join('');

  it.each([
    ['a\nb\nc', 'a\nx\nc', ' a-b+x c'],
    ['a\nb', 'a\nb', ' a b'],
    ['', 'a', '-+a'],
    ['a\nb\nc\nd', 'b\nd\ne', '-a b-c d+e'],
    ['a\na', 'a\na\na', ' a a+a'],
  ])('%j and %j', (one, other, expected) => expect(shown(one, other)).toBe(expected));

  it('gives back both texts', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (one, other) => {
        const lines = diffLines(one, other) ?? [];
        const of = (side: string): string =>
          lines
            .filter((line) => line.side === 'both' || line.side === side)
            .map((line) => line.text)
            .join('\n');
        expect([of('first'), of('second')]).toEqual([one, other]);
      }),
    );
  });

  it('is not looked for where nearly everything differs', () => {
    const lines = (name: string): string => Array.from({ length: 500 }, (_, i) => `${name}${i}`).join('\n');
    expect(diffLines(lines('a'), lines('b'))).toBeUndefined();
    expect(diffLines(`${lines('a')}\nx`, `${lines('a')}\ny`)?.length).toBe(502);
  });
});
