import { randomBytes } from 'node:crypto';
import { abortError } from '../../errors.ts';
import { monotonicMs } from '../../monotonic.ts';
import type { Environment, Held, Kept, Limits, TokenStore, Wait } from '../../ports.ts';
import { Secret } from '../../redaction/secret.ts';
import { type KeyRing, readKeys, type SealedRecord, unseal } from '../encryption.ts';
import { fingerprint } from '../fingerprint.ts';
import { Turns } from '../lock/keyed-mutex.ts';
import { pause } from '../lock/pause.ts';
import { locked, unreadable } from '../store-errors.ts';
import { type Names, RedisClient, type Stored } from './redis-client.ts';
import { markOf, namesOf, type StampedRecord, toStored } from './redis-record.ts';

const RENEW_MS = 1_500;
const FIRST_POLL_MS = 10;
const LONGEST_POLL_MS = 250;

/** A store in Redis, shared by all machines that know its address and the key; the lease decides who may send, the head who may write. */
export async function openRedisStore(
  address: string,
  { env, warn }: { readonly env: Environment; readonly warn: (text: string) => void },
): Promise<TokenStore> {
  const key = env['OAUTH_PROFILE_KEY']?.trim();
  if (!key) {
    throw unreadable(
      'OAUTH_PROFILE_KEY is not set: what is kept in Redis is sealed with it',
      'make one with: openssl rand -base64 32, and set it on every machine that shares the store',
    );
  }
  const ring = readKeys(new Secret(key), 'OAUTH_PROFILE_KEY');
  const client = new RedisClient(address);
  const { weaknesses, keyIds } = await client.open();
  const store = new RedisStore(client, ring, keyIds);
  try {
    for (const id of keyIds) await store.refuseForeignKey(id);
  } catch (error) {
    client.close();
    throw error;
  }
  for (const weakness of weaknesses) warn(`the Redis at ${client.place}: ${weakness}`);
  return store;
}

class RedisStore implements TokenStore {
  readonly #turns = new Turns();
  readonly #client: RedisClient;
  readonly #ring: KeyRing;
  /** Whether records have been brought under the first key of the ring, as far as that was possible. */
  #sealedAnew: boolean;

  /** `keyIds` are those of the keys that something was sealed with before. */
  constructor(client: RedisClient, ring: KeyRing, keyIds: readonly string[]) {
    this.#client = client;
    this.#ring = ring;
    this.#sealedAnew = keyIds.every((id) => id === ring[0].id);
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
    return this.#newest(await this.#client.read(namesOf(name, this.#ring)))?.kept;
  }

  async list(): Promise<{ name: string; kept: Kept }[]> {
    const newest = new Map<string, SealedRecord>();
    for (const stored of await this.#client.read(await this.#client.names())) {
      const record = this.#open(stored);
      if ((newest.get(record.name)?.turn ?? -1) < record.turn) newest.set(record.name, record);
    }
    return [...newest.values()].map(({ name, kept }) => ({ name, kept }));
  }

