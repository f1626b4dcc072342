import { RedisConnection } from './redis-connection.ts';
import type { Reply } from './redis-protocol.ts';
import { RELEASE, REMOVE, RENEW, STAMP_LENGTH, TAKE, WRITE } from './scripts.ts';

/** How long a question is repeated while Redis is away: a restart does not show, a loss does. */
const PATIENCE_MS = 10_000;
/** What a provider has answered must be written, also after a failover. */
const SUCCESSOR_PATIENCE_MS = 60_000;
/** A lock lasts so long without a sign of life from its holder. */
const LEASE_MS = 5_000;

/** An answer that took longer says little about the time of Redis. */
const PROMPT_MS = 1_000;

const PREFIX = 'oauth-profile';
/** The set of the ids of all keys that a record is sealed with. */
const KEY_IDS = `${PREFIX}:keys`;

/** A record as Redis holds it. */
export interface Stored {
  /** What it is called there. */
  readonly id: string;
  /** Changes with every write; its beginning marks the head. */
  readonly stamp: string;
  readonly sealed: Buffer;
}

/** What one name is called under each key of the ring, the sealing key first. */
export type Names = readonly { readonly keyId: string; readonly id: string }[];

/** What came of asking for a turn. */
export type Turn =
  | { readonly state: 'busy' }
  | { readonly state: 'taken' | 'changed'; readonly found: readonly Stored[] }
  | { readonly state: 'foreign'; readonly keyId: string };

/** A Redis with the few operations that a store is made of; each may be repeated, and does not show it. */
export class RedisClient {
  readonly #connection: RedisConnection;
  /** Redis' time less this machine's. */
  #offsetMs: number | undefined;

  constructor(address: string) {
    this.#connection = new RedisConnection(address);
  }

  get place(): string {
    return this.#connection.place;
  }

