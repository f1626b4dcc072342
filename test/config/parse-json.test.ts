import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/config/parse-json.ts';
import { RawScalar } from '../../src/config/value.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyCharacter, anyString } from '../support/any-string.ts';
import { failureOf } from '../support/resolving.ts';

/** A value with all spellings forgotten, as `JSON.parse` gives it. */
function plain(value: unknown): unknown {
  if (value instanceof RawScalar) return value.value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

/** What the engine makes of a text, and whether it accepts it. */
function byEngine(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const whereIs = (text: string) => failureOf(() => parseJson(text, 'f.json')).message;

describe('JSON', () => {
  it.each([
    '{}',
    '[]',
    ' { "a" : [ 1 , true , false , null , "x" ] } \r\n\t',
    '{"a":{"b":{"c":[[[]]]}}}',
    '"\\u00e9\\n\\"\\\\\\/\\b\\f\\t\\r"',
    '"\\ud83d\\ude00 \\ud83d"',
    '"\u2028\u007f😀"',
    '0',
    '-0',
    '-1.5e-10',
    '1E400',
    '{"\\u0000": "123"}',
    '{"a": {"\\u0000": "1"}}',
    '{"": {"": ""}}',
    '{"__proto__": {"constructor": 1}, "2": 1, "1": 2}',
    '["1", "-2e5", "{\\"a\\": 1}", "\\\\\\" 1"]',
  ])('is what it is to everybody: %s', (text) => {
    const value = plain(parseJson(text, 'f.json'));
    expect(value).toEqual(JSON.parse(text));
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
  });

  it.each(['7', '1.0', '1e3', '1E+3', '-0', '1234567890123456789', '9007199254740993', '0.10', '1e400'])(
    'keeps the spelling of %s',
    (digits) => {
      const [value] = parseJson(`[${digits}]`, 'f.json') as unknown[];
      expect(value instanceof RawScalar ? value.text : String(value)).toBe(digits);
    },
  );

  it('leaves numbers inside texts and names alone', () => {
    const text = '{"1.0": "1.0", "a\\"1.0": "007 \\" 1e3, [1.0]", "b": 1.0}';
    const value = parseJson(text, 'f.json');
    expect(value).toEqual({ '1.0': '1.0', 'a"1.0': '007 " 1e3, [1.0]', b: new RawScalar('1.0', 1) });
  });

  it.each([
    ['', '1:1'],
    ['   ', '1:4'],
    ['{"a": x}', '1:7'],
    ['{"a": 1,}', '1:9'],
    ['{"a": 1\n "b": 2}', '2:2'],
    ['{"a"}', '1:5'],
    ['{a: 1}', '1:2'],
    ["{'a': 1}", '1:2'],
    ['{"a": 007}', '1:8'],
    ['{"a": 1.}', '1:8'],
    ['{"a": .5}', '1:7'],
    ['{"a": +1}', '1:7'],
    ['{"a": 0x1F}', '1:8'],
    ['{"a": True}', '1:7'],
    ['{"a": ~}', '1:7'],
    ['{"a": NaN}', '1:7'],
    ['{"a": "hunter2}', '1:7'],
    ['{"a": "hunter2\n"}', '1:7'],
    ['{"a": "\\x"}', '1:7'],
    ['{"a": "\\u12"}', '1:7'],
    ['{\n  "password": "hunter2"\n  "b": 1\n}', '3:3'],
    ['[1, 2', '1:6'],
    ['{"a": 1} hunter2', '1:10'],
    ['{"a": 1}{"b": 2}', '1:9'],
    ['// comment\n{}', '1:1'],
    ['\u00a0{}', '1:1'],
  ])('%j is refused with its place, and nothing of it is quoted', (text, place) => {
    const error = failureOf(() => parseJson(text, 'f.json'));
    expect(error.message).toBe(`f.json:${place}: is not valid JSON`);
    expect(error.code).toBe('data_invalid');
    expect(error.hint).toBe('correct the file there: a missing quote, comma or brace is the usual cause');
    expect(error.cause).toBeUndefined();
  });

  it('with a name twice in one map is refused', () => {
    expect(whereIs('{"a": 1,\n "a": 2}')).toBe('f.json:2:2: a is defined twice');
    expect(whereIs('{"x": [{"a": 1, "\\u0061": 2}]}')).toBe('f.json:1:17: a is defined twice');
    expect(parseJson('[{"a": 1}, {"a": 2}]', 'f.json')).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it.each(['[', '{"a":'])('nested without end is refused: %s', (open) => {
    expect(whereIs(open.repeat(100_000))).toMatch(/is nested deeper than 64 levels$/);
  });

  it('of many lists side by side is not nested', () => {
    expect(parseJson(`[${'[[]],'.repeat(100)}{}]`, 'f.json')).toHaveLength(101);
  });

  it('nested 64 levels deep is read', () => {
    expect(JSON.stringify(parseJson('['.repeat(64) + ']'.repeat(64), 'f.json'))).toBe('['.repeat(64) + ']'.repeat(64));
  });

  it('with a very long text, or very many values, is read', () => {
    const long = 'x\\n"'.repeat(100_000);
    expect(parseJson(JSON.stringify(long), 'f.json')).toBe(long);
    expect(parseJson(JSON.stringify(Array(50_000).fill(1.5)), 'f.json')).toHaveLength(50_000);
    expect(whereIs(`"${'x\\n'.repeat(100_000)}`)).toBe('f.json:1:1: is not valid JSON');
  });
});

describe('any JSON', () => {
  const values = fc.jsonValue({ maxDepth: 6, stringUnit: anyCharacter });

  it('is read as the engine reads it, but for the spelling of numbers', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(plain(parseJson(text, 'f.json'))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps every number as it is written', () => {
    const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,25})(?:\.\d{1,10})?(?:[eE][+-]?\d{1,3})?$/);
    fc.assert(
      fc.property(digits, (number) => {
        const value = parseJson(number, 'f.json');
        expect(value instanceof RawScalar ? value.text : String(value)).toBe(number);
        expect(plain(value)).toBe(Number(number));
      }),
    );
  });

  it('and any text at all is accepted or refused as the engine does', () => {
    const damaged = fc
      .tuple(
        values,
        fc.nat(),
        fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', '\\', ' ', '\n', 'null'),
      )
      .map(([value, place, piece]) => {
        const text = JSON.stringify(value);
        const at = place % (text.length + 1);
        return text.slice(0, at) + piece + text.slice(at + (place % 2));
      });
    fc.assert(
      fc.property(fc.oneof(damaged, anyString(0, 20)), (text) => {
        const expected = byEngine(text);
        try {
          expect({ value: plain(parseJson(text, 'f.json')) }).toEqual(expected);
        } catch (error) {
          if (!(error instanceof OAuthProfileError)) throw error;
          if (!error.message.endsWith('is defined twice')) expect(expected).toBeUndefined();
        }
      }),
      { numRuns: 1000 },
    );
  });
});
