import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
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
import { acceptedRecord, heldRecord } from '../record-lock.ts';
import { lockTimeoutError, storeUnreadableError } from '../store-errors.ts';
import { parseRedisUrl, type RedisTarget } from './connect.ts';
import { isErrorResponse, nodesOf, RedisConnection, type RetryOptions } from './connection.ts';
import * as scripts from './scripts.ts';
import { KEY_IDS, recordsKey, STAMP_LENGTH, VERSION_LENGTH } from './scripts.ts';

/** A lock expires this long after its last renewal. */
const LEASE_MS = 5_000;
const RENEW_INTERVAL_MS = 1_500;
/** Waiters poll at intervals that grow from the first to the second value. */
const MIN_POLL_MS = 10;
const MAX_POLL_MS = 250;

const ONCE: RetryOptions = { retryMs: 0 };
/** Reads and locks survive a restart of Redis. */
const RETRY: RetryOptions = { retryMs: 10_000 };
/** The write of a successor survives a failover. */
const RETRY_SUCCESSOR: RetryOptions = { retryMs: 60_000 };
const RETRY_DURING_LEASE: RetryOptions = { retryMs: LEASE_MS };

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

/** A record with the stamp of its stored value. */
interface StampedRecord extends RecordPlaintext {
  readonly stamp: string;
}

/** The lock of one record that a caller holds or waits for. */
interface Lease {
  /** Ids of the record under each encryption key. */
  readonly ids: readonly string[];
  readonly nonce: string;
  renewal?: NodeJS.Timeout;
}

class RedisStore implements TokenStore {
  readonly location: string;
  readonly #hosts: string;
  readonly #connection: RedisConnection;
  readonly #keys: KeyRing;
  readonly #mutex = new KeyedMutex();
  /** The clock of Redis minus this machine's, in milliseconds. */
  #clockOffset: number | undefined;
  /** Whether some records may be encrypted with other keys than the first. */
  #mustReencrypt = false;

  constructor(target: RedisTarget, keys: KeyRing) {
    this.location = target.location;
    this.#hosts = target.hosts;
    this.#connection = new RedisConnection(target);
    this.#keys = keys;
  }

