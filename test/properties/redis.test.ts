import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { OAuthProfileError } from '../../src/errors.ts';
import { ProtocolError, ReplyReader } from '../../src/store/redis/redis-protocol.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CONTENT, encrypted, headerTokens, KEY, NAME } from '../support/encrypted-record.ts';
import { itHolds } from '../support/mutated-input.ts';

/** The value that the fake Redis server returns for every record. */
let stored = '';
let opened: ReturnType<typeof openRedisStore> | undefined;

function openStore(): ReturnType<typeof openRedisStore> {
  opened ??= new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      let received = '';
      socket.setEncoding('latin1').on('data', (piece: string) => {
        received += piece;
        for (let taken = parseCommand(received); taken !== undefined; taken = parseCommand(received)) {
          received = received.slice(taken.length);
          socket.write(respond(taken.name), 'latin1');
        }
      });
      socket.on('error', () => {});
      socket.unref();
    });
    server.unref();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      openRedisStore(`redis://127.0.0.1:${port}`, { env: { OAUTH_PROFILE_KEY: KEY }, warn: () => {} }).then(
        resolve,
        reject,
      );
    });
  });
  return opened;
}

/** Returns the first command in the received bytes, if it is complete. */
function parseCommand(text: string): { readonly name: string; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  let at = head?.[0].length ?? 0;
  let name = '';
  for (let left = Number(head?.[1] ?? 0); left > 0; left--) {
    const [line = '', size] = /^\$(\d+)\r\n/.exec(text.slice(at)) ?? [];
    if (size === undefined || text.length < at + line.length + Number(size) + 2) return undefined;
    name ||= text.slice(at + line.length, at + line.length + Number(size)).toUpperCase();
    at += line.length + Number(size) + 2;
  }
  return at === 0 ? undefined : { name, length: at };
}

function respond(name: string): string {
  const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
  if (name === 'TIME') return `*2\r\n${bulk('1798761600')}${bulk('0')}`;
  if (name === 'SMEMBERS') return '*0\r\n';
  if (name === 'MGET') return `*1\r\n${bulk(stored)}`;
  return name === 'INFO' ? bulk('aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n') : '+OK\r\n';
}

const VERSION = 'ab'.repeat(32);

itHolds('accepts only the authentic record from Redis', {
  runs: 25,
  seeds: [VERSION + encrypted, VERSION, VERSION.slice(1) + encrypted],
  tokens: [...headerTokens, VERSION, '\r\n', '$-1\r\n'],
  async check(input) {
    const store = await openStore();
    stored = Buffer.from(input, 'latin1').toString('latin1');
    let found: Awaited<ReturnType<typeof store.read>>;
    try {
      found = await store.read(NAME);
    } catch (error) {
      assert.ok(error instanceof OAuthProfileError);
      assert.equal(error.code, 'store_unreadable');
      return;
    }
    if (stored === '') assert.equal(found, undefined);
    else {
      assert.equal(stored.slice(64), encrypted, 'a forged record is accepted');
      assert.equal(found?.content.reveal(), CONTENT);
    }
  },
});

itHolds('reads a Redis response the same in one chunk and in two', {
  seeds: ['+OK\r\n', '*2\r\n$3\r\na\r\n\r\n:-7\r\n', '-ERR no\r\n*-1\r\n$-1\r\n*0\r\n'],
  tokens: ['\r\n', '+', '-', ':', '$', '*', '$-1\r\n', '*2\r\n', '536870912'],
  check(input) {
    const bytes = Buffer.from(input, 'latin1');
    const read = (pieces: readonly Buffer[]): unknown => {
      const reader = new ReplyReader();
      try {
        return pieces.flatMap((piece) => reader.read(piece));
      } catch (error) {
        assert.ok(error instanceof ProtocolError);
        return 'protocol error';
      }
    };
    const middle = bytes.length >> 1;
    assert.deepEqual(read([bytes.subarray(0, middle), bytes.subarray(middle)]), read([bytes]));
  },
});
