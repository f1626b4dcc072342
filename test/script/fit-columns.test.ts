import { describe, expect, it } from 'vitest';
import { countColumns, fitColumns } from '../../src/script/fit-columns.ts';

describe('The width of text', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['😀', 2],
    ['é', 1],
    ['✓ ✗ … │ ⠋', 9],
  ])('of %s is %d columns', (text, expected) => expect(countColumns(text)).toBe(expected));

  it.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['日本語', 4, '日…'],
    ['abc', 0, ''],
    ['', 5, ''],
  ])('of %s is limited to %d columns: %s', (text, columns, expected) =>
    expect(fitColumns(text, columns)).toBe(expected),
  );
});
