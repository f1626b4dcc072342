import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Held, Kept, TokenStore, Wait } from '../ports.ts';
import { Secret } from '../secret/secret.ts';
import { aborted, locked, unreadable } from './failure.ts';
import { fingerprint } from './fingerprint.ts';
import { RedisClient, type StoredRecord } from './redis-client.ts';
import { type KeyRing, readKeys, recordId, type SealedRecord, seal, unseal } from './seal.ts';
import { Turns } from './turns.ts';

const PREFIX = 'oauth-profile';
const LEASE_MS = 5_000;
const RENEW_MS = 1_500;
const FIRST_POLL_MS = 10;
const LONGEST_POLL_MS = 250;

/** A store in Redis, shared by all machines that know its address and the key; the lease decides who may send, the head who may write. */
export async function openRedisStore(
  address: string,
  { env, warn }: { readonly env: Readonly<Record<string, string | undefined>>; readonly warn: (text: string) => void },
): Promise<TokenStore> {
  const key = env['OAUTH_PROFILE_KEY'];
  if (!key) {
    throw unreadable(
      'OAUTH_PROFILE_KEY is not set: what is kept in Redis is sealed with it',
      'make one with: openssl rand -base64 32, and set it on every machine that shares the store',
    );
  }
  const ring = readKeys(new Secret(key), 'OAUTH_PROFILE_KEY');
  const client = new RedisClient(address);
  await client.connect();
  for (const weakness of await client.weaknesses()) warn(`the Redis at ${client.place}: ${weakness}`);
  return new RedisStore(client, ring);
}

/** A record with its head as Redis compares it, made with whatever key was the first then. */
interface MarkedRecord extends SealedRecord {
  readonly mark: string;
}

class RedisStore implements TokenStore {
  readonly #turns = new Turns();
  readonly #client: RedisClient;
  readonly #ring: KeyRing;

  constructor(client: RedisClient, ring: KeyRing) {
    this.#client = client;
    this.#ring = ring;
  }

  get place(): string {
    return this.#client.place;
  }

  fingerprint(text: string | Secret): string {
    return fingerprint(text);
  }

  now(): number {
    return this.#client.now();
  }

  async read(name: string): Promise<Kept | undefined> {
    return (await this.#find(name))?.kept;
  }

  async list(): Promise<{ name: string; kept: Kept }[]> {
    const keys = await this.#client.names(`${PREFIX}:record:*`);
    const found = keys.length === 0 ? [] : await this.#client.read(keys);
    const newest = new Map<string, SealedRecord>();
    for (const stored of found) {
      const record = this.#open(stored);
      if ((newest.get(record.name)?.turn ?? -1) < record.turn) newest.set(record.name, record);
    }
    return [...newest.values()].map(({ name, kept }) => ({ name, kept }));
  }

  update<T>(name: string, change: (held: Held) => Promise<T>, wait: Wait<T>): Promise<T> {
    const queuedAt = this.now();
    const late = (): Error => locked('another process', wait.timeoutMs);
    return this.#turns.take(name, wait, late, async () => {
      try {
        return await this.#alone(name, change, wait, queuedAt);
      } finally {
        this.#turns.leave(name);
      }
    });
  }

  async close(): Promise<void> {
    await this.#turns.close();
    this.#client.close();
  }

  async #alone<T>(name: string, change: (held: Held) => Promise<T>, wait: Wait<T>, queuedAt: number): Promise<T> {
    const nonce = randomUUID();
    const locks = this.#names('lock', name);
    const found = await this.#takeLocks(name, locks, nonce, wait, queuedAt);
    if (found !== undefined) return found.result;
    const renewing = setInterval(() => {
      // Whoever loses the lease goes on: the reply to a request that was sent must be written, and the head guards the write.
      this.#client.renew(locks, nonce, LEASE_MS).catch(() => {});
    }, RENEW_MS);
    try {
      return await change(await this.#hold(name, queuedAt));
    } finally {
      clearInterval(renewing);
      await this.#client.release(locks, nonce).catch(() => {});
    }
  }

  /** Waits until the locks are ours, or until what somebody else has written does as well. */
  async #takeLocks<T>(
    name: string,
    locks: readonly string[],
    nonce: string,
    wait: Wait<T>,
    queuedAt: number,
  ): Promise<{ readonly result: T } | undefined> {
    const deadline = Date.now() + wait.timeoutMs;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(LONGEST_POLL_MS, pauseMs * 1.3)) {
      if (wait.signal?.aborted) throw aborted(wait.signal);
      if (await this.#client.take(locks, nonce, LEASE_MS)) return undefined;
      if (Date.now() >= deadline) throw locked('another process', wait.timeoutMs);
      // Half of it is left to chance, so that a fleet does not ask in step.
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: wait.signal }).catch(() => {});
      const result = wait.contentWith?.(await this.read(name), queuedAt);
      if (result !== undefined) return { result };
    }
  }

  async #hold(name: string, queuedAt: number): Promise<Held> {
    let record = await this.#find(name);
    const keys = this.#names('record', name);
    const [key] = this.#ring;
    const readAgain = async (): Promise<Kept | undefined> => {
      record = await this.#find(name);
      return record?.kept;
    };
    return {
      kept: record?.kept,
      queuedAt,
      readAgain,
      write: async (next) => {
        const sealed = { name, turn: (record?.turn ?? 0) + 1, kept: next };
        const mark = this.#mark(next);
        const written = await this.#client.write(keys, record?.mark ?? '', mark, seal(sealed, key));
        if (written) record = { ...sealed, mark };
        return written;
      },
      remove: async () => {
        await this.#client.remove(keys);
        record = undefined;
      },
    };
  }

  async #find(name: string): Promise<MarkedRecord | undefined> {
    const found = await this.#client.read(this.#names('record', name));
    return found.map((stored) => this.#open(stored)).sort((one, other) => other.turn - one.turn)[0];
  }

  #open({ key, head, sealed }: StoredRecord): MarkedRecord {
    const id = key.slice(key.lastIndexOf(':') + 1);
    return { ...unseal(sealed, id, this.#ring, `the record ${id.slice(0, 8)} in ${this.place}`), mark: head };
  }

  /** A name under each key of the ring, the sealing one first: what is sealed with an old key has its name from it too. */
  #names(kind: 'record' | 'lock', name: string): string[] {
    return this.#ring.map((key) => `${PREFIX}:${kind}:${recordId(key, name)}`);
  }

  /** The head as it stands in Redis: who can read it learns nothing from it, not even that two records share a token. */
  #mark({ head }: Kept): string {
    return recordId(this.#ring[0], `head ${head}`);
  }
}
