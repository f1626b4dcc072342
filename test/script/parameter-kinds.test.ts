import { describe, expect, it } from 'vitest';
import { RawScalar, type Value } from '../../src/config/value.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { InvalidArgument, isPlainName, type Kind, kinds, toNumber } from '../../src/script/parameter-kinds.ts';

const read = (kind: Kind, value: Value): unknown => {
  const found: unknown = kinds[kind].read(value);
  if (found instanceof Secret) return `secret ${found.reveal()}`;
  return found instanceof InvalidArgument ? `must be ${found.expected}` : found;
};
const rejected = expect.stringMatching(/^must be ./);

describe('A parameter', () => {
  it.each<[Kind, Value, unknown]>([
    ['text', 'a', 'a'],
    ['text', 7, '7'],
    ['text', new RawScalar('007', 7), '007'],
    ['text', null, ''],
    ['text', true, 'true'],
    ['text', new Secret('x'), 'secret x'],
    ['text', ['a'], rejected],
    ['text', {}, rejected],
    ['value', ['a'], ['a']],
    ['value', null, null],
    ['variable', 'token', 'token'],
    ['variable', '_a1', '_a1'],
    ['variable', 'a.b', rejected],
    ['variable', 'vault', rejected],
    ['variable', '', rejected],
    ['variable', 7, rejected],
    ['variable', new Secret('a'), rejected],
    ['variable', 'a\n', rejected],
    ['dottedVariable', 'graph.token', 'graph.token'],
    ['dottedVariable', 'graph.options.timeout', 'graph.options.timeout'],
    ['dottedVariable', 'a..b', rejected],
    ['dottedVariable', '.a', rejected],
    ['dottedVariable', 'a.__proto__', rejected],
    ['dottedVariable', '', rejected],
    ['names', 'a', ['a']],
    ['names', 'a, b ,c', ['a', 'b', 'c']],
    ['names', ['a', 'b c'], ['a', 'b c']],
    ['names', [], rejected],
    ['names', '', rejected],
    ['names', 'a,', rejected],
    ['names', ['a', 1], rejected],
    ['names', [['a']], rejected],
    ['names', null, rejected],
    ['number', 1.5, 1.5],
    ['number', ' -1.5e3 ', -1500],
    ['number', '.5', 0.5],
    ['number', '5.', 5],
    ['number', new RawScalar('1.0', 1), 1],
    ['number', '0x10', rejected],
    ['number', '', rejected],
    ['number', '1 2', rejected],
    ['number', true, rejected],
    ['number', null, rejected],
    ['number', 'Infinity', rejected],
    ['number', new Secret('1'), rejected],
    ['count', 0, 0],
    ['count', '12', 12],
    ['count', '1.0', 1],
    ['count', -1, rejected],
    ['count', 1.5, rejected],
    ['count', 1e30, rejected],
    ['flag', true, true],
    ['flag', 'false', false],
    ['flag', new RawScalar('True', true), true],
    ['flag', new RawScalar('FALSE', false), false],
    ['flag', 'yes', rejected],
    ['flag', 1, rejected],
    ['flag', null, rejected],
    ['flag', [true], rejected],
    ['regex', '^a$', /^a$/u],
    ['regex', '(', rejected],
    ['regex', '\\-', rejected],
    ['regex', 7, rejected],
    ['jsonpath', '$', '$'],
    ['jsonpath', '$.a', '$.a'],
    ['jsonpath', '$[0]', '$[0]'],
    ['jsonpath', 'a.b', '$.a.b'],
    ['jsonpath', '[0]', '$[0]'],
    ['jsonpath', '$a', '$.$a'],
    ['jsonpath', '.a', '$..a'],
    ['jsonpath', '', rejected],
    ['jsonpath', 7, rejected],
    ['map', { a: 1 }, { a: 1 }],
    ['map', '', {}],
    ['map', null, {}],
    ['map', 'a=1\r\n\n b = c=d ', { a: '1', b: 'c=d' }],
    ['map', 'a=', { a: '' }],
    ['map', '__proto__=x', Object.fromEntries([['__proto__', 'x']])],
    ['map', 'a', rejected],
    ['map', '=a', rejected],
    ['map', 'a=1\na=2', rejected],
    ['map', ['a'], rejected],
    ['map', 7, rejected],
  ])('of the kind %s converts %j to %j', (kind, value, expected) => {
    expect(read(kind, value)).toEqual(expected);
  });

  it('that is a map from a secret string has only secret values', () => {
    const map = kinds.map.read(new Secret('client_id=a\nclient_secret=b')) as Record<string, Value>;
    expect(Object.entries(map).map(([name, value]) => [name, (value as Secret).reveal()])).toEqual([
      ['client_id', 'a'],
      ['client_secret', 'b'],
    ]);
  });

  it.each(Object.keys(kinds) as Kind[])(
    'of the kind %s has a description, and its errors do not contain the value',
    (kind) => {
      expect(kinds[kind].help).toMatch(/^\S.*[^.]$/);
      for (const value of ['hunter2 (', ['hunter2', {}], { hunter2: 1 }] as Value[]) {
        const found: unknown = kinds[kind].read(value);
        if (found instanceof InvalidArgument && kind !== 'regex') expect(found.expected).not.toContain('hunter2');
      }
    },
  );
});

describe('D3 a variable name', () => {
  it.each(['a', '_', 'A9_', 'environment'])('can be %s', (name) => {
    expect(isPlainName(name)).toBe(true);
  });

  it.each(['', '9a', 'a b', 'a-b', 'ä', 'env', 'file', 'vault', '__proto__', 'constructor', 'prototype', 'a\n'])(
    'cannot be %j',
    (name) => {
      expect(isPlainName(name)).toBe(false);
    },
  );
});

describe('A number', () => {
  it('cannot be NaN', () => {
    expect(toNumber(new RawScalar('.nan', Number.NaN))).toBeUndefined();
  });
});
