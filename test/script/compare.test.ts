import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RawScalar, type Value } from '../../src/config/value.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { displayValue, isSameValue, stringifyValue, testString, testStrings } from '../../src/script/compare.ts';

const clear = (text: string | Secret) => (typeof text === 'string' ? text : `secret ${text.reveal()}`);

describe('Two values', () => {
  it.each<[Value, Value]>([
    [200, '200'],
    [true, 'true'],
    [null, ''],
    [new RawScalar('007', 7), '007'],
    [new Secret('a'), 'a'],
    [new Secret('a'), new Secret('a')],
    [[], []],
    [{}, {}],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [[new RawScalar('1.0', 1)], [1]],
    [[new Secret('a')], ['a']],
    [[null], [null]],
    [{ a: { b: new Secret('x') } }, { a: { b: 'x' } }],
  ])('are equal: %j and %j', (one, other) => {
    expect(isSameValue(one, other)).toBe(true);
    expect(isSameValue(other, one)).toBe(true);
  });

  it.each<[Value, Value]>([
    [200, '200.0'],
    [new RawScalar('007', 7), 7],
    ['a', 'A'],
    ['a', 'a '],
    [[1], ['1']],
    [
      [1, 2],
      [2, 1],
    ],
    [[null], ['']],
    [[true], ['true']],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1 }, [1]],
    [{}, []],
    [new Secret('a'), 'b'],
    [['a,b'], ['a', 'b']],
    [{ 'a":1,"b': 1 }, { a: 1, b: 1 }],
    [[[]], []],
  ])('differ: %j and %j', (one, other) => {
    expect(isSameValue(one, other)).toBe(false);
    expect(isSameValue(other, one)).toBe(false);
  });

  it('in lists and maps are compared with all of their digits', () => {
    const id = (text: string) => ({ id: new RawScalar(text, Number(text)) });
    expect(isSameValue(id('1234567890123456789'), id('1234567890123456788'))).toBe(false);
    expect(isSameValue(id('1234567890123456789'), id('1234567890123456789'))).toBe(true);
    expect(isSameValue(id('1e400'), { id: null })).toBe(false);
  });

  it.each([
    ['0.10000000000000000001', '0.1', false],
    ['12345678901234567890', '12345678901234567890.0', true],
    ['1234567890123456789e1', '12345678901234567890', true],
    ['0.00', '-0', true],
    ['1e400', '1e401', false],
    ['-1', '1', false],
    ['100', '1e2', true],
    ['007', '7', false],
    ['007', '007', true],
  ])('%s and %s in a list are the same number: %s', (one, other, same) => {
    const number = (text: string) => [new RawScalar(text, Number(text))];
    expect(isSameValue(number(one), number(other))).toBe(same);
  });

  it('with many digits are compared in linear time', () => {
    const digits = `1${'0'.repeat(200_000)}1`;
    expect(isSameValue([new RawScalar(digits, Number.POSITIVE_INFINITY)], [1])).toBe(false);
  });

  it('are equal if and only if their parts are', () => {
    const json = fc
      .jsonValue({ maxDepth: 3 })
      .filter((value) => typeof value === 'object' && value !== null) as fc.Arbitrary<Value>;
    const sorted = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value)
            .map(([name, part]) => [name, sorted(part)])
            .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1))
        : Array.isArray(value)
          ? { list: value.map(sorted) }
          : value;
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(isSameValue(one, structuredClone(one))).toBe(true);
        expect(isSameValue(one, other)).toBe(JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)));
      }),
    );
  });
});

describe('A displayed value', () => {
  it.each<[Value, string]>([
    ['a', 'a'],
    [7, '7'],
    [null, ''],
    [new RawScalar('007', 7), '007'],
    [new Secret('hunter2'), '••••'],
    [{ a: new Secret('hunter2'), b: [1] }, '{"a":"••••","b":[1]}'],
    [[new RawScalar('1234567890123456789', 1234567890123456800)], '[1234567890123456789]'],
    [
      { a: new RawScalar('1.0', 1), b: new RawScalar('007', 7), c: new RawScalar('True', true) },
      '{"a":1.0,"b":"007","c":true}',
    ],
  ])('has its secrets masked: %j', (value, shown) => {
    expect(displayValue(value)).toBe(shown);
  });
});

describe('A value as a string', () => {
  it.each<[Value, string]>([
    ['a', 'a'],
    [1.5, '1.5'],
    [null, ''],
    [new Secret('x'), 'secret x'],
    [[1, 'a'], '[1,"a"]'],
    [{ a: [new Secret('x"y')] }, 'secret {"a":["x\\"y"]}'],
    [{ id: new RawScalar('1234567890123456789', 1234567890123456800) }, '{"id":1234567890123456789}'],
  ])('is a secret if it contains one: %j', (value, text) => {
    expect(clear(stringifyValue(value))).toBe(text);
  });

  it('can be tested without being revealed', () => {
    expect(testString(new Secret('abc'), (text) => text.startsWith('a'))).toBe(true);
    expect(testString('abc', (text) => text.startsWith('b'))).toBe(false);
    expect(testStrings(new Secret('abc'), new Secret('c'), (one, other) => one.endsWith(other))).toBe(true);
    expect(testStrings('abc', new Secret('x'), (one, other) => one.endsWith(other))).toBe(false);
  });
});
