import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { OAuthProfileError } from '../../src/errors.ts';
import { recordId } from '../../src/store/encryption.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CONTENT, encrypted, headerTokens, KEY, keys, NAME } from './encrypted-record.ts';
import { itHolds } from './mutated-input.ts';

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
          socket.write(respond(taken), 'latin1');
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
function parseCommand(text: string): string | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  let at = head?.[0].length ?? 0;
  for (let left = Number(head?.[1] ?? 0); left > 0; left--) {
    const [line = '', size] = /^\$(\d+)\r\n/.exec(text.slice(at)) ?? [];
    if (size === undefined || text.length < at + line.length + Number(size) + 2) return undefined;
    at += line.length + Number(size) + 2;
  }
  return at === 0 ? undefined : text.slice(0, at);
}

/** Responds to INFO, to the script that opens the store and to the script that reads a record. */
function respond(command: string): string {
  const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
  if (/\r\ninfo\r\n/i.test(command)) return bulk('aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n');
  return command.includes('HGET') ? `*2\r\n${bulk(ID)}${bulk(stored)}` : `*2\r\n${bulk('1798761600')}${bulk('0')}`;
}

const VERSION = 'ab'.repeat(32);
const ID = recordId(keys[0], NAME);

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
