import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { abortError } from '../../errors.ts';
import type { Environment, LockOptions, RecordLock, StoredRecord, TokenStore } from '../../ports.ts';
import { Secret } from '../../redaction/secret.ts';
import {
  decryptRecord,
  encryptRecord,
  type KeyRing,
  parseKeys,
  type RecordPlaintext,
  recordId,
} from '../encryption.ts';
import { fingerprint } from '../fingerprint.ts';
import { KeyedMutex } from '../lock/keyed-mutex.ts';
import { acceptedRecord, lockedRecord } from '../record-lock.ts';
import { lockTimeoutError, storeUnreadableError } from '../store-errors.ts';
import { parseRedisUrl, type RedisTarget } from './connect.ts';
import { RedisConnection, type RetryOptions } from './connection.ts';
import * as scripts from './scripts.ts';
import { KEY_IDS, lockKey, type RecordName, recordsKey, STAMP_LENGTH, scriptKeys, VERSION_LENGTH } from './scripts.ts';

/** A lock expires this long after its last renewal. */
const LEASE_MS = 5_000;
const RENEW_INTERVAL_MS = 1_500;
/** Waiters poll at intervals that grow from the first to the second value. */
const MIN_POLL_MS = 10;
const MAX_POLL_MS = 250;
/** How long reads and locks wait for an unavailable Redis: longer than a restart. */
const RETRY_MS = 10_000;
/** How long the write of a successor waits: longer than a failover. */
const SUCCESSOR_RETRY_MS = 60_000;
/** A response that took longer says too little about the clock of Redis. */
const MAX_CLOCK_ROUND_TRIP_MS = 1_000;

const ONCE: RetryOptions = { retryMs: 0 };
const RETRY: RetryOptions = { retryMs: RETRY_MS };

/** A decrypted record with its stamp in Redis. */
interface StampedRecord extends RecordPlaintext {
  readonly stamp: string;
}

