import { describe, expect, it } from 'vitest';
import { spellings } from '../../src/secret/spellings.ts';

describe('the spellings of a secret', () => {
  it('compare an ordinary token as a whole, not character by character', () => {
    const token = 'Ab1'.repeat(500);
    expect(spellings(token)[0]).toEqual([[token]]);
  });

  it('cut it only where a character can be written in several ways', () => {
    const [written] = spellings('abc.def');
    expect(written?.map((ways) => ways[0])).toEqual(['abc', '.', 'def']);
  });

  it('never contain an empty way, which would be found everywhere', () => {
    for (let point = 0; point < 0x100; point++) {
      const ways = spellings(`${String.fromCodePoint(point)}secret`).flat(2);
      expect(ways.filter((way) => way === '')).toEqual([]);
    }
  });
});