  /** Connects; a Redis that is not there now is an error now. Tells what it may lose, and the keys that records are sealed with. */
  open(): Promise<{ readonly weaknesses: readonly string[]; readonly keyIds: readonly string[] }> {
    return this.#connection.ask(async (redis) => {
      const sentAt = Date.now();
      const [time, keyIds, ...info] = await Promise.all([
        redis.ask('TIME'),
        redis.ask('SMEMBERS', KEY_IDS),
        ...['persistence', 'memory'].map((section) => redis.ask('INFO', section).catch(() => '')),
      ]);
      this.#setTime(textsIn(time), sentAt);
      return { weaknesses: weaknessesIn(info.join('\n')), keyIds: textsIn(keyIds) };
    }, 0);
  }

  now(): number {
    return Date.now() + (this.#offsetMs ?? 0);
  }

  /** The records with these names, as many as there are. */
  async read(names: Names): Promise<Stored[]> {
    if (names.length === 0) return [];
    const found = await this.#connection.ask((redis) => redis.ask('MGET', ...names.map(recordKey)), PATIENCE_MS);
    return toStored(names, listIn(found));
  }

  /** The names of all records that are sealed with that key, or with any. */
  async names(keyId = '*'): Promise<Names> {
    const found = new Set<string>();
    let cursor = '0';
    do {
      const [next = '0', some = []] = listIn(
        await this.#connection.ask(
          (redis) => redis.ask('SCAN', cursor, 'MATCH', recordKey({ keyId, id: '*' }), 'COUNT', 1000),
          PATIENCE_MS,
        ),
      );
      for (const name of textsIn(some)) found.add(name);
      cursor = String(next);
    } while (cursor !== '0');
    return [...found].map((key) => {
      const [id = '', of = ''] = key.split(':').reverse();
      return { keyId: of, id };
    });
  }

  /** Asks for the turn of a name; `seen` is the stamp that was last seen, `look` before the first, `any` where it does not matter. */
  async take(names: Names, nonce: string, seen: string, keyIds: readonly string[], patienceMs: number): Promise<Turn> {
    let sentAt = 0;
    const reply = await this.#connection.ask(
      (redis) => {
        sentAt = Date.now();
        return TAKE.run(redis, [KEY_IDS, ...keysOf(names)], [nonce, LEASE_MS, seen, ...keyIds]);
      },
      Math.min(patienceMs, PATIENCE_MS),
    );
    const [state, seconds = 0, microseconds = 0, ...found] = listIn(reply);
    this.#setTime([String(seconds), String(microseconds)], sentAt);
    if (state === 0) return { state: 'busy' };
    if (state === 3) return { state: 'foreign', keyId: String(found[0]) };
    return { state: state === 1 ? 'taken' : 'changed', found: toStored(names, found) };
  }

  /**
   * Whether it is worth asking for the turn again: nobody has it, or the record is not the one that was last seen. A crowd that waits asks this,
   * which costs Redis a tenth.
   */
  async isWorthTaking(names: Names, seen: string, patienceMs: number): Promise<boolean> {
    const [holders = [], ...stamps] = await this.#connection.ask(
      (redis) =>
        Promise.all([
          redis.ask('MGET', ...names.map(lockKey)),
          ...names.map((name) => redis.ask('GETRANGE', recordKey(name), 0, STAMP_LENGTH - 1)),
        ]),
      Math.min(patienceMs, PATIENCE_MS),
    );
    const free = listIn(holders).every((holder) => holder === null);
    const stamp = textsIn(stamps).find((text) => text !== '') ?? '';
    return free || (seen !== 'any' && stamp !== seen);
  }

  /** Whoever loses the lease meanwhile goes on: the reply to a request that was sent must be written, and the head guards the write. */
  async renew(names: Names, nonce: string): Promise<void> {
    await this.#connection.ask((redis) => RENEW.run(redis, names.map(lockKey), [nonce, LEASE_MS]), 0);
  }

  /** If it does not get there, the lease ends it. */
  async release(names: Names, nonce: string): Promise<void> {
    await this.#connection.ask((redis) => RELEASE.run(redis, names.map(lockKey), [nonce]), 0);
  }

  /**
   * Writes where the head is still the one that `seen` marks. With `held` the lease must be ours too, and it was just now: an answer that took
   * longer says nothing.
   */
  async write(
    names: Names,
    nonce: string,
    seen: string,
    { stamp, sealed }: Pick<Stored, 'stamp' | 'sealed'>,
    held: boolean,
  ): Promise<boolean> {
    const args = [nonce, LEASE_MS, seen, Buffer.concat([Buffer.from(stamp), sealed]), names[0]?.keyId ?? ''];
    const keys = [KEY_IDS, ...keysOf(names)];
    for (;;) {
      const sentAt = Date.now();
      const reply = await this.#connection.ask(
        (redis) => WRITE.run(redis, keys, [...args, held ? 'held' : '']),
        held ? LEASE_MS : SUCCESSOR_PATIENCE_MS,
      );
      if (reply !== 1) return false;
      if (!held || Date.now() - sentAt < LEASE_MS / 2) return true;
    }
  }

  /** Removes the record; `false` where the lease is not ours any more. */
  async remove(names: Names, nonce: string): Promise<boolean> {
    return (await this.#connection.ask((redis) => REMOVE.run(redis, keysOf(names), [nonce]), PATIENCE_MS)) === 1;
  }

  /** Forgets the id of a key if nothing is sealed with it any more. */
  async forgetKey(keyId: string): Promise<boolean> {
    if ((await this.names(keyId)).length > 0) return false;
    await this.#connection.ask((redis) => redis.ask('SREM', KEY_IDS, keyId), PATIENCE_MS);
    // Somebody may just have used it.
    if ((await this.names(keyId)).length === 0) return true;
    await this.#connection.ask((redis) => redis.ask('SADD', KEY_IDS, keyId), PATIENCE_MS);
    return false;
  }

  close(): void {
    this.#connection.close();
  }

  /** As of the middle between question and answer, where that tells enough. */
  #setTime([seconds, microseconds]: readonly string[], sentAt: number): void {
    if (this.#offsetMs !== undefined && Date.now() - sentAt > PROMPT_MS) return;
    this.#offsetMs = Math.round(Number(seconds) * 1000 + Number(microseconds) / 1000 - (sentAt + Date.now()) / 2);
  }
}

const recordKey = ({ keyId, id }: Names[number]): string => `${PREFIX}:record:${keyId}:${id}`;
const lockKey = ({ id }: Names[number]): string => `${PREFIX}:lock:${id}`;
const keysOf = (names: Names): string[] => [...names.map(lockKey), ...names.map(recordKey)];

const listIn = (reply: Reply): readonly Reply[] => (Array.isArray(reply) ? reply : []);
const textsIn = (reply: Reply): string[] => listIn(reply).map(String);

function toStored(names: Names, values: readonly Reply[]): Stored[] {
  return names.flatMap(({ id }, index) => {
    const value = values[index];
    if (!Buffer.isBuffer(value) || value.length === 0) return [];
    return [{ id, stamp: value.toString('latin1', 0, STAMP_LENGTH), sealed: value.subarray(STAMP_LENGTH) }];
  });
}

/** What a Redis may lose, by its own words. */
function weaknessesIn(info: string): string[] {
  const found: string[] = [];
  const aof = /^aof_enabled:(\d)/m.exec(info)?.[1];
  if (aof !== '1') {
    const what =
      aof === undefined ? 'does not show that it has append-only persistence' : 'has no append-only persistence';
    found.push(`it ${what}: a restart can lose a rotated refresh token (set appendonly yes)`);
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy !== 'noeviction') {
    const what = policy === undefined ? 'which it does not show' : `not ${policy}`;
    found.push(`it may drop records when memory is short (set maxmemory-policy noeviction, ${what})`);
  }
  return found;
}