/** Opens a store in Redis for all machines that have its URL and OAUTH_PROFILE_KEY. The lease decides who may send, the version who may write. */
export async function openRedisStore(
  url: string,
  { env, warn }: { readonly env: Environment; readonly warn: (message: string) => void },
): Promise<TokenStore> {
  const target = parseRedisUrl(url);
  const keys = env['OAUTH_PROFILE_KEY']?.trim();
  if (!keys) {
    throw storeUnreadableError(
      'OAUTH_PROFILE_KEY is not set: records in Redis are encrypted with it',
      'create a key with: openssl rand -base64 32, and set it on every machine that uses the store',
    );
  }
  const store = new RedisStore(target, parseKeys(new Secret(keys), 'OAUTH_PROFILE_KEY'));
  try {
    for (const warning of await store.open()) warn(warning);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

class RedisStore implements TokenStore {
  readonly location: string;
  readonly #hosts: string;
  readonly #connection: RedisConnection;
  readonly #keys: KeyRing;
  readonly #mutex = new KeyedMutex();
  /** The clock of Redis minus this machine's, in milliseconds. */
  #clockOffset: number | undefined;
  /** Whether records may be encrypted with other keys than the first. */
  #mustReencrypt = false;

  constructor(target: RedisTarget, keys: KeyRing) {
    this.location = target.location;
    this.#hosts = target.hosts;
    this.#connection = new RedisConnection(target);
    this.#keys = keys;
  }

  /** Connects, or fails at once. Returns warnings about the configuration of Redis. */
  async open(): Promise<string[]> {
    const sentAt = Date.now();
    const [seconds, microseconds, ...keyIds] = await this.#eval(scripts.OPEN, [KEY_IDS], [], ONCE);
    this.#setClock(seconds, microseconds, sentAt);
    for (const id of keyIds) await this.#rejectUnknownKey(String(id));
    this.#mustReencrypt = keyIds.some((id) => String(id) !== this.#keys[0].id);
    return findWeaknesses(await this.#connection.run(readInfo, ONCE), this.#hosts);
  }

  fingerprint(value: string | Secret): string {
    return fingerprint(value);
  }

  now(): number {
    return Date.now() + (this.#clockOffset ?? 0);
  }

  async read(key: string): Promise<StoredRecord | undefined> {
    return (await this.#read(this.#namesOf(key)))?.record;
  }

  async list(): Promise<{ key: string; record: StoredRecord }[]> {
    const records = new Map<string, RecordPlaintext>();
    for (const { id: keyId } of this.#keys) {
      for (const found of await this.#readAll(keyId)) {
        if ((records.get(found.key)?.revision ?? -1) < found.revision) records.set(found.key, found);
      }
    }
    return [...records.values()].map(({ key, record }) => ({ key, record }));
  }

  async lock<T = never>(key: string, options: LockOptions<T>): Promise<RecordLock<T>> {
    const queuedAt = this.now();
    const wait: LockWait<T> = {
      ...options,
      queuedAt,
      deadline: performance.now() + options.timeoutMs,
      timeoutError: () => lockTimeoutError('another process', options.timeoutMs),
      // A caller that waited for another one of this process also checks the record before it takes the lock.
      seen: options.acceptIf === undefined ? 'any' : this.#mutex.isLocked(key) ? 'none' : 'new',
    };
    const unlock = await this.#mutex.acquire(key, options, wait.timeoutError);
    const lease = new Lease(this.#connection, this.#namesOf(key));
    try {
      const found = await this.#acquire(lease, wait);
      if (found.accepted === undefined) {
        lease.startRenewal();
        return this.#hold<T>(key, lease, found.record, queuedAt, unlock);
      }
      unlock();
      return acceptedRecord(found.accepted, found.record?.record, queuedAt);
    } catch (error) {
      // Redis may have granted the lock although its response was lost.
      await lease.release();
      unlock();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#mutex.close();
    await this.#connection.close();
  }

  /** Polls until the lock is acquired, or a changed record is accepted. */
  async #acquire<T>(
    { names, nonce }: Lease,
    { seen: initial, queuedAt, deadline, signal, timeoutError, acceptIf }: LockWait<T>,
  ): Promise<{ readonly record: StampedRecord | undefined; readonly accepted?: T | undefined }> {
    const keyIds = this.#keys.map(({ id }) => id);
    const timeLeft = (): number => Math.max(0, deadline - performance.now());
    let seen = initial;
    for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(MAX_POLL_MS, pollMs * 1.3)) {
      const sentAt = Date.now();
      const [state, seconds, microseconds, ...values] = await this.#evalOnRecord(
        scripts.ACQUIRE,
        names,
        [nonce, LEASE_MS, seen, ...keyIds],
        { retryMs: Math.min(timeLeft(), RETRY_MS), signal },
      );
      this.#setClock(seconds, microseconds, sentAt);
      if (state === 1) return { record: this.#decryptNewest(names, values) };
      if (state === 2) {
        const record = this.#decryptNewest(names, values);
        const accepted = acceptIf?.(record?.record, queuedAt);
        if (accepted !== undefined) return { record, accepted };
        seen = record?.stamp ?? '';
        continue;
      }
      if (state === 3) await this.#rejectUnknownKey(String(values[0]));
      if (timeLeft() === 0) throw timeoutError();
      // Jitter, so that the machines of a fleet do not poll at the same time.
      await sleep(Math.min(pollMs * (0.5 + Math.random() / 2), timeLeft()), undefined, { signal }).catch(() => {});
      if (signal?.aborted) throw abortError(signal);
    }
  }

  #hold<T>(
    key: string,
    lease: Lease,
    found: StampedRecord | undefined,
    queuedAt: number,
    unlock: () => void,
  ): RecordLock<T> {
    const { names, nonce } = lease;
    let current = found;
    return lockedRecord(found?.record, queuedAt, {
      reload: async () => {
        current = await this.#read(names);
        return current?.record;
      },
      write: async (record, { reserve = false } = {}) => {
        const next = { key, revision: (current?.revision ?? 0) + 1, record };
        const stamp = createStamp(key, record.version);
        // Without the lock, only a successor may be written. A journal entry could overwrite that of the next owner.
        const needsLock = reserve || current?.record.version === record.version;
        const written = await this.#write(lease, current, stamp, encryptRecord(next, this.#keys[0]), needsLock);
        if (written) current = { ...next, stamp };
        return written;
      },
      remove: async () => {
        const [removed] = await this.#evalOnRecord(scripts.REMOVE, names, [nonce], RETRY);
        if (removed !== 1) throw lockTimeoutError('another process', 0);
        current = undefined;
      },
      release: async () => {
        await lease.release();
        unlock();
        if (this.#mustReencrypt) await this.#reencrypt().catch(() => {});
      },
    });
  }

  async #write(
    { names, nonce }: Lease,
    current: StampedRecord | undefined,
    stamp: string,
    encrypted: Buffer,
    needsLock: boolean,
  ): Promise<boolean> {
    const version = current?.stamp.slice(0, VERSION_LENGTH) ?? '';
    const value = Buffer.concat([Buffer.from(stamp), encrypted]);
    const args = [nonce, LEASE_MS, version, value, this.#keys[0].id, needsLock ? 'locked' : ''];
    for (;;) {
      const sentAt = performance.now();
      const retryMs = needsLock ? LEASE_MS : SUCCESSOR_RETRY_MS;
      const [written] = await this.#evalOnRecord(scripts.WRITE, names, args, { retryMs });
      if (written !== 1) return false;
      // A late response does not show that the lock is still held now.
      if (!needsLock || performance.now() - sentAt < LEASE_MS / 2) return true;
    }
  }

  /** Re-encrypts all records that are not locked with the first key, so that the other keys can be removed. */
  async #reencrypt(): Promise<void> {
    this.#mustReencrypt = false;
    for (const { id: keyId } of this.#keys.slice(1)) {
      for (const { key } of await this.#readAll(keyId)) {
        const lock = await this.lock(key, { timeoutMs: 0, signal: undefined }).catch(() => undefined);
        if (lock?.record !== undefined) await lock.write(lock.record).catch(() => {});
        await lock?.release();
      }
      await this.#forgetKey(keyId);
    }
  }

  /** Throws if records are encrypted with a key that this machine does not have: the record of a caller may be one of them. */
  async #rejectUnknownKey(keyId: string): Promise<void> {
    if (this.#keys.some(({ id }) => id === keyId) || (await this.#forgetKey(keyId))) return;
    throw storeUnreadableError(
      `the records in Redis at ${this.#hosts} are encrypted with another key (${keyId})`,
      'set OAUTH_PROFILE_KEY to that key, or to NEW_KEY,OLD_KEY while you change keys; use a separate database for other records',
    );
  }

  /** Returns whether no record is encrypted with the key any more. */
  async #forgetKey(keyId: string): Promise<boolean> {
    const [unused] = await this.#eval(scripts.FORGET_KEY, [KEY_IDS, recordsKey(keyId)], [keyId], RETRY);
    return unused === 1;
  }

  async #read(names: readonly RecordName[]): Promise<StampedRecord | undefined> {
    return this.#decryptNewest(names, await this.#evalOnRecord(scripts.READ, names, [], RETRY));
  }

  async #readAll(keyId: string): Promise<StampedRecord[]> {
    const values = await this.#connection.run((client) => client.hgetallBuffer(recordsKey(keyId)), RETRY);
    return Object.entries(values).map(([id, value]) => this.#decrypt(id, value));
  }

  #decryptNewest(names: readonly RecordName[], values: readonly unknown[]): StampedRecord | undefined {
    return names
      .map(({ id }, index) => [id, values[index]] as const)
      .filter((entry): entry is [string, Buffer] => Buffer.isBuffer(entry[1]) && entry[1].length > 0)
      .map(([id, value]) => this.#decrypt(id, value))
      .sort((a, b) => b.revision - a.revision)[0];
  }

  #decrypt(id: string, value: Buffer): StampedRecord {
    const location = `record ${id.slice(0, 8)} in Redis at ${this.#hosts}`;
    const plaintext = decryptRecord(value.subarray(STAMP_LENGTH), id, this.#keys, location);
    return { ...plaintext, stamp: value.toString('latin1', 0, STAMP_LENGTH) };
  }

  #namesOf(key: string): RecordName[] {
    return this.#keys.map((encryptionKey) => ({ keyId: encryptionKey.id, id: recordId(encryptionKey, key) }));
  }

  #evalOnRecord(
    script: string,
    names: readonly RecordName[],
    args: readonly (string | number | Buffer)[],
    retry: RetryOptions,
  ): Promise<unknown[]> {
    return this.#eval(script, scriptKeys(names), [...names.map(({ id }) => id), ...args], retry);
  }

  #eval(
    script: string,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
    retry: RetryOptions,
  ): Promise<unknown[]> {
    return evaluate(this.#connection, script, keys, args, retry);
  }

  /** Takes the middle of request and response as the time of the response's clock. */
  #setClock(seconds: unknown, microseconds: unknown, sentAt: number): void {
    const receivedAt = Date.now();
    if (this.#clockOffset !== undefined && receivedAt - sentAt > MAX_CLOCK_ROUND_TRIP_MS) return;
    const time = Number(String(seconds)) * 1000 + Number(String(microseconds)) / 1000;
    this.#clockOffset = Math.round(time - (sentAt + receivedAt) / 2);
  }
}

