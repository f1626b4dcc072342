import { describe, expect, it } from 'vitest';
import { HEAD_LENGTH, spellings } from '../../src/redaction/spellings.ts';
import { awkwardSecrets } from '../support/encodings.ts';

describe.each(Object.entries(awkwardSecrets))('the spellings of a secret of %s', (_, secret) => {
  it('begin with their heads, though these are made before the rest', () => {
    for (const { head, text, fold } of spellings(secret)) {
      expect(head).toHaveLength(HEAD_LENGTH);
      const folded = head.split('').map((char) => String.fromCharCode(fold(char.charCodeAt(0))));
      expect(text.startsWith(folded.join(''))).toBe(true);
    }
  });
});

describe('the spellings of a secret', () => {
  it('begin with their heads, wherever a character of two units stands', () => {
    for (let at = 0; at < 10; at++) {
      for (const { head, text, fold } of spellings(`${'a'.repeat(at)}😀${'b'.repeat(10)}`)) {
        expect(text.startsWith(head.replace(/./gs, (char) => String.fromCharCode(fold(char.charCodeAt(0)))))).toBe(
          true,
        );
      }
    }
  });

  it('fall back in few steps, however much a secret repeats itself', () => {
    for (const secret of ['-'.repeat(8000), 'ab'.repeat(4000), 'aab'.repeat(3000)]) {
      const [{ text, fallbacks } = { text: '', fallbacks: new Int32Array() }] = spellings(secret);
      let steps = 0;
      for (let depth = text.length - 1; depth > 0; depth = fallbacks[depth] ?? 0) steps++;
      expect(steps).toBeLessThan(20);
    }
  });
});
