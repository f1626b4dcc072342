import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flatten } from '../../src/config/flatten.ts';
import { rejectDuplicates } from '../../src/config/node.ts';
import { RawScalar } from '../../src/config/value.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { failureOf } from '../support/errors.ts';
import { shown } from '../support/variables.ts';

const pairs = (data: Record<string, unknown>) => flatten(data, 'data').map(({ name, value }) => [name, value]);

describe('Nested maps', () => {
  it.each([
    [{ graph: { type: 'microsoft' } }, [['graph.type', 'microsoft']]],
    [{ 'graph.type': 'microsoft' }, [['graph.type', 'microsoft']]],
    [{ a: { b: { c: { d: 1 } } } }, [['a.b.c.d', 1]]],
    [
      { a: { 'b.c': 1 }, 'a.b': { d: 2 } },
      [
        ['a.b.c', 1],
        ['a.b.d', 2],
      ],
    ],
    [{ a: {}, b: undefined, c: { d: undefined } }, []],
    [{ a: [{ b: 1 }] }, [['a', [{ b: 1 }]]]],
    [
      { '': { a: 1 }, a: 2 },
      [
        ['.a', 1],
        ['a', 2],
      ],
    ],
    [JSON.parse('{"__proto__": {"a": 1}}'), [['__proto__.a', 1]]],
    [Object.assign(Object.create(null), { a: Object.assign(Object.create(null), { b: 1 }) }), [['a.b', 1]]],
  ])('become dotted names: %j', (data, expected) => {
    expect(pairs(data)).toEqual(expected);
  });

  it('name every value by its path', () => {
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    const tree = fc.letrec<{ map: Record<string, unknown> }>((tie) => ({
      map: fc.dictionary(name, fc.oneof(fc.string(), fc.integer(), fc.boolean(), tie('map')), { maxKeys: 3 }),
    })).map;
    const at = (data: unknown, path: string): unknown =>
      path.split('.').reduce((value, step) => (value as Record<string, unknown>)[step], data);
    fc.assert(
      fc.property(tree, (data) => {
        for (const { name: path, value } of flatten(data, 'data')) expect(at(data, path)).toBe(value);
        expect(new Set(pairs(data).map(([path]) => path)).size).toBe(pairs(data).length);
      }),
    );
  });

  it('cannot define a name twice', () => {
    expect(failureOf(() => flatten({ 'a.b': 1, a: { b: 2 } }, 'data'))).toMatchObject({
      code: 'data_invalid',
      message: 'data: a.b is defined twice',
    });
  });

  it('of a file are rejected with the line', () => {
    const entries = [
      { name: 'a', value: 1, line: 1 },
      { name: 'a', value: 2, line: 7 },
    ];
    expect(failureOf(() => rejectDuplicates(entries, 'f.env')).message).toBe('f.env:7: a is defined twice');
  });
});

describe('Values of a program', () => {
  it.each([
    ['text', 'text'],
    ['', ''],
    [true, true],
    [null, null],
    [0, 0],
    [-1.5, -1.5],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [1e-7, 1e-7],
    [
      ['a', 1, [null]],
      ['a', 1, [null]],
    ],
    [[{ a: 1, b: undefined }], [{ a: 1 }]],
  ])('are unchanged: %j', (value, expected) => {
    expect(pairs({ x: value })).toEqual([['x', expected]]);
  });

  it('keep the digits of a bigint', () => {
    expect(pairs({ x: 12345678901234567890n })).toEqual([
      ['x', new RawScalar('12345678901234567890', Number('12345678901234567890'))],
    ]);
  });

  it('have no references if they are secrets', () => {
    const secret = new Secret('${a}');
    const [x, y, z] = flatten({ x: secret, y: '${a}', z: new Secret('plain') }, 'data');
    expect([x, y, z].map((entry) => shown(entry?.value ?? null))).toEqual([
      { secret: '$${a}' },
      '${a}',
      { secret: 'plain' },
    ]);
  });

  it.each([
    ['a number too large', 2 ** 53, 'data: x is not an exact number'],
    ['not a number', Number.NaN, 'x is not an exact number'],
    ['infinity', Number.POSITIVE_INFINITY, 'x is not an exact number'],
    ['a function', () => 1, 'data: x must be a string'],
    ['a symbol', Symbol('s'), 'x must be'],
    ['a date', new Date(0), 'x must be'],
    ['a Map', new Map(), 'x must be'],
    ['a class', new (class Foo {})(), 'x must be'],
    ['an invalid item of a list', ['a', () => 1], 'x[1] must be'],
    ['undefined in a list', [undefined], 'x[0] must be'],
    ['a hole in a list', Array(1), 'x[0] must be'],
    ['an invalid member of a map in a list', [{ a: 2 ** 60 }], 'x[0].a is not an exact number'],
  ])('are rejected with a TypeError: %s', (_, value, message) => {
    expect(() => flatten({ x: value }, 'data')).toThrow(TypeError);
    expect(() => flatten({ x: value }, 'data')).toThrow(message);
  });

  it('are rejected if they contain themselves', () => {
    const map: Record<string, unknown> = {};
    map['a'] = { map };
    const list: unknown[] = [];
    list.push([list]);
    const mixed: Record<string, unknown> = {};
    mixed['list'] = [mixed];
    for (const value of [map, { x: list }, { x: [mixed] }]) expect(() => flatten(value, 'data')).toThrow(TypeError);
  });

  it('have no references if they are secrets in a list', () => {
    const [, list] = pairs({ x: [new Secret('${a}'), new Secret('plain')] })[0] as [string, Secret[]];
    expect(list.map((item) => item.reveal())).toEqual(['$${a}', 'plain']);
  });

  it('may be used twice', () => {
    const shared = { b: ['v'] };
    expect(pairs({ x: shared, y: [shared, shared] })).toEqual([
      ['x.b', ['v']],
      ['y', [shared, shared]],
    ]);
  });
});

describe('A long name', () => {
  it('is rejected before it is repeated in the names below it', () => {
    const children = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]));
    expect(failureOf(() => flatten({ ['x'.repeat(500_000)]: children }, 'data'))).toMatchObject({
      code: 'data_invalid',
      hint: `shorten ${'x'.repeat(40)}…`,
    });
    expect(flatten({ ['x'.repeat(500)]: { ['y'.repeat(499)]: 1 } }, 'data')[0]?.name).toHaveLength(1000);
  });
});
