import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { TransportError } from '../errors.ts';
import type { WireRequest } from '../ports.ts';

const decoders = new Map<string, (body: Buffer, limits: { maxOutputLength: number }) => Buffer>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  // Some servers leave out the header that RFC 9110 §8.4.1.2 wants; with it the low half of the first byte is 8.
  ['deflate', (body, limits) => (((body[0] ?? 0) & 0x0f) === 8 ? inflateSync : inflateRawSync)(body, limits)],
  ['br', brotliDecompressSync],
]);

/** The text of a reply from a server that compresses unasked; the limit holds for what comes out. */
export function unpackReply(body: Buffer, encoding: string, maxBytes: number, { url }: WireRequest): string {
  const decoder = decoders.get(encoding);
  try {
    if (decoder !== undefined) return decoder(body, { maxOutputLength: maxBytes }).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new TransportError('response_too_large', `${url.host} answered with more than ${maxBytes} bytes`, {
        sent: true,
        hint: 'that is no token response: check the address',
      });
    }
  }
  throw new TransportError('response_unreadable', `${url.host} answered in an encoding that cannot be read`, {
    sent: true,
    hint: 'a proxy or gateway may have changed the reply: ask those who run it',
  });
}