interface LockWait<T> extends LockOptions<T> {
  readonly queuedAt: number;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly timeoutError: () => Error;
  /** The stamp that the caller knows; see the script ACQUIRE. */
  readonly seen: string;
}

/** The lock of a record under all its names, for as long as it is renewed. An owner that loses it continues: the version protects the record. */
class Lease {
  readonly nonce = randomBytes(16).toString('hex');
  readonly names: readonly RecordName[];
  readonly #connection: RedisConnection;
  #renewal: NodeJS.Timeout | undefined;

  constructor(connection: RedisConnection, names: readonly RecordName[]) {
    this.#connection = connection;
    this.names = names;
  }

  startRenewal(): void {
    this.#renewal = setInterval(() => void this.#eval(scripts.RENEW, LEASE_MS), RENEW_INTERVAL_MS);
  }

  /** If the command fails, the lease expires. */
  async release(): Promise<void> {
    clearInterval(this.#renewal);
    await this.#eval(scripts.RELEASE);
  }

  async #eval(script: string, ...args: number[]): Promise<void> {
    const keys = this.names.map(({ id }) => lockKey(id));
    await evaluate(this.#connection, script, keys, [this.nonce, ...args], ONCE).catch(() => {});
  }
}

/** Runs a script. EVAL instead of EVALSHA: the scripts are short, and no server has to know them. */
async function evaluate(
  connection: RedisConnection,
  script: string,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
  retry: RetryOptions,
): Promise<unknown[]> {
  const response = await connection.run(
    (client) => client.callBuffer('eval', script, keys.length, ...keys, ...args),
    retry,
  );
  return Array.isArray(response) ? response : [response];
}

/** Creates the start of a stored value. Its first part is the same under every key, and reveals nothing without the key of the record. */
function createStamp(key: string, version: string): string {
  const versionMark = createHmac('sha256', key).update(version).digest('hex').slice(0, VERSION_LENGTH);
  return `${versionMark}${randomBytes((STAMP_LENGTH - VERSION_LENGTH) / 2).toString('hex')}`;
}

/** Reads the configuration of each primary, as far as the user may. */
async function readInfo(client: Redis | Cluster): Promise<string[]> {
  const nodes = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis];
  const read = (node: Redis, section: string): Promise<string> => node.info(section).catch(() => '');
  return Promise.all(nodes.map(async (node) => `${await read(node, 'persistence')}\n${await read(node, 'memory')}`));
}

function findWeaknesses(infos: readonly string[], hosts: string): string[] {
  const valuesOf = (field: RegExp): (string | undefined)[] => infos.map((info) => field.exec(info)?.[1]);
  const persistence = valuesOf(/^aof_enabled:(\d)/m);
  const policies = valuesOf(/^maxmemory_policy:(\S+)/m);
  const warnings: string[] = [];
  if (persistence.includes('0')) {
    warnings.push(`Redis at ${hosts} can lose a rotated refresh token in a restart: set appendonly yes`);
  }
  const policy = policies.find((value) => value !== undefined && value !== 'noeviction');
  if (policy !== undefined) {
    warnings.push(`Redis at ${hosts} can evict records (maxmemory-policy ${policy}): set maxmemory-policy noeviction`);
  }
  if (persistence.includes(undefined) || policies.includes(undefined)) {
    warnings.push(
      `cannot verify that Redis at ${hosts} has appendonly yes and maxmemory-policy noeviction: INFO is not available`,
    );
  }
  return warnings;
}
