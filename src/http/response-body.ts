import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { TransportError } from '../errors.ts';

/** Creates the decoder of a content encoding (RFC 9110 §8.4.1), for the first chunk of a body; `undefined` if it is not supported. */
async function createDecoder(encoding: string, first: Buffer): Promise<Transform | undefined> {
  const { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } = await import('node:zlib');
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding !== 'deflate') return undefined;
  // Some servers send raw deflate data; the zlib header that RFC 9110 §8.4.1.2 requires has 8 in its low four bits.
  return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

/** Returns the body of a response without its content encoding. It is decoded in chunks, so that a size limit stops a decompression bomb. */
export function decompress(response: IncomingMessage, host: string): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  return encoding === 'identity' ? response : Readable.from(decode(response, encoding, host));
}

async function* decode(response: IncomingMessage, encoding: string, host: string): AsyncIterable<Buffer> {
  const chunks: AsyncIterator<Buffer> = response[Symbol.asyncIterator]();
  const first = await chunks.next();
  // A response to HEAD has a content encoding, but no body.
  if (first.done) return;
  const decoder = await createDecoder(encoding, first.value);
  if (decoder === undefined) throw unreadable(host);
  async function* encoded(): AsyncIterable<Buffer> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  try {
    yield* pipeline(encoded(), decoder, () => {});
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw /^(?:Z_|ERR_BROTLI|ERR__ERROR|ERR_PADDING)/.test(code) ? unreadable(host) : error;
  }
}

function unreadable(host: string): TransportError {
  return new TransportError('response_unreadable', `cannot decompress the response from ${host}`, {
    sent: true,
    hint: 'supported encodings are gzip, deflate and br: check the Accept-Encoding header and any proxy or gateway',
  });
}

/**
 * Collects a body; returns `undefined` if it has more than `maxBytes`. The chunks are copied into one growing buffer: a server can send chunks of
 * one byte, and a list of them would take hundreds of times the memory. Events, because an async iterator costs 6 % of the token throughput.
 */
export function readBody(content: Readable, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let buffer: Buffer = Buffer.alloc(0);
    let length = 0;
    content.on('data', (chunk: Buffer) => {
      const needed = length + chunk.length;
      if (needed > maxBytes) {
        content.pause();
        resolve(undefined);
        return;
      }
      if (length === 0) {
        // Most bodies are one chunk.
        buffer = chunk;
        length = needed;
        return;
      }
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(Math.max(needed, 2 * buffer.length), maxBytes));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length = needed;
    });
    content.on('end', () => resolve(buffer.subarray(0, length)));
    content.on('error', reject);
  });
}
