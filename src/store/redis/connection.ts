import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { abortError } from '../../errors.ts';
import type { RedisTarget } from './connect.ts';
import { isErrorResponse, isTransient, toStoreError, unexpectedResponse } from './redis-errors.ts';
import type { Script } from './scripts.ts';

const RETRY_INTERVAL_MS = 100;
const MAX_RESPONSE_BYTES = 64 * 1_048_576;
const MAX_RESPONSE_LINES = 100_000;
/** Number of records that are read at once, and how often. */
const PAGE_SIZE = 500;
const MAX_PAGES = 10_000;

/** How long a command is repeated while Redis is unavailable; 0 for one attempt. */
export interface RetryOptions {
  readonly retryMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Argument of a script. */
export type ScriptArgument = string | number | Buffer;

interface OpenClient {
  readonly client: Redis | Cluster;
  /** The first event `error`. Commands only fail with "Connection is closed.". */
  error: Error | undefined;
  /** Data since the last response. */
  received: { bytes: number; lines: number };
}

/** A connection that is made when it is needed, and replaced after a transient error: a new client finds the primary after a failover. */
export class RedisConnection {
  #opening: Promise<OpenClient> | undefined;
  /** The clock of Redis minus this machine's, in milliseconds. */
  #clockOffset: number | undefined;
  #running = 0;
  #closed = false;

  constructor(readonly target: RedisTarget) {}

  /**
   * Runs commands, and repeats them after transient errors. A lost response is one of these, so commands must be safe to repeat. Rejects with an
   * `OAuthProfileError` that contains nothing that was sent.
   */
  async run<T>(commands: (client: Redis | Cluster) => Promise<T>, { retryMs, signal }: RetryOptions): Promise<T> {
    const deadline = performance.now() + retryMs;
    for (;;) {
      if (this.#closed) throw new TypeError('the store is closed');
      try {
        return await this.#runOnce(commands);
      } catch (error) {
        const isLast = performance.now() + RETRY_INTERVAL_MS > deadline;
        if (isLast || !isTransient(error)) throw toStoreError(error, this.target.hosts);
      }
      await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {});
      if (signal?.aborted) throw abortError(signal);
    }
  }

  /** Runs a script. EVAL instead of EVALSHA: the scripts are short, and every server can run them, also after a failover. */
  async eval(
    { source, response }: Script,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    retry: RetryOptions,
  ): Promise<unknown[]> {
    return this.run(async (client) => {
      const items = [await client.callBuffer('eval', source, keys.length, ...keys, ...args)].flat();
      const shape = items.map((item) => (Buffer.isBuffer(item) ? 'b' : String(item)));
      if (!response.test(shape.join(''))) throw unexpectedResponse();
      return items;
    }, retry);
  }

  /** Returns the fields of a hash page by page, so that no response is large. A field may be returned more than once. */
  async *scanHash(key: string, retry: RetryOptions): AsyncGenerator<[field: Buffer, value: Buffer]> {
    let cursor = '0';
    for (let page = 0; page < MAX_PAGES; page++) {
      const [next, fields] = await this.run(async (client) => {
        const response = await client.hscanBuffer(key, cursor, 'COUNT', PAGE_SIZE);
        const fields: unknown = response?.[1];
        const isValid = Array.isArray(fields) && fields.every(Buffer.isBuffer) && /^\d+$/.test(String(response[0]));
        if (!isValid) throw unexpectedResponse();
        return response;
      }, retry);
      for (let i = 1; i < fields.length; i += 2) yield [fields[i - 1] as Buffer, fields[i] as Buffer];
      cursor = String(next);
      if (cursor === '0') return;
    }
    throw toStoreError(unexpectedResponse(), this.target.hosts);
  }

