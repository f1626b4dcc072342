import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { TransportError } from '../errors.ts';
import type { WireRequest } from '../ports.ts';

const decoders = new Map<string, (body: Buffer, limits: { maxOutputLength: number }) => Buffer>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/** Unpacks a reply from a server that compresses unasked; the limit holds for what comes out. */
export function decode(body: Buffer, encoding: string, maxBytes: number, { url }: WireRequest): string {
  const decoder = decoders.get(encoding);
  try {
    if (decoder !== undefined) return decoder(body, { maxOutputLength: maxBytes }).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new TransportError('reply_too_large', `${url.host} answered with more than ${maxBytes} bytes`, {
        sent: true,
      });
    }
  }
  throw new TransportError('reply_unreadable', `${url.host} answered in an encoding that cannot be read`, {
    sent: true,
    advice: 'a proxy or gateway may have changed the reply: ask those who run it',
  });
}