  /** Connects, or fails at once. Returns warnings about the configuration of Redis. */
  async open(): Promise<string[]> {
    const warnings = await this.#findWeaknesses();
    const keyIds = (await this.#evalWithTime(scripts.OPEN, [KEY_IDS], [], ONCE)).map(String);
    for (const id of keyIds) await this.#rejectUnknownKey(id);
    this.#mustReencrypt = keyIds.some((id) => id !== this.#keys[0].id);
    return warnings;
  }

  fingerprint(value: string | Secret): string {
    return fingerprint(value);
  }

  now(): number {
    return Date.now() + (this.#clockOffset ?? 0);
  }

  async read(key: string): Promise<StoredRecord | undefined> {
    return (await this.#read(this.#idsOf(key)))?.record;
  }

  async list(): Promise<{ key: string; record: StoredRecord }[]> {
    const newest = new Map<string, StampedRecord>();
    for (const { id } of this.#keys) {
      for (const found of await this.#readAll(id)) {
        if ((newest.get(found.key)?.revision ?? -1) < found.revision) newest.set(found.key, found);
      }
    }
    return [...newest.values()].map(({ key, record }) => ({ key, record }));
  }

  async lock<T = never>(key: string, options: LockOptions<T>): Promise<RecordLock<T>> {
    const queuedAt = this.now();
    const deadline = performance.now() + options.timeoutMs;
    const timeoutError = (): Error => lockTimeoutError('another process', options.timeoutMs);
    // A caller that waited for another one of this process checks the record before it takes the lock.
    const seen = options.acceptIf === undefined ? 'any' : this.#mutex.isLocked(key) ? 'none' : 'new';
    const unlock = await this.#mutex.acquire(key, options, timeoutError);
    const lease: Lease = { ids: this.#idsOf(key), nonce: randomBytes(16).toString('hex') };
    try {
      const found = await this.#acquire(lease, seen, queuedAt, deadline, options);
      if (found === undefined) throw timeoutError();
      if (found.accepted === undefined) return this.#hold(key, lease, found.record, queuedAt, unlock);
      unlock();
      return acceptedRecord(found.accepted, found.record?.record, queuedAt);
    } catch (error) {
      // Redis may have granted the lock although its response was lost.
      await this.#release(lease);
      unlock();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#mutex.close();
    await this.#connection.close();
  }

  /** Polls until the lock is acquired or a changed record is accepted; `undefined` after the deadline. */
  async #acquire<T>(
    { ids, nonce }: Lease,
    seen: string,
    queuedAt: number,
    deadline: number,
    { signal, acceptIf }: LockOptions<T>,
  ): Promise<{ readonly record: StampedRecord | undefined; readonly accepted?: T | undefined } | undefined> {
    const keyIds = this.#keys.map(({ id }) => id);
    for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(MAX_POLL_MS, pollMs * 1.3)) {
      const retryMs = Math.min(Math.max(0, deadline - performance.now()), RETRY.retryMs);
      const args = [...ids, nonce, LEASE_MS, seen, ...keyIds];
      const [state, ...values] = await this.#evalWithTime(scripts.ACQUIRE, this.#scriptKeys(ids), args, {
        retryMs,
        signal,
      });
      if (state === 1) return { record: this.#decryptNewest(ids, values) };
      if (state === 2) {
        const record = this.#decryptNewest(ids, values);
        const accepted = acceptIf?.(record?.record, queuedAt);
        if (accepted !== undefined) return { record, accepted };
        seen = record?.stamp ?? '';
        continue;
      }
      if (state === 3) await this.#rejectUnknownKey(String(values[0]));
      const timeLeft = deadline - performance.now();
      if (timeLeft <= 0) return undefined;
      // Jitter, so that the machines of a fleet do not poll at the same time.
      const delay = Math.min(pollMs * (0.5 + Math.random() / 2), timeLeft);
      await sleep(delay, undefined, { signal }).catch(() => {});
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
    let current = found;
    lease.renewal = setInterval(() => void this.#evalOnLock(scripts.RENEW, lease, LEASE_MS), RENEW_INTERVAL_MS);
    return heldRecord(found?.record, queuedAt, {
      reload: async () => {
        current = await this.#read(lease.ids);
        return current?.record;
      },
      write: async (record, { reserve = false } = {}) => {
        const next = { key, revision: (current?.revision ?? 0) + 1, record, stamp: createStamp(key, record.version) };
        // Without the lock, only a successor may be written: a journal entry could overwrite that of the next owner.
        const needsLock = reserve || current?.record.version === record.version;
        const written = await this.#write(lease, current, next, needsLock);
        if (written) current = next;
        return written;
      },
      remove: async () => {
        const [removed] = await this.#evalOnRecord(scripts.REMOVE, lease.ids, [lease.nonce], RETRY);
        if (removed !== 1) throw lockTimeoutError('another process', 0);
        current = undefined;
      },
      release: async () => {
        await this.#release(lease);
        unlock();
        if (this.#mustReencrypt) await this.#reencrypt().catch(() => {});
      },
    });
  }

  async #write(
    { ids, nonce }: Lease,
    current: StampedRecord | undefined,
    next: StampedRecord,
    needsLock: boolean,
  ): Promise<boolean> {
    const [key] = this.#keys;
    const version = current?.stamp.slice(0, VERSION_LENGTH) ?? '';
    const value = Buffer.concat([Buffer.from(next.stamp), encryptRecord(next, key)]);
    const args = [nonce, LEASE_MS, version, value, key.id, needsLock ? 'locked' : ''];
    for (;;) {
      const sentAt = performance.now();
      const retry = needsLock ? RETRY_DURING_LEASE : RETRY_SUCCESSOR;
      const [written] = await this.#evalOnRecord(scripts.WRITE, ids, args, retry);
      if (written !== 1) return false;
      // A late response does not show that the lock is still held.
      if (!needsLock || performance.now() - sentAt < LEASE_MS / 2) return true;
    }
  }

  async #release(lease: Lease): Promise<void> {
    clearInterval(lease.renewal);
    await this.#evalOnLock(scripts.RELEASE, lease);
  }

  /** Re-encrypts all records that are not locked with the first key, so that the other keys can be removed. */
  async #reencrypt(): Promise<void> {
    this.#mustReencrypt = false;
    for (const { id } of this.#keys.slice(1)) {
      for (const { key } of await this.#readAll(id)) {
        const lock = await this.lock(key, { timeoutMs: 0, signal: undefined }).catch(() => undefined);
        if (lock?.record !== undefined) await lock.write(lock.record).catch(() => {});
        await lock?.release();
      }
      await this.#forgetKey(id);
    }
  }

  /** Throws if records are encrypted with a key that this machine does not have: the record of the caller may be one of them. */
  async #rejectUnknownKey(keyId: string): Promise<void> {
    if (this.#keys.some(({ id }) => id === keyId) || (await this.#forgetKey(keyId))) return;
    throw storeUnreadableError(
      `the records in Redis at ${this.#hosts} are encrypted with another key (${keyId})`,
      'set OAUTH_PROFILE_KEY to that key, or to NEW_KEY,OLD_KEY while you change keys; use a separate database for other records',
    );
  }

  /** Returns whether no record is encrypted with the key any more. */
  async #forgetKey(keyId: string): Promise<boolean> {
    return (await this.#connection.eval(scripts.FORGET_KEY, [KEY_IDS, recordsKey(keyId)], [keyId], RETRY))[0] === 1;
  }

  async #read(ids: readonly string[]): Promise<StampedRecord | undefined> {
    return this.#decryptNewest(ids, await this.#evalOnRecord(scripts.READ, ids, [], RETRY));
  }

  async #readAll(keyId: string): Promise<StampedRecord[]> {
    const values = await this.#connection.run((client) => client.hgetallBuffer(recordsKey(keyId)), RETRY);
    return Object.entries(values).map(([id, value]) => this.#decrypt(id, value));
  }

  #decryptNewest(ids: readonly string[], values: readonly unknown[]): StampedRecord | undefined {
    const records = ids.flatMap((id, index) => {
      const value = values[index] as Buffer;
      return value.length === 0 ? [] : [this.#decrypt(id, value)];
    });
    return records.sort((a, b) => b.revision - a.revision)[0];
  }

  #decrypt(id: string, value: Buffer): StampedRecord {
    const location = `record ${id.slice(0, 8)} in Redis at ${this.#hosts}`;
    const plaintext = decryptRecord(value.subarray(STAMP_LENGTH), id, this.#keys, location);
    return { ...plaintext, stamp: value.toString('latin1', 0, STAMP_LENGTH) };
  }

  #idsOf(key: string): string[] {
    return this.#keys.map((encryptionKey) => recordId(encryptionKey, key));
  }

