import { Redis, type RedisOptions } from 'ioredis';
import { OAuthProfileError } from '../errors.ts';
import { Secret } from '../secret/secret.ts';

/** Takes every lock, or none; gives back whether it did, and Redis' own time. */
const TAKE = `
local time = redis.call('TIME')
for _, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then return {0, time[1], time[2]} end
end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return {1, time[1], time[2]}`;

/** Lengthens the lease that is still ours. */
const RENEW = `
local held = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then held = held + redis.call('PEXPIRE', key, ARGV[2]) end
end
return held`;

/** Lets go of what is still ours. */
const RELEASE = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 1`;

/**
 * Writes exactly when the head is still the one that the writer saw (ARGV[1], empty for none), or already its own: the answer to a first try may
 * have been lost. Further keys are the names under older keys; they go.
 */
const WRITE = `
local head = redis.call('HGET', KEYS[1], 'head') or ''
for i = 2, #KEYS do
  if head == '' then head = redis.call('HGET', KEYS[i], 'head') or '' end
end
if head ~= ARGV[1] and head ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'head', ARGV[2], 'sealed', ARGV[3])
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1`;

/** How long a command is tried again while Redis is away: what a provider has answered must still be written after a restart. */
const PATIENCE_MS = 20_000;
const CONNECT_MS = 5_000;
const RETRY_MS = 200;

/** A record as Redis holds it. */
export interface StoredRecord {
  readonly key: string;
  /** What a write compares. */
  readonly head: string;
  readonly sealed: Buffer;
}

/** A Redis with the few operations that a store is made of; what goes wrong is one of our errors. */
export class RedisClient {
  /** The address without user and password. */
  readonly place: string;
  readonly #redis: Redis;
  #lastFault = '';
  /** Redis' time less this machine's. */
  #offsetMs = 0;

  constructor(address: string) {
    const url = parseAddress(address);
    this.place = `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
    const options: RedisOptions = {
      lazyConnect: true,
      connectTimeout: CONNECT_MS,
      maxRetriesPerRequest: Math.ceil(PATIENCE_MS / RETRY_MS),
      retryStrategy: () => RETRY_MS,
      enableAutoPipelining: false,
      ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
      ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 6379 : Number(url.port),
      db: Number(url.pathname.slice(1) || 0),
      ...(url.protocol === 'rediss:' && { tls: { servername: url.hostname } }),
    };
    this.#redis = new Redis(options);
    this.#redis.on('error', (error: Error) => {
      this.#lastFault = faultOf(error);
    });
  }

  /** Connects once; a Redis that is not there now is an error now. */
  async connect(): Promise<void> {
    try {
      await this.#redis.connect();
      await this.#setTime(await this.#redis.time());
    } catch (error) {
      this.#redis.disconnect();
      throw this.#away(error);
    }
  }

  now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** The sealed records with these names, as many as there are. */
  async read(keys: readonly string[]): Promise<StoredRecord[]> {
    const pipeline = this.#redis.pipeline();
    for (const key of keys) pipeline.hmgetBuffer(key, 'head', 'sealed');
    const replies = (await this.#tried(pipeline.exec())) ?? [];
    return replies.flatMap(([error, fields], index) => {
      if (error !== null) throw this.#away(error);
      const [head, sealed] = fields as (Buffer | null)[];
      return head && sealed ? [{ key: keys[index] ?? '', head: head.toString(), sealed }] : [];
    });
  }

  /** The names of all records. */
  async names(pattern: string): Promise<string[]> {
    const names = new Set<string>();
    let cursor = '0';
    do {
      const [next, found] = await this.#tried(this.#redis.scan(cursor, 'MATCH', pattern, 'COUNT', 500));
      for (const name of found) names.add(name);
      cursor = next;
    } while (cursor !== '0');
    return [...names];
  }

  /** Whether the locks were free and are ours now. */
  async take(locks: readonly string[], nonce: string, leaseMs: number): Promise<boolean> {
    const reply = (await this.#tried(this.#redis.eval(TAKE, locks.length, ...locks, nonce, leaseMs))) as (
      | string
      | number
    )[];
    await this.#setTime(reply.slice(1).map(Number));
    return Number(reply[0]) === 1;
  }

  async renew(locks: readonly string[], nonce: string, leaseMs: number): Promise<boolean> {
    return Number(await this.#tried(this.#redis.eval(RENEW, locks.length, ...locks, nonce, leaseMs))) === locks.length;
  }

  async release(locks: readonly string[], nonce: string): Promise<void> {
    await this.#tried(this.#redis.eval(RELEASE, locks.length, ...locks, nonce));
  }

  async write(keys: readonly string[], seen: string, head: string, sealed: Buffer): Promise<boolean> {
    return Number(await this.#tried(this.#redis.eval(WRITE, keys.length, ...keys, seen, head, sealed))) === 1;
  }

  async remove(keys: readonly string[]): Promise<void> {
    await this.#tried(this.#redis.del(...keys));
  }

  /** What this Redis may lose, in words; nothing where it keeps everything. */
  async weaknesses(): Promise<string[]> {
    const info = await this.#tried(this.#redis.info()).catch(() => '');
    const found: string[] = [];
    if (/^aof_enabled:0/m.test(info)) {
      found.push('it has no append-only persistence: a restart can lose a rotated refresh token (set appendonly yes)');
    }
    const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(info) ?? [];
    if (policy !== 'noeviction') {
      found.push(`it may drop records when memory is short (maxmemory-policy ${policy}; set noeviction)`);
    }
    return found;
  }

  close(): void {
    this.#redis.disconnect();
  }

  async #setTime([seconds = 0, microseconds = 0]: readonly number[]): Promise<void> {
    this.#offsetMs = Math.round(seconds * 1000 + microseconds / 1000) - Date.now();
  }

  async #tried<T>(command: Promise<T>): Promise<T> {
    try {
      return await command;
    } catch (error) {
      throw this.#away(error);
    }
  }

  #away(error: unknown): OAuthProfileError {
    if (error instanceof OAuthProfileError) return error;
    // The library counts its attempts; what stopped them is what a person has to know.
    const fault = this.#lastFault || faultOf(error);
    return new OAuthProfileError('store_unreadable', `the Redis at ${this.place} does not serve: ${fault}`, {
      advice: 'check its address, user, password and network; nothing is refreshed without it',
    });
  }
}

/** What Redis or the network said, without anything that was sent. */
function faultOf(error: unknown): string {
  const { code, message = '' } = error as NodeJS.ErrnoException;
  const [word = ''] = /^[A-Z]{3,}\b/.exec(message) ?? [];
  return code ?? (word === '' ? 'no answer' : word);
}

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '' || !/^\/?\d*$/.test(url.pathname)) {
    throw new OAuthProfileError('usage', 'the store is no address of a Redis', {
      advice: 'write redis://host:6379, rediss:// for TLS, a number behind / for another database',
    });
  }
  // From here on it is masked wherever it appears.
  if (url.password !== '') new Secret(decodeURIComponent(url.password));
  return url;
}
