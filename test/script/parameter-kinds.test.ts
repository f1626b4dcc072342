import { describe, expect, it } from 'vitest';
import { RawScalar, type Value } from '../../src/config/value.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { InvalidArgument, isPlainName, type Kind, kinds, numberOf } from '../../src/script/parameter-kinds.ts';

const read = (kind: Kind, value: Value): unknown => {
  const found: unknown = kinds[kind].read(value);
  if (found instanceof Secret) return `secret ${found.reveal()}`;
  return found instanceof InvalidArgument ? `must be ${found.wanted}` : found;
};
const refused = expect.stringMatching(/^must be ./);

describe('a parameter', () => {
  it.each<[Kind, Value, unknown]>([
    ['text', 'a', 'a'],
    ['text', 7, '7'],
    ['text', new RawScalar('007', 7), '007'],
    ['text', null, ''],
    ['text', true, 'true'],
    ['text', new Secret('x'), 'secret x'],
    ['text', ['a'], refused],
    ['text', {}, refused],
    ['value', ['a'], ['a']],
    ['value', null, null],
    ['variable', 'token', 'token'],
    ['variable', '_a1', '_a1'],
    ['variable', 'a.b', refused],
    ['variable', 'vault', refused],
    ['variable', '', refused],
    ['variable', 7, refused],
    ['variable', new Secret('a'), refused],
    ['variable', 'a\n', refused],
    ['dottedVariable', 'graph.token', 'graph.token'],
    ['dottedVariable', 'graph.options.timeout', 'graph.options.timeout'],
    ['dottedVariable', 'a..b', refused],
    ['dottedVariable', '.a', refused],
    ['dottedVariable', 'a.__proto__', refused],
    ['dottedVariable', '', refused],
    ['names', 'a', ['a']],
    ['names', 'a, b ,c', ['a', 'b', 'c']],
    ['names', ['a', 'b c'], ['a', 'b c']],
    ['names', [], refused],
    ['names', '', refused],
    ['names', 'a,', refused],
    ['names', ['a', 1], refused],
    ['names', [['a']], refused],
    ['names', null, refused],
    ['number', 1.5, 1.5],
    ['number', ' -1.5e3 ', -1500],
    ['number', '.5', 0.5],
    ['number', '5.', 5],
    ['number', new RawScalar('1.0', 1), 1],
    ['number', '0x10', refused],
    ['number', '', refused],
    ['number', '1 2', refused],
    ['number', true, refused],
    ['number', null, refused],
    ['number', 'Infinity', refused],
    ['number', new Secret('1'), refused],
    ['count', 0, 0],
    ['count', '12', 12],
    ['count', '1.0', 1],
    ['count', -1, refused],
    ['count', 1.5, refused],
    ['count', 1e30, refused],
    ['flag', true, true],
    ['flag', 'false', false],
    ['flag', new RawScalar('True', true), true],
    ['flag', new RawScalar('FALSE', false), false],
    ['flag', 'yes', refused],
    ['flag', 1, refused],
    ['flag', null, refused],
    ['flag', [true], refused],
    ['regex', '^a$', /^a$/u],
    ['regex', '(', refused],
    ['regex', '\\-', refused],
    ['regex', 7, refused],
    ['jsonpath', '$', '$'],
    ['jsonpath', '$.a', '$.a'],
    ['jsonpath', '$[0]', '$[0]'],
    ['jsonpath', 'a.b', '$.a.b'],
    ['jsonpath', '[0]', '$[0]'],
    ['jsonpath', '$a', '$.$a'],
    ['jsonpath', '.a', '$..a'],
    ['jsonpath', '', refused],
    ['jsonpath', 7, refused],
    ['map', { a: 1 }, { a: 1 }],
    ['map', '', {}],
    ['map', null, {}],
    ['map', 'a=1\r\n\n b = c=d ', { a: '1', b: 'c=d' }],
    ['map', 'a=', { a: '' }],
    ['map', '__proto__=x', Object.fromEntries([['__proto__', 'x']])],
    ['map', 'a', refused],
    ['map', '=a', refused],
    ['map', 'a=1\na=2', refused],
    ['map', ['a'], refused],
    ['map', 7, refused],
  ])('of the kind %s can be %j: %j', (kind, value, expected) => {
    expect(read(kind, value)).toEqual(expected);
  });

  it('that is a map of secret lines has secrets only', () => {
    const map = kinds.map.read(new Secret('client_id=a\nclient_secret=b')) as Record<string, Value>;
    expect(Object.entries(map).map(([name, value]) => [name, (value as Secret).reveal()])).toEqual([
      ['client_id', 'a'],
      ['client_secret', 'b'],
    ]);
  });

  it.each(Object.keys(kinds) as Kind[])(
    'of the kind %s has a help, and is refused in words without the value',
    (kind) => {
      expect(kinds[kind].help).toMatch(/^\S.*[^.]$/);
      for (const value of ['hunter2 (', ['hunter2', {}], { hunter2: 1 }] as Value[]) {
        const found: unknown = kinds[kind].read(value);
        if (found instanceof InvalidArgument && kind !== 'regex') expect(found.wanted).not.toContain('hunter2');
      }
    },
  );
});

describe('D3 the plain name of a variable', () => {
  it.each(['a', '_', 'A9_', 'environment'])('may be %s', (name) => {
    expect(isPlainName(name)).toBe(true);
  });

  it.each(['', '9a', 'a b', 'a-b', 'ä', 'env', 'file', 'vault', '__proto__', 'constructor', 'prototype', 'a\n'])(
    'may not be %j',
    (name) => {
      expect(isPlainName(name)).toBe(false);
    },
  );
});

describe('a number', () => {
  it('is none when it says so', () => {
    expect(numberOf(new RawScalar('.nan', Number.NaN))).toBeUndefined();
  });
});
