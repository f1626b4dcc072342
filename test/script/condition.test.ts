import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExternalSources, Resolver } from '../../src/config/resolver.ts';
import { RawScalar, type Value } from '../../src/config/value.ts';
import { Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { ConditionSyntaxError, holds, type Lookup, parseCondition } from '../../src/script/condition.ts';
import { anyString } from '../support/any-string.ts';

const source = { label: 'x', directory: '/', trust: 'given' } as const;
const outside: ExternalSources = { env: () => undefined, readFileInside: () => undefined };

/** Looks variables up as the runner does. */
function lookupOf(data: Readonly<Record<string, Value>>): Lookup {
  const variables = new Variables();
  variables.add(
    Object.entries(data).map(([name, value]) => ({ name, value, literal: true })),
    source,
  );
  const value = (text: string): Value => new Resolver(variables, outside).follow(text, source);
  const isDefined = (text: string): boolean => {
    try {
      value(text);
      return true;
    } catch (error) {
      if (error instanceof OAuthProfileError) return false;
      throw error;
    }
  };
  return { value, isDefined, matches: (text, pattern) => new RegExp(pattern, 'u').test(text) };
}

const data = {
  status: 200,
  name: 'Ada',
  empty: '',
  nothing: null,
  list: ['a', 7, ['b']],
  none: [],
  map: { a: 1 },
  bare: {},
  big: new RawScalar('1234567890123456789', 1234567890123456800),
  dotted: new RawScalar('1.0', 1),
  secret: new Secret('hunter2'),
  hidden: new Secret(''),
  yes: true,
  operators: 'a = b & c is empty',
};
const check = (text: string) => holds(parseCondition(text), lookupOf(data));
const refusal = (text: string): [string, number] => {
  try {
    parseCondition(text);
  } catch (error) {
    if (error instanceof ConditionSyntaxError) return [error.message, error.offset];
    throw error;
  }
  throw new Error(`${text} was understood`);
};

describe('a condition', () => {
  it.each([
    'true',
    ' true ',
    '${status} = 200',
    '${status}=200',
    '${status} = "200"',
    '${status} = 2e2',
    '${status} = 200.0',
    '${dotted} = 1',
    '"1.0" = 1',
    '${name} = Ada',
    "${name} = 'Ada'",
    '"${name}" = Ada',
    '${name} ${status} = Ada 200',
    '${name} != ada',
    '${empty} = ""',
    '${nothing} = ""',
    '${yes} = true',
    '${status} < 1000',
    '${status} <= 200',
    '${status} > 99',
    '${status} >= 200',
    '-5 < -4.5',
    '${name} < Bob',
    'abc > ab',
    '10 < 9a',
    '${name} contains d',
    '${name} contains ""',
    '${list} contains a',
    '${list} contains 7',
    '${operators} contains " = b & c is "',
    '${operators} = "a = b & c is empty"',
    '${name} matches ^A.a$',
    '${name} matches "^[A-Z]\\p{L}+$"',
    '${big} matches ^1234567890123456789$',
    '${big} = 1234567890123456789',
    '${secret} = hunter2',
    '${secret} contains unter',
    '${secret} matches \\d$',
    '${secret} > hunter1',
    '${empty} is empty',
    '${nothing} is empty',
    '${hidden} is empty',
    '${none} is empty',
    '${bare} is empty',
    '"" is empty',
    '${list} is not empty',
    '${map} is not empty',
    '${secret} is not empty',
    '${status}  is   not   empty ',
    '${status} is defined',
    'status is defined',
    'list[0] is defined',
    '${map.a} is defined',
    '${nothing} is defined',
    '${status.x} is not defined',
    'nobody is not defined',
    '${nobody:-x} = x',
    '${nobody:-a = b & c} = "a = b & c"',
    '$${x} = "$${x}"',
    'true & true',
    '${status} = 200 & ${name} = Ada & ${empty} is empty',
    '"a & b" = "a & b"',
    'a&b = "a&b"',
    '${map} = ${map}',
  ])('holds: %s', (text) => {
    expect(check(text)).toBe(true);
  });

  it.each([
    'false',
    '${status} = 201',
    '${status} != 200',
    '${big} = 1234567890123456788',
    '${name} = ada',
    '${status} > 1000',
    '${status} < 200',
    '${name} contains x',
    '${list} contains b',
    '${list} contains "7 "',
    '${name} matches ^a',
    '${secret} = hunter3',
    '${status} is empty',
    '${empty} is not empty',
    '${nobody} is defined',
    'status is not defined',
    'true & false',
    '${status} = 200 & ${name} = Bob',
  ])('does not hold: %s', (text) => {
    expect(check(text)).toBe(false);
  });

  it('looks no further than the first term that does not hold', () => {
    expect(check('${nobody} is defined & ${nobody} = 1')).toBe(false);
    expect(() => check('${status} = 200 & ${nobody} = 1')).toThrow('nobody is not defined');
  });

  it.each([
    ['', 'a condition is missing', 0],
    ['  ', 'a condition is missing', 2],
    ['a = b & ', 'a condition is missing', 8],
    [' & a = b', 'a condition is missing', 0],
    ['yes', 'has no operator: write a = b', 0],
    ['a = b & True', 'has no operator', 8],
    ['a equals b', 'has no operator', 0],
    ['a is', 'has no operator', 0],
    ['is empty', 'has no operator', 0],
    ['a = b = c', 'has a second operator', 6],
    ['a == b', 'has a second operator', 3],
    ['a = b is empty', 'has a second operator', 5],
    ['a contains b contains c', 'has a second operator', 13],
    ['a = ', 'has nothing on one side', 3],
    ['= a', 'has nothing on one side', 0],
    ['contains a', 'has no operator', 0],
    ['a = "b', 'a quote (") is not closed', 4],
    ["a = it's", "a quote (') is not closed", 6],
    ['a = ${b', 'the reference is not closed', 4],
    ['${a.} = b', 'the reference lacks a name', 4],
    ['a = "x ${b.}"', 'the reference lacks a name', 11],
    ['a & b = c', 'has no operator', 0],
    ['a b is defined', 'asks whether something is defined that is no single name', 0],
    ['${a}${b} is defined', 'asks whether something is defined', 0],
    ['a matches (', 'has no regular expression behind matches', 9],
  ])('cannot be %j', (text, message, offset) => {
    const [found, at] = refusal(text);
    expect(found).toContain(message);
    expect(at).toBe(offset);
  });

  it('is not changed by what its variables hold', () => {
    const operator = fc.constantFrom(
      ' = ',
      ' & ',
      '"',
      "'",
      '${',
      '}',
      ' is empty',
      ' is not defined',
      '!=',
      '<',
      ' contains ',
      ' matches ',
    );
    const text = fc.array(fc.oneof(operator, anyString(0, 4)), { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (one, other) => {
        const lookup = lookupOf({ one, other });
        const ask = (condition: string) => holds(parseCondition(condition), lookup);
        expect(ask('${one} is empty')).toBe(one === '');
        expect(ask('${one} is defined')).toBe(true);
        expect(ask('${one} contains ${other}')).toBe(one.includes(other));
        expect(ask('"${one}" != ${one} & true')).toBe(false);
        expect(ask('x${one} = x${other}')).toBe(one === other);
        expect(ask('x${one} < x${other}')).toBe(`x${one}` < `x${other}`);
      }),
    );
  });

  it('takes a text in quotes as it is', () => {
    const plain = anyString(0, 10).filter((text) => !/["']|\$\{/.test(text));
    fc.assert(
      fc.property(plain, fc.constantFrom('"', "'"), (text, quote) => {
        expect(holds(parseCondition(`x${quote}${text}${quote} is defined & true`.slice(-4)), lookupOf({}))).toBe(true);
        expect(holds(parseCondition(`${quote}${text}${quote} = \${text}`), lookupOf({ text }))).toBe(true);
      }),
    );
  });

  it('compares as numbers where both sides are', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, (one, other) => {
        const lookup = lookupOf({ one, other: String(other) });
        const ask = (sign: string) => holds(parseCondition(`\${one} ${sign} \${other}`), lookup);
        expect(['=', '!=', '<', '<=', '>', '>='].map(ask)).toEqual([
          one === other,
          one !== other,
          one < other,
          one <= other,
          one > other,
          one >= other,
        ]);
      }),
    );
  });

  it('of any text is understood or refused with a place in it', () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        '1',
        ' ',
        '=',
        '!',
        '<',
        '>',
        ' & ',
        '"',
        "'",
        '${',
        '}',
        '.',
        '[',
        ']',
        ' is',
        ' not',
        ' empty',
        ' defined',
        ' contains ',
        ' matches ',
        '(',
        '\\',
        '$$',
      ],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, anyString(0, 3)), { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        try {
          expect(parseCondition(text).length).toBeGreaterThan(0);
        } catch (error) {
          if (!(error instanceof ConditionSyntaxError)) throw error;
          expect(error.offset).toBeGreaterThanOrEqual(0);
          expect(error.offset).toBeLessThanOrEqual(text.length);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
