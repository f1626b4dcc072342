import { describe, expect, it } from 'vitest';
import { columnsOf, fitColumns } from '../../src/script/fit-columns.ts';

describe('a text in columns', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['😀', 2],
    ['é', 1],
    ['✓ ✗ … │ ⠋', 9],
  ])('%s takes %d', (text, expected) => expect(columnsOf(text)).toBe(expected));

  it.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['日本語', 4, '日…'],
    ['abc', 0, ''],
    ['', 5, ''],
  ])('%s in %d columns is %s', (text, columns, expected) => expect(fitColumns(text, columns)).toBe(expected));
});
