import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepCopy, deepEqual } from '../../src/config/copy.ts';
import { Secret } from '../../src/redaction/secret.ts';

/** Without -0, which JSON has not. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
const anything = fc.anything({ withNullPrototype: true, withBigInt: true, maxDepth: 3 });

describe('a copy', () => {
  it('is the same as long as nothing changes', () => {
    fc.assert(
      fc.property(anything, (value) => {
        expect(deepEqual(value, deepCopy(value))).toBe(true);
      }),
    );
  });

  it.each([
    ['a text', { a: 'x' }, (data: Record<string, unknown>) => Object.assign(data, { a: 'y' })],
    ['a name more', { a: 'x' }, (data: Record<string, unknown>) => Object.assign(data, { b: 'y' })],
    ['a name that is gone', { a: 'x', b: 'y' }, (data: Record<string, unknown>) => Reflect.deleteProperty(data, 'b')],
    [
      'an undefined that stands for a name',
      { a: 'x' },
      (data: Record<string, unknown>) => Object.assign(data, { a: undefined }),
    ],
    ['a type', { a: 1 }, (data: Record<string, unknown>) => Object.assign(data, { a: '1' })],
    ['a sign', { a: 0 }, (data: Record<string, unknown>) => Object.assign(data, { a: -0 })],
    [
      'something deep',
      { a: { b: [{ c: 1 }] } },
      (data: { a: { b: { c: number }[] } }) => Object.assign(data.a.b[0] ?? {}, { c: 2 }),
    ],
    ['an item more', { a: ['x'] }, (data: { a: string[] }) => data.a.push('y')],
    ['an item that is gone', { a: ['x', 'y'] }, (data: { a: string[] }) => data.a.pop()],
    ['a list that becomes nothing', { a: ['x'] }, (data: Record<string, unknown>) => Object.assign(data, { a: null })],
    [
      'a list that becomes a map',
      { a: ['x'] },
      (data: Record<string, unknown>) => Object.assign(data, { a: { 0: 'x' } }),
    ],
    [
      'a map that becomes a list',
      { a: { 0: 'x' } },
      (data: Record<string, unknown>) => Object.assign(data, { a: ['x'] }),
    ],
    [
      'another secret',
      { a: new Secret('x') },
      (data: Record<string, unknown>) => Object.assign(data, { a: new Secret('x') }),
    ],
    [
      'the order of names',
      { a: 1, b: 2 },
      (data: Record<string, unknown>) => {
        Reflect.deleteProperty(data, 'a');
        Object.assign(data, { a: 1 });
      },
    ],
  ] as [string, object, (data: object) => unknown][])('tells %s', (_, data, change) => {
    const copy = deepCopy(data);
    expect(deepEqual(data, copy)).toBe(true);
    change(data);
    expect(deepEqual(data, copy)).toBe(false);
  });

  it('differs from whatever it is no copy of', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(deepEqual(one, deepCopy(other))).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });
});
