import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeCommand,
  ProtocolError,
  type Reply,
  ReplyError,
  ReplyReader,
} from '../../../src/store/redis/redis-protocol.ts';

const line = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text));
const reply = fc.letrec<{ any: Reply; list: Reply[] }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.maxSafeInteger(),
    line,
    fc.constant(null),
    line.map((text) => new ReplyError(text)),
    tie('list'),
  ),
  list: fc.array(tie('any'), { maxLength: 5 }),
})).any;

function written(value: Reply): Buffer {
  if (value === null) return Buffer.from('$-1\r\n');
  if (typeof value === 'number') return Buffer.from(`:${value}\r\n`);
  if (typeof value === 'string') return Buffer.from(`+${value}\r\n`);
  if (value instanceof ReplyError) return Buffer.from(`-${value.message}\r\n`);
  if (Buffer.isBuffer(value)) return Buffer.concat([Buffer.from(`$${value.length}\r\n`), value, Buffer.from('\r\n')]);
  return Buffer.concat([Buffer.from(`*${value.length}\r\n`), ...value.map(written)]);
}

/** The bytes in pieces, broken at any places. */
function pieces(bytes: Buffer, breaks: readonly number[]): Buffer[] {
  const at = [0, ...breaks.map((one) => one % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe('replies of Redis', () => {
  it('are read as they were written, wherever the stream breaks', () => {
    fc.assert(
      fc.property(fc.array(reply), fc.array(fc.nat(), { maxLength: 20 }), (replies, breaks) => {
        const reader = new ReplyReader();
        const read = pieces(Buffer.concat(replies.map(written)), breaks).flatMap((piece) => reader.read(piece));
        expect(read).toEqual(replies);
      }),
    );
  });

  it('are read byte by byte too', () => {
    const reader = new ReplyReader();
    const bytes = Buffer.from('*3\r\n$4\r\na\r\nb\r\n*-1\r\n*2\r\n:-1\r\n*0\r\n+OK\r\n');
    const read = [...bytes].flatMap((byte) => reader.read(Buffer.from([byte])));
    expect(read).toEqual([[Buffer.from('a\r\nb'), null, [-1, []]], 'OK']);
  });

  it.each([
    ['a page', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['a first sign of nobody knows what', 'S'],
    ['a word instead of a number', ':one\r\n'],
    ['a number that is none exactly', ':12345678901234567\r\n'],
    ['half a number', ':1.5\r\n'],
    ['no length', '$\r\n'],
    ['a negative length', '*-2\r\n'],
    ['more than Redis can hold', '$536870913\r\n'],
    ['another beginning inside a list', '*2\r\n:1\r\n!\r\n'],
  ])('are not read out of %s', (_, text) => {
    expect(() => new ReplyReader().read(Buffer.from(text))).toThrow(ProtocolError);
  });

  it('end in words or in an error, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(...'+-:$*\r\n019a') })), (texts) => {
        const reader = new ReplyReader();
        try {
          for (const text of texts) reader.read(Buffer.from(text));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
    );
  });
});

describe('a command for Redis', () => {
  it('says the length of each part in bytes', () => {
    expect(encodeCommand(['SET', 'é', Buffer.from('\r\n'), 7]).toString()).toBe(
      '*4\r\n$3\r\nSET\r\n$2\r\né\r\n$2\r\n\r\n\r\n$1\r\n7\r\n',
    );
  });

  it('is a list of byte strings, and no part can become another', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const [list] = new ReplyReader().read(encodeCommand(parts));
        expect(list).toEqual(parts.map((one) => (Buffer.isBuffer(one) ? one : Buffer.from(String(one)))));
      }),
    );
  });
});