  async update<T>(name: string, change: (held: Held) => Promise<T>, wait: Wait<T>): Promise<T> {
    const queuedAt = this.now();
    const deadline = monotonicMs() + wait.timeoutMs;
    const late = (): Error => locked('another process', wait.timeoutMs);
    const result = await this.#turns.take(name, wait, late, async () => {
      try {
        return await this.#alone(name, change, { ...wait, late, deadline, queuedAt });
      } finally {
        this.#turns.leave(name);
      }
    });
    if (!this.#sealedAnew) await this.#sealAnew().catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    await this.#turns.close();
    this.#client.close();
  }

  /** Refuses what is sealed with a key that is not at hand: the record that is looked for may be under it. */
  async refuseForeignKey(keyId: string): Promise<void> {
    if (this.#ring.some(({ id }) => id === keyId) || (await this.#client.forgetKey(keyId))) return;
    throw unreadable(
      `what the Redis at ${this.place} keeps is sealed with another key (${keyId})`,
      'set OAUTH_PROFILE_KEY to that key; while keys change, put the old one after a comma; who shares nothing takes a database of his own',
    );
  }

  async #alone<T>(name: string, change: (held: Held) => Promise<T>, wait: Waiting<T>): Promise<T> {
    const names = namesOf(name, this.#ring);
    const nonce = randomBytes(16).toString('hex');
    const lease = new Lease(this.#client, names, nonce);
    try {
      const found = await this.#enter(names, nonce, wait);
      if ('content' in found) {
        lease.wasNotTaken();
        return found.content;
      }
      lease.keep();
      return await change(this.#hold(name, names, nonce, found.record, wait.queuedAt, lease));
    } finally {
      await lease.end();
    }
  }

  /** Waits until the lock is ours, or until what somebody else has written does as well. */
  async #enter<T>(
    names: Names,
    nonce: string,
    wait: Waiting<T>,
  ): Promise<{ readonly record: StampedRecord | undefined } | { readonly content: T }> {
    const keyIds = this.#ring.map(({ id }) => id);
    let seen = wait.contentWith === undefined ? 'any' : 'look';
    for (;;) {
      const turn = await this.#client.take(names, nonce, seen, keyIds, leftOf(wait));
      if (turn.state === 'taken') return { record: this.#newest(turn.found) };
      if (turn.state === 'foreign') await this.refuseForeignKey(turn.keyId);
      if (turn.state === 'changed') {
        const record = this.#newest(turn.found);
        const content = wait.contentWith?.(record?.kept, wait.queuedAt);
        if (content !== undefined) return { content };
        // Whoever looks for the first time has found the lock taken; later it may be free, and only the change came in between.
        const first = seen === 'look';
        seen = record?.stamp ?? '';
        if (!first) continue;
      }
      await this.#waitForChange(names, seen, wait);
    }
  }

  async #waitForChange(names: Names, seen: string, wait: Waiting<unknown>): Promise<void> {
    const { signal, late } = wait;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(LONGEST_POLL_MS, pauseMs * 1.3)) {
      if (leftOf(wait) === 0) throw late();
      // Half of it is left to chance, so that a fleet does not ask in step.
      const ms = Math.min(pauseMs * (0.5 + Math.random() / 2), leftOf(wait));
      await pause(ms, signal);
      if (signal?.aborted) throw abortError(signal);
      if (await this.#client.isWorthTaking(names, seen, leftOf(wait))) return;
    }
  }

  #hold(
    name: string,
    names: Names,
    nonce: string,
    found: StampedRecord | undefined,
    queuedAt: number,
    lease: Lease,
  ): Held {
    let record = found;
    return {
      kept: found?.kept,
      queuedAt,
      readAgain: async () => {
        lease.check();
        record = this.#newest(await this.#client.read(names));
        return record?.kept;
      },
      write: async (next, { reserve = false } = {}) => {
        lease.check();
        const following = { name, turn: (record?.turn ?? 0) + 1, kept: next };
        const stored = toStored(following, this.#ring[0]);
        // Only a new head is worth anything in the hands of somebody who lost the lease; all else could hide what the next one wrote.
        const held = reserve || record?.kept.head === next.head;
        const written = await this.#client.write(names, nonce, markOf(record), stored, held);
        if (written) record = { ...following, stamp: stored.stamp };
        return written;
      },
      remove: async () => {
        lease.check();
        if (!(await this.#client.remove(names, nonce))) throw locked('another process', 0);
        record = undefined;
      },
    };
  }

  /** After a change of keys: brings every record under the first key that nobody is busy with, so that the others can be given up. */
  async #sealAnew(): Promise<void> {
    this.#sealedAnew = true;
    for (const { id } of this.#ring.slice(1)) {
      for (const stored of await this.#client.read(await this.#client.names(id))) {
        const sealAgain = async (held: Held) => held.kept && held.write(held.kept);
        await this.update(this.#open(stored).name, sealAgain, { timeoutMs: 0, signal: undefined }).catch(() => {});
      }
      await this.#client.forgetKey(id);
    }
  }

  #newest(found: readonly Stored[]): StampedRecord | undefined {
    return found.map((stored) => this.#open(stored)).sort((one, other) => other.turn - one.turn)[0];
  }

  #open({ id, stamp, sealed }: Stored): StampedRecord {
    return { ...unseal(sealed, id, this.#ring, `the record ${id.slice(0, 8)} in ${this.place}`), stamp };
  }
}

interface Waiting<T> extends Pick<Wait<T>, 'contentWith'>, Pick<Limits, 'signal'> {
  readonly queuedAt: number;
  readonly deadline: number;
  readonly late: () => Error;
}

function leftOf({ deadline }: Waiting<unknown>): number {
  return Math.max(0, deadline - monotonicMs());
}

/** The right to send, for as long as it is renewed. */
class Lease {
  #renewing: NodeJS.Timeout | undefined;
  #over = false;
  #taken = true;

  constructor(
    readonly client: RedisClient,
    readonly names: Names,
    readonly nonce: string,
  ) {}

  keep(): void {
    this.#renewing = setInterval(() => void this.client.renew(this.names, this.nonce).catch(() => {}), RENEW_MS);
  }

  /** Else it may be ours even if nobody said so. */
  wasNotTaken(): void {
    this.#taken = false;
  }

  check(): void {
    if (this.#over) throw new TypeError('the turn of this change is over');
  }

  async end(): Promise<void> {
    this.#over = true;
    clearInterval(this.#renewing);
    if (this.#taken) await this.client.release(this.names, this.nonce).catch(() => {});
  }
}
