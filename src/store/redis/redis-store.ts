import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { abortError } from '../../errors.ts';
import type { Environment, FoundRecord, LockOptions, RecordLock, TokenStore } from '../../ports.ts';
import { Secret } from '../../redaction/secret.ts';
import {
  decryptRecord,
  encryptRecord,
  type KeyRing,
  parseKeys,
  type RecordPlaintext,
  recordId,
  selectNewest,
  selectNewestOfEach,
} from '../encryption.ts';
import { type Acquisition, type LockedOperations, LockingStore, type Waiter } from '../locking-store.ts';
import { lockTimeoutError, storeUnreadableError } from '../store-errors.ts';
import { parseRedisUrl, type RedisTarget } from './connect.ts';
import { RedisConnection, type RetryOptions, type ScriptArgument } from './connection.ts';
import * as scripts from './scripts.ts';

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

class RedisStore extends LockingStore {
  readonly location: string;
  readonly #hosts: string;
  readonly #connection: RedisConnection;
  readonly #keys: KeyRing;
  /** Whether some records may be encrypted with other keys than the first. */
  #mustReencrypt = false;

  constructor(target: RedisTarget, keys: KeyRing) {
    super();
    this.location = target.location;
    this.#hosts = target.hosts;
    this.#connection = new RedisConnection(target);
    this.#keys = keys;
  }

