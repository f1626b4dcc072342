import { describe, expect, it } from 'vitest';
import { member } from '../../src/config/resolver.ts';
import {
  HeaderMap,
  isCollection,
  isEmpty,
  mapCollection,
  parseScalar,
  RawScalar,
  toText,
  type Value,
} from '../../src/config/value.ts';
import { Secret } from '../../src/redaction/secret.ts';

describe('A number or boolean of a file', () => {
  it.each([
    ['7', 7],
    ['-1', -1],
    ['1.5', 1.5],
    ['9007199254740991', 9007199254740991],
    ['true', true],
    ['false', false],
  ] as const)('%s is a JavaScript value', (text, value) => {
    expect(parseScalar(text, value)).toBe(value);
  });

  it.each([
    ['007', 7],
    ['1.0', 1],
    ['+1', 1],
    ['-0', -0],
    ['0x1F', 31],
    ['1e3', 1000],
    ['1E3', 1000],
    ['1234567890123456789', Number('1234567890123456789')],
    ['9007199254740992', 9007199254740992],
    ['1000000000000000000', 1000000000000000000],
    ['100000000000000000000', 1e20],
    ['1e+21', 1e21],
    ['.inf', Number.POSITIVE_INFINITY],
    ['True', true],
    ['FALSE', false],
  ] as const)('%s keeps its spelling', (text, value) => {
    const written = parseScalar(text, value);
    expect(written).toEqual(new RawScalar(text, value));
    expect(toText(written)).toBe(text);
  });

  it('is a number or boolean in JSON', () => {
    expect(JSON.stringify([new RawScalar('007', 7), new RawScalar('True', true)])).toBe('[7,true]');
  });
});

describe('A value', () => {
  const secret = new Secret('v');

  it.each<[Value, string | Secret]>([
    ['string', 'string'],
    ['', ''],
    [7, '7'],
    [false, 'false'],
    [null, ''],
    [new RawScalar('007', 7), '007'],
    [secret, secret],
  ])('%j is a scalar', (value, expected) => {
    expect(isCollection(value)).toBe(false);
    expect(!isCollection(value) && toText(value)).toBe(expected);
  });

  it.each<[Value]>([[[]], [['a']], [{}], [{ a: 1 }]])('%j is a collection', (value) => {
    expect(isCollection(value)).toBe(true);
    expect(isEmpty(value)).toBe(false);
  });

  it.each<[Value | undefined, boolean]>([
    [undefined, true],
    [null, true],
    ['', true],
    [new Secret(''), true],
    [secret, false],
    [' ', false],
    [0, false],
    [false, false],
  ])('%j is empty: %s', (value, expected) => {
    expect(isEmpty(value)).toBe(expected);
  });

  it('is mapped item by item, a map with the names of its members', () => {
    const seen: unknown[] = [];
    const change = (part: Value, name?: string): Value => {
      seen.push([part, name]);
      return 0;
    };
    expect(mapCollection(['a'], change)).toEqual([0]);
    expect(mapCollection(JSON.parse('{"__proto__": 1}'), change)).toEqual(JSON.parse('{"__proto__": 0}'));
    expect(seen).toEqual([
      ['a', undefined],
      [1, '__proto__'],
    ]);
  });
});

describe('Headers', () => {
  const make = () =>
    new HeaderMap([
      ['Content-Type', 'text/plain'],
      ['__proto__', 'odd'],
    ]);

  it('have names in lower case', () => {
    const headers = make();
    expect(Object.entries(headers)).toEqual([
      ['content-type', 'text/plain'],
      ['__proto__', 'odd'],
    ]);
    expect(isCollection(headers)).toBe(true);
  });

  it('are found regardless of case, unlike the members of other maps', () => {
    const headers = make();
    expect(member(headers, ['CONTENT-type'])).toBe('text/plain');
    expect(member({ 'content-type': 'x' }, ['Content-Type'])).toBeUndefined();
    expect(member(headers, [0])).toBeUndefined();
  });

  it('stay headers when they are mapped', () => {
    const changed = mapCollection(make(), (part, name) => `${name}=${part}`);
    expect(changed).toBeInstanceOf(HeaderMap);
    expect(Object.values(changed)).toEqual(['content-type=text/plain', '__proto__=odd']);
  });
});