  /** Runs a script whose response starts with the time of Redis, and compares the clocks in the middle between request and response. */
  async evalWithTime(...call: Parameters<RedisConnection['eval']>): Promise<unknown[]> {
    const sentAt = Date.now();
    const [seconds, microseconds, ...rest] = await this.eval(...call);
    const receivedAt = Date.now();
    const offset = Math.round(Number(seconds) * 1000 + Number(microseconds) / 1000 - (sentAt + receivedAt) / 2);
    if (!Number.isFinite(offset)) throw toStoreError(unexpectedResponse(), this.target.hosts);
    // Do not replace an offset that agrees with this response: it may be more precise.
    const difference = Math.abs(offset - (this.#clockOffset ?? Number.POSITIVE_INFINITY));
    if (difference > (receivedAt - sentAt) / 2 + 1) this.#clockOffset = offset;
    return rest;
  }

  /** Epoch milliseconds by the clock of Redis. */
  now(): number {
    return Date.now() + (this.#clockOffset ?? 0);
  }

  /** Checks the configuration of each primary, as far as the user may read it, and returns what can lose records. */
  async findWeaknesses(retry: RetryOptions): Promise<string[]> {
    const readInfo = (node: Redis): Promise<string> =>
      node.info().catch((error) => {
        if (!isErrorResponse(error)) throw error;
        return '';
      });
    const infos = await this.run((client) => Promise.all(nodesOf(client, 'master').map(readInfo)), retry);
    const weaknesses = infos.flatMap((info) => {
      const [, persistence] = /^aof_enabled:(\d)/m.exec(info) ?? [];
      const [, policy] = /^maxmemory_policy:(\S+)/m.exec(info) ?? [];
      if (persistence === undefined || policy === undefined) {
        return ['does not permit INFO: cannot verify that it has appendonly yes and maxmemory-policy noeviction'];
      }
      const isEvicting = policy !== 'noeviction';
      return [
        ...(persistence === '0' ? ['can lose a rotated refresh token in a restart: set appendonly yes'] : []),
        ...(isEvicting ? [`can evict records (maxmemory-policy ${policy}): set maxmemory-policy noeviction`] : []),
      ];
    });
    return [...new Set(weaknesses)].map((weakness) => `Redis at ${this.target.hosts} ${weakness}`);
  }

  /** Closes all sockets. Commands that are running fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const opened = await this.#opening?.catch(() => undefined);
    if (opened !== undefined) disconnect(opened.client);
  }

  async #runOnce<T>(commands: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    this.#opening ??= this.#open();
    const opening = this.#opening;
    const opened = await opening;
    this.#running++;
    setRef(opened.client, true);
    try {
      const result = await commands(opened.client);
      opened.received = { bytes: 0, lines: 0 };
      return result;
    } catch (error) {
      if (isTransient(error)) {
        this.#forget(opening);
        disconnect(opened.client);
      }
      throw isClosedError(error) ? (opened.error ?? error) : error;
    } finally {
      // An idle connection must not keep the process alive.
      if (--this.#running === 0) setRef(opened.client, false);
    }
  }

  #open(): Promise<OpenClient> {
    const opening = this.#connect();
    const forget = (): void => this.#forget(opening);
    opening.then(({ client }) => client.once('end', forget), forget);
    return opening;
  }

  #forget(opening: Promise<OpenClient>): void {
    if (this.#opening === opening) this.#opening = undefined;
  }

  async #connect(): Promise<OpenClient> {
    const client = await this.target.createClient();
    const opened: OpenClient = { client, error: undefined, received: { bytes: 0, lines: 0 } };
    const limit = (node: Redis): void => {
      node.on('connect', () => limitResponses(node.stream, opened));
    };
    if (client.isCluster) client.on('+node', limit);
    else limit(client as Redis);
    const onError = (error: Error & { lastNodeError?: Error }): void => {
      const detail = error.lastNodeError ?? error;
      if (!isClosedError(detail)) opened.error ??= detail;
    };
    for (const event of ['error', 'node error', 'sentinelError']) client.on(event, onError);
    try {
      await client.connect();
      // ioredis reports a failed SELECT by an event only, and continues with database 0.
      if (!client.isCluster && opened.error !== undefined) throw opened.error;
    } catch (error) {
      disconnect(client);
      throw opened.error ?? error;
    }
    opened.error = undefined;
    return opened;
  }
}

/** Returns the nodes of a cluster, or the only server. */
function nodesOf(client: Redis | Cluster, role: 'all' | 'master'): Redis[] {
  return client.isCluster ? (client as Cluster).nodes(role) : [client as Redis];
}

function setRef(client: Redis | Cluster, ref: boolean): void {
  for (const { stream } of nodesOf(client, 'all')) stream?.[ref ? 'ref' : 'unref']();
}

/** Closes the sockets without waiting for an unresponsive peer. */
function disconnect(client: Redis | Cluster): void {
  const sockets = nodesOf(client, 'all').map(({ stream }) => stream);
  client.disconnect();
  for (const socket of sockets) socket?.destroy();
}

/** Closes a connection whose server sends without end: a response takes several times its size in memory. */
function limitResponses(stream: Redis['stream'], opened: OpenClient): void {
  stream.on('data', (chunk: Buffer) => {
    const { received } = opened;
    received.bytes += chunk.length;
    for (let at = chunk.indexOf('\r\n'); at !== -1; at = chunk.indexOf('\r\n', at + 2)) received.lines++;
    if (received.bytes > MAX_RESPONSE_BYTES || received.lines > MAX_RESPONSE_LINES)
      stream.destroy(unexpectedResponse());
  });
}

const isClosedError = (error: unknown): boolean => (error as Error).message === 'Connection is closed.';