  /** Connects, or fails at once. Returns warnings about the configuration of Redis. */
  async open(): Promise<string[]> {
    const warnings = await this.#connection.findWeaknesses(ONCE);
    const keyIds = (await this.#connection.evalWithTime(scripts.OPEN, [scripts.KEY_IDS], [], ONCE)).map(String);
    for (const keyId of keyIds) if (!this.#keys.some(({ id }) => id === keyId)) throw this.#unknownKeyError(keyId);
    this.#mustReencrypt = keyIds.some((id) => id !== this.#keys[0].id);
    return warnings;
  }

  now(): number {
    return this.#connection.now();
  }

  async read(name: string): Promise<RecordPlaintext | undefined> {
    const hashes = this.#keys.flatMap(({ id }) => [scripts.recordsKey(id), scripts.aliasesKey(id)]);
    const found = (await this.#connection.eval(scripts.READ, hashes, this.#idsOf(name), RETRY)) as Buffer[];
    const copies = this.#keys.map((_, i) => this.#decrypt(String(found[2 * i]), found[2 * i + 1]));
    const newest = selectNewest(copies);
    return newest?.key === name || newest?.aliases.includes(name) ? newest : undefined;
  }

  async list(): Promise<FoundRecord[]> {
    const copies = await Promise.all(this.#keys.map(({ id }) => this.#readAll(id)));
    return selectNewestOfEach(copies.flat());
  }

  override async lock<T = never>(key: string, options: LockOptions<T>): Promise<RecordLock<T>> {
    if (this.#mustReencrypt) await this.#reencrypt().catch(() => {});
    return super.lock(key, options);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#connection.close();
  }

  protected async acquire<T>(key: string, waiter: Waiter<T>): Promise<Acquisition<T>> {
    const nonce = randomBytes(16).toString('hex');
    try {
      const { found, accepted } = await this.#poll(key, nonce, waiter);
      return accepted === undefined ? { found, operations: this.#hold(key, nonce) } : { found, accepted };
    } catch (error) {
      // Redis may have granted the lock although its response was lost.
      await this.#renewOrRelease(key, nonce, 0);
      throw error;
    }
  }

  /** Polls until the lock is acquired or a changed record is accepted. */
  async #poll<T>(key: string, nonce: string, { timeoutMs, deadline, signal, hasWaited, accept }: Waiter<T>) {
    // A caller that waited for another one of this process checks the record before it takes the lock.
    let seen = hasWaited ? 'none' : 'new';
    for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(MAX_POLL_MS, pollMs * 1.3)) {
      const retryMs = Math.min(Math.max(0, deadline - performance.now()), RETRY.retryMs);
      const call = this.#scriptCall(key, [nonce, LEASE_MS, seen]);
      const response = await this.#connection.evalWithTime(scripts.ACQUIRE, ...call, { retryMs, signal });
      const [state, ...values] = response as [number, ...Buffer[]];
      if (state === 3) throw this.#unknownKeyError(String(values[0]));
      const timeLeft = deadline - performance.now();
      if (state !== 0) {
        const found = this.#decryptNewest(key, values);
        const accepted = state === 1 ? undefined : accept(found);
        if (state === 1 || accepted !== undefined) return { found, accepted };
        const stamp = values.find(({ length }) => length > 0)?.toString('latin1', 0, scripts.STAMP_LENGTH) ?? '';
        const isChanged = stamp !== seen;
        seen = stamp;
        if (isChanged && timeLeft > 0) continue;
      }
      if (timeLeft <= 0) throw lockTimeoutError(this.describeOwner(key), timeoutMs);
      // Jitter, so that the machines of a fleet do not poll at the same time.
      const delay = Math.min(pollMs * (0.5 + Math.random() / 2), timeLeft);
      await sleep(delay, undefined, { signal }).catch(() => {});
      if (signal?.aborted) throw abortError(signal);
    }
  }

  #hold(key: string, nonce: string): LockedOperations {
    const renewal = setInterval(() => void this.#renewOrRelease(key, nonce, LEASE_MS), RENEW_INTERVAL_MS);
    return {
      read: async () => {
        const found = await this.read(key);
        return found?.key === key ? found : undefined;
      },
      replace: async (next, current, { requiresLock }) => {
        const version = current === undefined ? '' : versionStamp(key, current.version);
        const stamp = versionStamp(key, next.version) + randomBytes(16).toString('hex');
        const value = Buffer.concat([Buffer.from(stamp), encryptRecord(next, this.#keys[0])]);
        const aliases = [this.#aliasesOf(next), this.#aliasesOf(current)];
        const args = [nonce, LEASE_MS, version, value, requiresLock ? 'locked' : '', ...aliases];
        for (;;) {
          const sentAt = performance.now();
          const retry = requiresLock ? RETRY_DURING_LEASE : RETRY_SUCCESSOR;
          const [isWritten] = await this.#connection.eval(scripts.WRITE, ...this.#scriptCall(key, args), retry);
          if (isWritten !== 1) return false;
          // A late response does not show that the lock is still held.
          if (!requiresLock || performance.now() - sentAt < LEASE_MS / 2) return true;
        }
      },
      remove: async (current) => {
        const args = [nonce, this.#aliasesOf(current)];
        const [isRemoved] = await this.#connection.eval(scripts.REMOVE, ...this.#scriptCall(key, args), RETRY);
        return isRemoved === 1;
      },
      release: () => {
        clearInterval(renewal);
        return this.#renewOrRelease(key, nonce, 0);
      },
    };
  }

  /** Errors are ignored: the lease expires, and an owner that lost its lock continues, since the version protects the record. */
  async #renewOrRelease(key: string, nonce: string, leaseMs: number): Promise<void> {
    const locks = this.#idsOf(key).map(scripts.lockKey);
    await this.#connection.eval(scripts.RENEW_OR_RELEASE, locks, [nonce, leaseMs], ONCE).catch(() => {});
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
    }
  }

  #unknownKeyError(keyId: string): Error {
    return storeUnreadableError(
      `the records in Redis at ${this.#hosts} are encrypted with another key (${keyId})`,
      'set OAUTH_PROFILE_KEY to that key, or to NEW_KEY,OLD_KEY while you change keys; use a separate database for other records',
    );
  }

  async #readAll(keyId: string): Promise<RecordPlaintext[]> {
    const found = new Map<string, RecordPlaintext | undefined>();
    for await (const [field, value] of this.#connection.scanHash(scripts.recordsKey(keyId), RETRY)) {
      found.set(String(field), this.#decrypt(String(field), value));
    }
    return [...found.values()].flatMap((record) => record ?? []);
  }

  #decryptNewest(key: string, values: readonly Buffer[]): RecordPlaintext | undefined {
    const ids = this.#idsOf(key);
    return selectNewest(values.map((value, i) => this.#decrypt(ids[i] ?? '', value)));
  }

  #decrypt(id: string, value: Buffer | undefined): RecordPlaintext | undefined {
    if (value === undefined || value.length === 0) return undefined;
    const location = `record ${id.slice(0, 8)} in Redis at ${this.#hosts}`;
    return decryptRecord(value.subarray(scripts.STAMP_LENGTH), id, this.#keys, location);
  }

  #idsOf(key: string): string[] {
    return this.#keys.map((encryptionKey) => recordId(encryptionKey, key));
  }

  /** JSON array of the ids of a record's aliases under each encryption key. */
  #aliasesOf(record: RecordPlaintext | undefined): string {
    return JSON.stringify(this.#keys.map((key) => record?.aliases.map((alias) => recordId(key, alias)) ?? []));
  }

  /** KEYS and ARGV of a script on one record. */
  #scriptCall(key: string, args: readonly ScriptArgument[]): [keys: string[], args: ScriptArgument[]] {
    const ids = this.#idsOf(key);
    const keyIds = this.#keys.map(({ id }) => id);
    return [
      [
        scripts.KEY_IDS,
        ...ids.map(scripts.lockKey),
        ...keyIds.map(scripts.recordsKey),
        ...keyIds.map(scripts.aliasesKey),
      ],
      [...ids, ...args],
    ];
  }
}

/** Start of the stamp. It is the same under every encryption key, and reveals nothing about the version. */
function versionStamp(key: string, version: string): string {
  return createHmac('sha256', key).update(version).digest('hex').slice(0, scripts.VERSION_LENGTH);
}
