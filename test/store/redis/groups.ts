import type { Redis } from 'ioredis';
import { vi } from 'vitest';
import { RedisServer } from '../../support/redis.ts';
import { closedPort } from '../../support/server.ts';

const LONG_WAIT = { timeout: 20_000, interval: 50 };

/** A primary with a replica and three Sentinels. */
export class SentinelGroup {
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  readonly #sentinels: readonly RedisServer[];

  private constructor(primary: RedisServer, replica: RedisServer, sentinels: readonly RedisServer[]) {
    this.primary = primary;
    this.replica = replica;
    this.#sentinels = sentinels;
  }

  /** Resolves when the group is ready for a failover. */
  static async start(): Promise<SentinelGroup> {
    const primary = await RedisServer.start();
    const replica = await RedisServer.start({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
    const sentinels = await Promise.all([1, 2, 3].map(() => RedisServer.start({ sentinelOf: primary.port })));
    const group = new SentinelGroup(primary, replica, sentinels);
    const clients = sentinels.map((sentinel) => sentinel.connect());
    try {
      await vi.waitUntil(
        async () => (await Promise.all(clients.map(countMembers))).every((count) => count === '1+2'),
        LONG_WAIT,
      );
      await waitForReplication(primary);
    } catch (error) {
      await group.remove();
      throw error;
    } finally {
      for (const client of clients) client.disconnect();
    }
    return group;
  }

  get hosts(): string {
    return this.#sentinels.map(({ host }) => host).join(',');
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#sentinels, this.replica, this.primary].map((server) => server.remove()));
  }
}

/** Waits until a replica has all writes of the primary. */
export async function waitForReplication(primary: RedisServer): Promise<void> {
  const client = primary.connect();
  await vi.waitUntil(async () => (await client.wait(1, 100)) === 1, LONG_WAIT);
  client.disconnect();
}

/** Replicas and other Sentinels that a Sentinel knows. */
async function countMembers(sentinel: Redis): Promise<string> {
  const fields = (await sentinel.call('SENTINEL', 'master', 'main')) as string[];
  const fieldValue = (name: string) => fields[fields.indexOf(name) + 1];
  return `${fieldValue('num-slaves')}+${fieldValue('num-other-sentinels')}`;
}

/** A cluster of three primaries. */
export class RedisCluster {
  readonly servers: readonly RedisServer[];
  readonly #clients: readonly Redis[];

  private constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
    this.#clients = servers.map((server) => server.connect());
  }

  static async start(): Promise<RedisCluster> {
    const busPorts = await Promise.all([closedPort(), closedPort(), closedPort()]);
    const servers = await Promise.all(
      busPorts.map((port) => RedisServer.start({ args: ['--cluster-enabled', 'yes', '--cluster-port', String(port)] })),
    );
    const cluster = new RedisCluster(servers);
    const ranges = [
      [0, 5460],
      [5461, 10_922],
      [10_923, 16_383],
    ] as const;
    for (const [index, client] of cluster.#clients.entries()) {
      await client.call('CLUSTER', 'ADDSLOTSRANGE', ...(ranges[index] ?? []));
      await client.call('CLUSTER', 'MEET', '127.0.0.1', servers[0]?.port ?? 0, busPorts[0] ?? 0);
    }
    await cluster.#settle();
    return cluster;
  }

  get hosts(): string {
    return this.servers.map(({ host }) => host).join(',');
  }

  async createUser(name: string, ...rules: string[]): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.call('ACL', 'SETUSER', name, 'on', ...rules)));
  }

  async clear(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.flushall()));
  }

  /** Number of keys on each node. */
  sizes(): Promise<number[]> {
    return Promise.all(this.#clients.map((client) => client.dbsize()));
  }

  /** Moves the slot of `key` to the next node, as resharding does. With `inUse`, waits for a client that notices it. */
  async moveSlot(key: string, { inUse = false } = {}): Promise<void> {
    const slot = (await this.#clients[0]?.cluster('KEYSLOT', key)) as number;
    const ids = await Promise.all(this.#clients.map((client) => client.call('CLUSTER', 'MYID') as Promise<string>));
    const slots = await Promise.all(this.#clients.map((client) => client.call('CLUSTER', 'NODES') as Promise<string>));
    const ranges = slots.map((nodes) => /myself.*connected (.*)$/m.exec(nodes)?.[1]?.split(' ') ?? []);
    const from = ranges.findIndex((list) =>
      list.some((range) => {
        const [first = 0, last = first] = range.split('-').map(Number);
        return slot >= first && slot <= last;
      }),
    );
    const to = (from + 1) % this.servers.length;
    const [source, target] = [this.#clients[from], this.#clients[to]] as [Redis, Redis];
    await source.config('RESETSTAT');
    await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[from] ?? '');
    await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[to] ?? '');
    if (inUse) await vi.waitUntil(async () => /TRYAGAIN|ASK/.test(await source.info('errorstats')), LONG_WAIT);
    for (;;) {
      const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
      if (keys.length === 0) break;
      for (const one of keys) await source.call('MIGRATE', '127.0.0.1', this.servers[to]?.port ?? 0, one, 0, 5000);
    }
    for (const client of [target, source, ...this.#clients]) {
      await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[to] ?? '');
    }
  }

  async remove(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    await Promise.all(this.servers.map((server) => server.remove()));
  }

  /** Waits until all nodes know all slots. */
  async #settle(): Promise<void> {
    const states = () => Promise.all(this.#clients.map(async (client) => await client.cluster('INFO')));
    const isReady = (info: string) => /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info);
    await vi.waitUntil(async () => (await states()).every(isReady), LONG_WAIT);
  }
}
