import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { TransportError } from '../errors.ts';

const decoders = new Map<string, (first: Buffer) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // Some servers leave out the header that RFC 9110 §8.4.1.2 wants; with it the low half of the first byte is 8.
  ['deflate', (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/** A reply's body without its compression, piece by piece, so that a bomb can be left before it goes off. */
export async function unpackStream(
  response: IncomingMessage,
  encoding: string,
  host: string,
): Promise<AsyncIterable<Buffer>> {
  const pieces: AsyncIterator<Buffer> = response[Symbol.asyncIterator]();
  const first = await pieces.next();
  // An answer to HEAD names an encoding and has no body.
  if (first.done) return Readable.from([]);
  const decoder = decoders.get(encoding)?.(first.value);
  if (decoder === undefined) throw unreadable(host);
  const packed = async function* (): AsyncIterable<Buffer> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  return explained(
    pipeline(Readable.from(packed()), decoder, () => {}),
    host,
  );
}

async function* explained(content: AsyncIterable<Buffer>, host: string): AsyncIterable<Buffer> {
  try {
    yield* content;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw /^(?:Z_|ERR_BROTLI|ERR__ERROR|ERR_PADDING)/.test(code) ? unreadable(host) : error;
  }
}

function unreadable(host: string): TransportError {
  return new TransportError('response_unreadable', `${host} answered in an encoding that cannot be read`, {
    sent: true,
    hint: 'gzip, deflate and br can be: look at the Accept-Encoding that was sent, and at proxies on the way',
  });
}