  #scriptKeys(ids: readonly string[]): string[] {
    return [KEY_IDS, ...ids.map(scripts.lockKey), ...this.#keys.map(({ id }) => recordsKey(id))];
  }

  #evalOnRecord(
    script: string,
    ids: readonly string[],
    args: readonly (string | number | Buffer)[],
    retry: RetryOptions,
  ): Promise<unknown[]> {
    return this.#connection.eval(script, this.#scriptKeys(ids), [...ids, ...args], retry);
  }

  /** Errors are ignored: the lease expires, and an owner that lost its lock continues, since the version protects the record. */
  async #evalOnLock(script: string, { ids, nonce }: Lease, ...args: readonly number[]): Promise<void> {
    await this.#connection.eval(script, ids.map(scripts.lockKey), [nonce, ...args], ONCE).catch(() => {});
  }

  /** Runs a script whose response starts with the time of Redis, and compares the clocks in the middle between request and response. */
  async #evalWithTime(...[script, keys, args, retry]: Parameters<RedisConnection['eval']>): Promise<unknown[]> {
    const sentAt = Date.now();
    const [seconds, microseconds, ...rest] = await this.#connection.eval(script, keys, args, retry);
    const receivedAt = Date.now();
    const offset = Math.round(Number(seconds) * 1000 + Number(microseconds) / 1000 - (sentAt + receivedAt) / 2);
    // Do not replace an offset that agrees with this response: it may be more precise.
    const uncertainty = (receivedAt - sentAt) / 2 + 1;
    const difference = Math.abs(offset - (this.#clockOffset ?? Number.POSITIVE_INFINITY));
    if (difference > uncertainty) this.#clockOffset = offset;
    return rest;
  }

  /** Checks the configuration of each primary, as far as the user may read it. */
  async #findWeaknesses(): Promise<string[]> {
    const readInfo = (node: Redis): Promise<string> =>
      node.info().catch((error) => {
        if (!isErrorResponse(error)) throw error;
        return '';
      });
    const infos = await this.#connection.run((client) => Promise.all(nodesOf(client, 'master').map(readInfo)), ONCE);
    const valuesOf = (field: RegExp): (string | undefined)[] => infos.map((info) => field.exec(info)?.[1]);
    const persistence = valuesOf(/^aof_enabled:(\d)/m);
    const policies = valuesOf(/^maxmemory_policy:(\S+)/m);
    const policy = policies.find((value) => value !== undefined && value !== 'noeviction');
    return [
      persistence.includes('0') && 'can lose a rotated refresh token in a restart: set appendonly yes',
      policy && `can evict records (maxmemory-policy ${policy}): set maxmemory-policy noeviction`,
      [...persistence, ...policies].includes(undefined) &&
        'does not permit INFO: cannot verify that it has appendonly yes and maxmemory-policy noeviction',
    ].flatMap((weakness) => (weakness ? [`Redis at ${this.#hosts} ${weakness}`] : []));
  }
}

/** Creates the start of a stored value. Its first part is the same under every encryption key, and reveals nothing about the version. */
function createStamp(key: string, version: string): string {
  const versionPart = createHmac('sha256', key).update(version).digest('hex').slice(0, VERSION_LENGTH);
  return `${versionPart}${randomBytes((STAMP_LENGTH - VERSION_LENGTH) / 2).toString('hex')}`;
}
