import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decompress, readBody } from '../../src/http/response-body.ts';

const bytes = fc.uint8Array({ maxLength: 2000 }).map((array) => Buffer.from(array));

/** Splits a buffer into chunks of at most `size` bytes. */
function chunksOf(body: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) chunks.push(body.subarray(at, at + size));
  return chunks;
}

/** A response that arrives in these chunks. */
function responseOf(chunks: readonly Buffer[], encoding?: string): IncomingMessage {
  return Object.assign(Readable.from(chunks), {
    headers: { 'content-encoding': encoding },
  }) as unknown as IncomingMessage;
}

describe('reading a body', () => {
  it('returns all bytes, whatever the chunks are', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 100 }), async (body, size) => {
        expect((await readBody(Readable.from(chunksOf(body, size)), body.length))?.equals(body)).toBe(true);
      }),
    );
  });

  it('returns undefined exactly if there are more bytes than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 100 }), fc.nat(2000), async (body, size, maxBytes) => {
        const read = await readBody(Readable.from(chunksOf(body, size)), maxBytes);
        expect(read === undefined).toBe(body.length > maxBytes);
      }),
    );
  });

  it('copies the chunks, because a small chunk may hold a large buffer in memory', async () => {
    const chunks = ['{"access_', 'token":', '"x"}'].map((part) => Buffer.from(part));
    const body = await readBody(Readable.from(chunks), 1000);
    for (const chunk of chunks) chunk.fill(0);
    expect(body?.toString()).toBe('{"access_token":"x"}');
  });

  it('takes at most twice the memory of the body, if it arrives byte by byte', async () => {
    const size = 100_000;
    const body = await readBody(Readable.from(chunksOf(Buffer.alloc(size, 'y'), 1)), 10 * size);
    expect(body).toHaveLength(size);
    expect(body?.buffer.byteLength).toBeLessThanOrEqual(2 * size);
  });

  it('fails with the error of the stream', async () => {
    const error = new Error('reset');
    const content = new Readable({ read: () => content.destroy(error) });
    await expect(readBody(content, 10)).rejects.toBe(error);
  });
});

describe('decompressing a body', () => {
  const encodings = fc.constantFrom<[string, (body: Buffer) => Buffer]>(
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    [' GZip ', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['identity', (body) => body],
    ['', (body) => body],
  );

  it('restores the bytes, whatever the chunks are', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, encodings, fc.integer({ min: 1, max: 100 }), async (body, [encoding, compress], size) => {
        const response = responseOf(chunksOf(compress(body), size), encoding);
        expect((await readBody(decompress(response, 'host'), body.length))?.equals(body)).toBe(true);
      }),
    );
  });

  it('of arbitrary bytes returns bytes or fails with response_unreadable', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.constantFrom('gzip', 'deflate', 'br'), async (body, encoding) => {
        fc.pre(body.length > 0);
        const result = await readBody(decompress(responseOf([body], encoding), 'host'), 1_000_000).catch(
          (error: unknown) => error,
        );
        if (!Buffer.isBuffer(result)) expect(result).toMatchObject({ code: 'response_unreadable', sent: true });
      }),
    );
  });

  it('with an unsupported encoding fails with response_unreadable', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (encoding) => {
        fc.pre(!['', 'identity', 'gzip', 'x-gzip', 'deflate', 'br'].includes(encoding.trim().toLowerCase()));
        await expect(readBody(decompress(responseOf([Buffer.from('x')], encoding), 'host'), 10)).rejects.toMatchObject({
          code: 'response_unreadable',
        });
      }),
    );
  });
});
