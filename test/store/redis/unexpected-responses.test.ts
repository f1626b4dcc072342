import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { TokenStore } from '../../../src/ports.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { errorOf } from '../../support/errors.ts';
import { anyKey, longWait, storedRecord } from '../../support/store.ts';

const CRLF = '\r\n';
const bulk = (value: string): string => `$${value.length}${CRLF}${value}${CRLF}`;
const list = (...items: string[]): string => `*${items.length}${CRLF}${items.join('')}`;
const TIME = [bulk('1798761600'), bulk('0')] as const;

let server: Server;
let commands: number;
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Starts a server that responds to each chunk of commands, and returns its URL. */
async function startServer(respond: (command: string, socket: Socket) => string | Buffer): Promise<string> {
  commands = 0;
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      commands++;
      socket.write(respond(chunk.toString('latin1'), socket));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const open = (url: string): Promise<TokenStore> =>
  openRedisStore(url, { env: { OAUTH_PROFILE_KEY: anyKey() }, warn: () => {} });
const unexpected = { code: 'store_unreadable', hint: expect.any(String) };

const responses: readonly (readonly [name: string, response: string])[] = [
  ['+OK', `+OK${CRLF}`],
  [':1', `:1${CRLF}`],
  [':0', `:0${CRLF}`],
  ['null', `$-1${CRLF}`],
  ['a null list', `*-1${CRLF}`],
  ['an empty list', list()],
  ['an empty string', bulk('')],
  ['a list of one number', list(`:1${CRLF}`)],
  ['a list of null', list(`$-1${CRLF}`, `$-1${CRLF}`, `$-1${CRLF}`)],
  ['a list of lists', list(list(`:1${CRLF}`))],
  ['a time that is not a number', list(bulk('x'), bulk('y'))],
  ['an error', `-ERR no${CRLF}`],
  ['HTTP', `HTTP/1.1 400 Bad Request${CRLF}${CRLF}`],
  ['a boolean', `#t${CRLF}`],
  ['a map', `%1${CRLF}+a${CRLF}+b${CRLF}`],
];

describe('a server whose response to every command', () => {
  it.each(responses)('is %s is rejected when the store is opened, after a few commands', async (_, response) => {
    const url = await startServer(() => response);
    expect(await errorOf(open(url))).toMatchObject(unexpected);
    expect(commands).toBeLessThan(10);
  });

  it.each(responses)(
    'is %s after the store was opened fails each operation, after a few commands',
    async (_, response) => {
      let isOpen = false;
      const url = await startServer((command) => {
        if (isOpen) return response;
        return command.includes('info') ? bulk('aof_enabled:1') : list(...TIME);
      });
      const store = await open(url);
      isOpen = true;
      for (const operation of [
        () => store.read('a'),
        () => store.list(),
        () => store.lock('a', { timeoutMs: 1_000, signal: undefined }),
      ]) {
        expect(await errorOf(operation())).toMatchObject(unexpected);
      }
      expect(commands).toBeLessThan(100);
      await store.close();
    },
  );

  it('reports a change that never ends is given up after the timeout, with a pause between the commands', async () => {
    const url = await startServer((command) => {
      if (command.includes('info')) return bulk('aof_enabled:1');
      return command.includes('local seen') ? list(...TIME, `:2${CRLF}`, bulk('')) : list(...TIME);
    });
    const store = await open(url);
    const locking = store.lock('a', { timeoutMs: 1_000, signal: undefined, acceptIf: () => undefined });
    expect(await errorOf(locking)).toMatchObject({ code: 'store_locked' });
    expect(commands).toBeLessThan(200);
    await store.close();
  });

  it('confirms a write with something else than 0 or 1 does not count as stored or as a conflict', async () => {
    const url = await startServer((command) => {
      if (command.includes('info')) return bulk('aof_enabled:1');
      if (command.includes('local seen')) return list(...TIME, `:1${CRLF}`, bulk(''));
      return command.includes('SADD') ? `+OK${CRLF}` : list(...TIME);
    });
    const store = await open(url);
    const lock = await store.lock('a', longWait);
    expect(await errorOf(lock.write(storedRecord('one')))).toMatchObject(unexpected);
    await lock.release();
    await store.close();
  });

  it('lists records without end is rejected', async () => {
    const url = await startServer((command) => {
      if (command.includes('info')) return bulk('aof_enabled:1');
      return command.includes('hscan') ? list(bulk('7'), list()) : list(...TIME);
    });
    const store = await open(url);
    expect(await errorOf(store.list())).toMatchObject(unexpected);
    await store.close();
  });
});

describe('a server that sends without end', () => {
  it.each([
    ['nested lists', '', `*1${CRLF}`],
    ['numbers', `*1000000000${CRLF}`, `:1${CRLF}`],
    ['empty strings', `*1000000000${CRLF}`, bulk('')],
    ['a long string', `$4000000000${CRLF}`, 'x'],
    ['a line that does not end', '+', 'x'],
  ])('is rejected, and takes little memory: %s', async (_, start, repeated) => {
    const chunk = repeated.repeat(65_536 / repeated.length);
    const started = new WeakSet<Socket>();
    let sent = 0;
    const url = await startServer((_command, socket) => {
      if (started.has(socket)) return '';
      started.add(socket);
      const send = (): void => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      };
      socket.on('drain', send);
      setImmediate(send);
      return start;
    });
    expect(await errorOf(open(url))).toMatchObject(unexpected);
    // The limit, and what the buffers of the system hold.
    expect(sent).toBeLessThan(100 * 1_048_576);
  });
});
