import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExternalSources, Resolver } from '../../src/config/resolver.ts';
import { RawScalar, type Value } from '../../src/config/value.ts';
import { Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { ConditionSyntaxError, type Lookup, parseCondition } from '../../src/script/condition.ts';
import { anyString } from '../support/arbitraries.ts';

const source = { label: 'x', directory: '/', trust: 'given' } as const;
const externalSources: ExternalSources = { env: () => undefined, readFileInside: () => undefined };

/** Resolves variables as the engine does. */
function lookupOf(data: Readonly<Record<string, Value>>): Lookup {
  const variables = new Variables();
  variables.add(
    Object.entries(data).map(([name, value]) => ({ name, value, literal: true })),
    source,
  );
  const value = (text: string): Value => new Resolver(variables, externalSources).follow(text, source);
  const isDefined = (text: string): boolean => {
    try {
      value(text);
      return true;
    } catch (error) {
      if (error instanceof OAuthProfileError) return false;
      throw error;
    }
  };
  return { value, isDefined };
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
const check = (text: string) => parseCondition(text)(lookupOf(data));
const syntaxError = (text: string): [string, number] => {
  try {
    parseCondition(text);
  } catch (error) {
    if (error instanceof ConditionSyntaxError) return [error.message, error.offset];
    throw error;
  }
  throw new Error(`${text} has no syntax error`);
};

describe('A condition', () => {
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
    'missing is not defined',
    '${missing:-x} = x',
    '${missing:-a = b & c} = "a = b & c"',
    '$${x} = "$${x}"',
    'true & true',
    '${status} = 200 & ${name} = Ada & ${empty} is empty',
    '"a & b" = "a & b"',
    'a&b = "a&b"',
    '${map} = ${map}',
    'true and true',
    'false or true',
    'false and false or true',
    'true or true and false',
    'not false',
    'not not true',
    'not (true and false)',
    'not(false)',
    '(false or true) and (true or false)',
    '((true))',
    '${status} = 200 and ${name} = Ada & ${empty} is empty',
    '${status} = 404 or (${name} contains d and not ${name} is empty)',
    '${name} matches ^(Ada|Bob)$ and ${status} < 300',
    '(${name} matches ^(Ada|Bob)$) and true',
    '"a or b" = "a or b" and oreo = oreo',
    '${name} = ${missing:-x or y} or ${status} is not empty',
    '(a) = "(a)"',
    'x = :) or true',
  ])('is true: %s', (text) => {
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
    '${missing} is defined',
    'status is not defined',
    'true & false',
    'true and false',
    'false or false',
    'not true',
    '(false or true) and false',
    'true and not ${name} = Ada',
    '${status} = 200 & ${name} = Bob',
  ])('is false: %s', (text) => {
    expect(check(text)).toBe(false);
  });

  it('is not evaluated beyond the first false term', () => {
    expect(check('${missing} is defined & ${missing} = 1')).toBe(false);
    expect(() => check('${status} = 200 & ${missing} = 1')).toThrow('missing is not defined');
  });

  it.each([
    ['', 'condition expected', 0],
    ['  ', 'condition expected', 2],
    ['a = b & ', 'condition expected', 8],
    [' & a = b', 'condition expected', 1],
    ['a = b or ', 'condition expected', 9],
    ['and a = b', 'condition expected', 0],
    ['a = b and c', 'operator expected', 10],
    ['not', 'operator expected', 0],
    ['not ', 'condition expected', 4],
    ['(a = b', 'unclosed parenthesis', 0],
    ['a = b and (c = d or e', 'unclosed parenthesis', 10],
    ['()', 'condition expected', 1],
    [`${'not '.repeat(60)}true`, 'too many nested', 199],
    ['yes', 'operator expected', 0],
    ['a = b & True', 'operator expected', 8],
    ['a equals b', 'operator expected', 0],
    ['a is', 'operator expected', 0],
    ['is empty', 'operator expected', 0],
    ['a = b = c', 'second operator', 6],
    ['a == b', 'second operator', 3],
    ['a = b is empty', 'second operator', 5],
    ['a contains b contains c', 'second operator', 13],
    ['a = ', 'operand expected', 3],
    ['= a', 'operand expected', 0],
    ['contains a', 'operator expected', 0],
    ['a = "b', 'unclosed quote (")', 4],
    ["a = it's", "unclosed quote (')", 6],
    ['a = ${b', 'the reference', 4],
    ['${a.} = b', 'the reference', 4],
    ['a = "x ${b.}"', 'the reference', 11],
    ['a & b = c', 'operator expected', 0],
    ['a b is defined', '"is defined" expects', 0],
    ['${a}${b} is defined', '"is defined" expects', 0],
    ['a matches (', 'invalid regular expression', 9],
  ])('has a syntax error: %j', (text, message, offset) => {
    const [found, at] = syntaxError(text);
    expect(found).toContain(message);
    expect(at).toBe(offset);
  });

  it('does not depend on operators in the values of its variables', () => {
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
        const evaluate = (condition: string) => parseCondition(condition)(lookup);
        expect(evaluate('${one} is empty')).toBe(one === '');
        expect(evaluate('${one} is defined')).toBe(true);
        expect(evaluate('${one} contains ${other}')).toBe(one.includes(other));
        expect(evaluate('"${one}" != ${one} & true')).toBe(false);
        expect(evaluate('x${one} = x${other}')).toBe(one === other);
        expect(evaluate('x${one} < x${other}')).toBe(`x${one}` < `x${other}`);
      }),
    );
  });

  it('preserves a quoted operand', () => {
    const plain = anyString(0, 10).filter((text) => !/["']|\$\{/.test(text));
    fc.assert(
      fc.property(plain, fc.constantFrom('"', "'"), (text, quote) => {
        expect(parseCondition(`x${quote}${text}${quote} is defined & true`.slice(-4))(lookupOf({}))).toBe(true);
        expect(parseCondition(`${quote}${text}${quote} = \${text}`)(lookupOf({ text }))).toBe(true);
      }),
    );
  });

  it('compares two numbers as numbers', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, (one, other) => {
        const lookup = lookupOf({ one, other: String(other) });
        const evaluate = (sign: string) => parseCondition(`\${one} ${sign} \${other}`)(lookup);
        expect(['=', '!=', '<', '<=', '>', '>='].map(evaluate)).toEqual([
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

  it('is parsed, or rejected with a position, for any string', () => {
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
          expect(parseCondition(text)).toBeTypeOf('function');
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
