import { describe, expect, it } from 'vitest';
import { ByteCollector } from '../../src/transport/byte-collector.ts';

describe('a body', () => {
  it.each([1, 2, 3, 1000, 65_536])('in pieces of up to %i bytes comes out whole', (most) => {
    const whole = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));
    const collector = new ByteCollector(whole.subarray(0, 1));
    for (let at = 1; at < whole.length; at += most) collector.add(whole.subarray(at, at + most));
    expect(collector.length).toBe(whole.length);
    expect(collector.bytes.equals(whole)).toBe(true);
  });

  it('of one piece is that piece', () => {
    const piece = Buffer.from('{}');
    expect(new ByteCollector(piece).bytes.buffer).toBe(piece.buffer);
  });

  it('of several pieces holds on to none of them', () => {
    const pieces = ['{"access_', 'token":', '"x"}'].map((text) => Buffer.from(text));
    const [first = Buffer.alloc(0), ...rest] = pieces;
    const collector = new ByteCollector(first);
    for (const piece of rest) collector.add(piece);
    for (const piece of pieces) piece.fill(0);
    expect(collector.bytes.toString()).toBe('{"access_token":"x"}');
  });

  it('of very many pieces is copied a few times only', () => {
    let copied = 0;
    class Counted extends ByteCollector {
      override add(piece: Buffer): void {
        const before = this.bytes.buffer;
        const { length } = this;
        super.add(piece);
        copied += piece.length + (this.bytes.buffer === before ? 0 : length);
      }
    }
    const collector = new Counted(Buffer.from('x'));
    const piece = Buffer.from('y');
    for (let count = 1; count < 1_048_576; count++) collector.add(piece);
    expect(copied).toBeLessThan(3 * 1_048_576);
    expect(collector.bytes.buffer.byteLength).toBeLessThanOrEqual(2 * 1_048_576 + 2);
  });
});
