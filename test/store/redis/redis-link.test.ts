import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { RedisLink } from '../../../src/store/redis/redis-link.ts';
import { hasRedis, RedisServer } from '../../support/redis-server.ts';

describe('a link to a server', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  /** Answers each packet with the next of these texts. */
  async function linkTo(...answers: readonly string[]): Promise<{ link: RedisLink; packets: string[] }> {
    const packets: string[] = [];
    const left = [...answers];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        packets.push(chunk.toString());
        const answer = left.shift();
        if (answer === undefined) socket.destroy();
        else socket.write(answer);
      });
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    return { link: await RedisLink.open({ host: '127.0.0.1', port, tls: false }), packets };
  }

  it('sends what is asked at once in one packet, and gives each its own answer', async () => {
    const { link, packets } = await linkTo('+one\r\n-ERR two\r\n:3\r\n');
    const answers = await Promise.allSettled([link.ask('A'), link.ask('B'), link.ask('C')]);
    expect(answers).toMatchObject([
      { value: 'one' },
      { reason: expect.objectContaining({ name: 'ReplyError', message: 'ERR two' }) },
      { value: 3 },
    ]);
    expect(packets).toEqual(['*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n*1\r\n$1\r\nC\r\n']);
    link.end();
  });

  it('that is lost fails all that waits, and whatever is asked after', async () => {
    const { link } = await linkTo('+one\r\n');
    expect(await link.ask('A')).toBe('one');
    const waiting = await Promise.allSettled([link.ask('B'), link.ask('C')]);
    expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(link.isOpen).toBe(false);
    await expect(link.ask('D')).rejects.toThrow();
  });

  it('that is ended says why to whoever waits', async () => {
    const { link } = await linkTo('');
    const waiting = link.ask('A');
    link.end(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(link.ask('B')).rejects.toThrow('enough');
  });

  it.each([
    ['an answer that nobody asked for', '+one\r\n+two\r\n'],
    ['a page', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('ends with %s', async (_, text) => {
    const { link } = await linkTo(text);
    await link.ask('A').catch(() => {});
    expect(link.isOpen).toBe(false);
    await expect(link.ask('B')).rejects.toMatchObject({ code: 'NO_REDIS' });
  });
});

it.skipIf(!hasRedis)('a link to a Redis carries large values whole (needs redis-server)', async () => {
  const server = await RedisServer.start();
  const link = await RedisLink.open({ host: '127.0.0.1', port: server.port, tls: false });
  const value = Buffer.alloc(3_000_000, '\r\n$5\r\n\0ÿ');
  expect(await link.ask('SET', 'large', value)).toBe('OK');
  const [one, other] = (await link.ask('MGET', 'large', 'large')) as Buffer[];
  expect(one?.equals(value) && other?.equals(value)).toBe(true);
  link.end();
  await server.remove();
});
