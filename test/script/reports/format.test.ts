import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines } from '../../../src/script/reports/diff-lines.ts';
import { formatDuration, indentJson, toVisible, toVisibleLine, truncate } from '../../../src/script/reports/format.ts';
import { anyField } from './any-report.ts';

describe('Visible text', () => {
  it.each([
    ['a\u0000b', 'a\\u0000b'],
    ['\u001b[31m', '\\u001b[31m'],
    ['\ud800x\udc00', '\\ud800x\\udc00'],
    ['\ufffe\uffff', '\\ufffe\\uffff'],
    ['\u202eabc', '\\u202eabc'],
    ['ä€😀', 'ä€😀'],
    ['a\r\nb\rc\n\td', 'a\nb\nc\n\td'],
  ])('of %j is %j', (text, expected) => expect(toVisible(text)).toBe(expected));

  it('can be limited to one line', () => expect(toVisibleLine('a\r\n\tb')).toBe('a b'));

  it('is well-formed and idempotent', () => {
    fc.assert(
      fc.property(anyField, (text) => {
        expect(toVisible(text).isWellFormed()).toBe(true);
        expect(toVisible(toVisible(text))).toBe(toVisible(text));
        expect(toVisibleLine(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/);
      }),
    );
  });

  it('is truncated between characters', () => {
    expect(truncate('ab😀cd', 3)).toBe('ab\n… 4 more characters');
    expect(truncate('abc', 3)).toBe('abc');
  });
});

describe('A duration', () => {
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
  ])('of %d ms is %s', (ms, expected) => expect(formatDuration(ms)).toBe(expected));
});

describe('Indented JSON', () => {
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
  ])('of %j has one value per line', (text, expected) => expect(indentJson(text)).toBe(expected));

  it('has the same value', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('preserves deep and long documents', () => {
    const deep = '['.repeat(3000) + ']'.repeat(3000);
    expect(indentJson(deep).replace(/\s/g, '')).toBe(deep);
    const long = JSON.stringify(['x'.repeat(150_000)]);
    expect(indentJson(long).replace(/\s/g, '')).toBe(long);
  });
});

describe('The line difference', () => {
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
  ])('of %j and %j', (one, other, expected) => expect(shown(one, other)).toBe(expected));

  it('contains both strings', () => {
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

  it('is undefined if too many lines differ', () => {
    const lines = (name: string): string => Array.from({ length: 500 }, (_, i) => `${name}${i}`).join('\n');
    expect(diffLines(lines('a'), lines('b'))).toBeUndefined();
    expect(diffLines(`${lines('a')}\nx`, `${lines('a')}\ny`)?.length).toBe(502);
  });
});
