import { describe, expect, it } from 'vitest';
import { ByteCollector } from '../../src/http/byte-collector.ts';

describe('a body', () => {
  it.each([1, 2, 3, 1000, 65_536])('in pieces of up to %i bytes comes out whole', (most) => {
    const whole = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));
    const collector = new ByteCollector(whole.length);
    for (let at = 0; at < whole.length; at += most) collector.add(whole.subarray(at, at + most));
    expect(collector.bytes.equals(whole)).toBe(true);
  });

  it('of one piece is that piece', () => {
    const piece = Buffer.from('{}');
    const collector = new ByteCollector(2);
    collector.add(piece);
    expect(collector.bytes.buffer).toBe(piece.buffer);
  });

  it('of several pieces holds on to none of them', () => {
    const pieces = ['{"access_', 'token":', '"x"}'].map((text) => Buffer.from(text));
    const collector = new ByteCollector(1000);
    for (const piece of pieces) collector.add(piece);
    for (const piece of pieces) piece.fill(0);
    expect(collector.bytes.toString()).toBe('{"access_token":"x"}');
  });

  it('of very many pieces is copied a few times only', () => {
    let copied = 0;
    class Counted extends ByteCollector {
      override add(piece: Buffer): boolean {
        const before = this.bytes;
        const fits = super.add(piece);
        copied += piece.length + (this.bytes.buffer === before.buffer ? 0 : before.length);
        return fits;
      }
    }
    const collector = new Counted(2 * 1_048_576);
    const piece = Buffer.from('y');
    for (let count = 0; count < 1_048_576; count++) collector.add(piece);
    expect(copied).toBeLessThan(3 * 1_048_576);
    expect(collector.bytes.buffer.byteLength).toBeLessThanOrEqual(2 * 1_048_576 + 2);
  });

  it('that is too large is not taken any further', () => {
    const collector = new ByteCollector(5);
    expect([...'abcdef'].map((char) => collector.add(Buffer.from(char)))).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(collector.bytes.toString()).toBe('abcde');
    expect(new ByteCollector(5).add(Buffer.from('abcdef'))).toBe(false);
  });
});
