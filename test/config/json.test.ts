import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, readJson } from '../../src/config/json.ts';
import { RawScalar } from '../../src/config/value.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyCharacter, anyString } from '../support/arbitraries.ts';
import { failureOf } from '../support/errors.ts';

/** Returns a value without the spelling of its numbers, as `JSON.parse` does. */
function plain(value: unknown): unknown {
  if (value instanceof RawScalar) return value.value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

/** Returns the result of `JSON.parse`, or `undefined` if it rejects the text. */
function parseWithEngine(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const messageOf = (text: string) => failureOf(() => parseJson(text, 'f.json')).message;

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
  ])('has the value that JSON.parse returns: %s', (text) => {
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

  it('does not change numbers inside strings and names', () => {
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
  ])('%j is invalid, and the error has the position and no quote of the text', (text, position) => {
    const error = failureOf(() => parseJson(text, 'f.json'));
    expect(error.code).toBe('data_invalid');
    expect(error.message).toBe(`f.json:${position}: invalid JSON`);
    expect(error.hint).not.toContain('hunter2');
    expect(error.cause).toBeUndefined();
  });

  it('with a duplicate name in one map is invalid', () => {
    expect(messageOf('{"a": 1,\n "a": 2}')).toBe('f.json:2:2: a is defined twice');
    expect(messageOf('{"x": [{"a": 1, "\\u0061": 2}]}')).toBe('f.json:1:17: a is defined twice');
    expect(parseJson('[{"a": 1}, {"a": 2}]', 'f.json')).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it.each(['[', '{"a":'])('nested too deep is invalid: %s', (open) => {
    expect(messageOf(open.repeat(100_000))).toMatch(/more than 64 levels$/);
    expect(messageOf(open.repeat(65))).toMatch(/more than 64 levels$/);
  });

  it('may contain any number of lists next to each other', () => {
    expect(parseJson(`[${'[[]],'.repeat(100)}{}]`, 'f.json')).toHaveLength(101);
  });

  it('may have 64 levels', () => {
    expect(JSON.stringify(parseJson('['.repeat(64) + ']'.repeat(64), 'f.json'))).toBe('['.repeat(64) + ']'.repeat(64));
  });

  it('may contain very long strings and very many values', () => {
    const long = 'x\\n"'.repeat(100_000);
    expect(parseJson(JSON.stringify(long), 'f.json')).toBe(long);
    expect(parseJson(JSON.stringify(Array(50_000).fill(1.5)), 'f.json')).toHaveLength(50_000);
    expect(messageOf(`"${'x\\n'.repeat(100_000)}`)).toBe('f.json:1:1: invalid JSON');
  });
});

describe('A JSON file', () => {
  it('defines variables with nested or dotted names, each with its line', () => {
    const text = `{
  "graph": {"type": "microsoft", "options":
    {"timeout": "5s"}},
  "mail.type":
    "google",
  "list": [1, {"a": 2}]
}`;
    expect(readJson(text, 'f.json')).toEqual([
      { name: 'graph.type', value: 'microsoft', line: 2 },
      { name: 'graph.options.timeout', value: '5s', line: 3 },
      { name: 'mail.type', value: 'google', line: 4 },
      { name: 'list', value: [1, { a: 2 }], line: 6 },
    ]);
  });

  it('keeps the spelling of numbers', () => {
    const text = '{"a": 1.0, "b": 1234567890123456789, "c": 1e3, "d": true, "e": null, "f": [1000000000000000000]}';
    expect(readJson(text, 'f.json').map(({ value }) => value)).toEqual([
      new RawScalar('1.0', 1),
      new RawScalar('1234567890123456789', Number('1234567890123456789')),
      new RawScalar('1e3', 1000),
      true,
      null,
      [new RawScalar('1000000000000000000', 1e18)],
    ]);
  });

  it('may start with a byte order mark and end with whitespace', () => {
    expect(readJson('\ufeff{"a": "b"}\r\n', 'f.json')).toEqual([{ name: 'a', value: 'b', line: 1 }]);
  });

  it('treats __proto__ and control characters as ordinary names', () => {
    const text = '{"__proto__": {"x": 1}, "constructor": {"prototype": 2}, "\\u0000": {"\\u0000": "3"}}';
    expect(readJson(text, 'f.json').map(({ name, value }) => [name, value])).toEqual([
      ['__proto__.x', 1],
      ['constructor.prototype', 2],
      ['\0.\0', '3'],
    ]);
    expect(Object.prototype).not.toHaveProperty('x');
  });

  it.each(['[]', '"text"', '7', 'null', 'true', '[{"a": 1}]'])('must be a map, not %s', (text) => {
    expect(failureOf(() => readJson(text, 'f.json'))).toMatchObject({
      code: 'data_invalid',
      message: 'f.json: expected a map of variables',
    });
  });

  it('cannot define a name twice', () => {
    expect(failureOf(() => readJson('{"a.b": 1, "a": {"b": 2}}', 'f.json')).message).toBe(
      'f.json:1: a.b is defined twice',
    );
    expect(failureOf(() => readJson('{"a": 1, "a": 2}', 'f.json')).message).toBe('f.json:1:10: a is defined twice');
  });

  it('is rejected with the position of a syntax error', () => {
    expect(failureOf(() => readJson('{\n  "a": hunter2\n}', 'conf/f.json')).message).toBe(
      'conf/f.json:2:8: invalid JSON',
    );
  });
});

describe('Any JSON', () => {
  const values = fc.jsonValue({ maxDepth: 6, stringUnit: anyCharacter });

  it('has the value that JSON.parse returns', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(plain(parseJson(text, 'f.json'))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps the spelling of every number', () => {
    const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,25})(?:\.\d{1,10})?(?:[eE][+-]?\d{1,3})?$/);
    fc.assert(
      fc.property(digits, (number) => {
        const value = parseJson(number, 'f.json');
        expect(value instanceof RawScalar ? value.text : String(value)).toBe(number);
        expect(plain(value)).toBe(Number(number));
      }),
    );
  });

  it('or other text is accepted or rejected as by JSON.parse', () => {
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
        const expected = parseWithEngine(text);
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
