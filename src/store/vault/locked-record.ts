import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OAuthProfileError } from '../../errors.ts';
import { encryptRecord, type Key, type RecordPlaintext } from '../encryption.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import type { LockedOperations, ReplaceOptions } from '../locking-store.ts';
import { mapWriteErrors } from '../store-errors.ts';
import { syncDirectory, writeDurably } from './durable-fs.ts';
import { type Records, readAlias } from './records.ts';

/** Space for a provider's response, in addition to the size of the record. */
const RESERVED_BYTES = 65_536;
const RETRY_SUCCESSOR_MS = 3_000;
const RETRY_INTERVAL_MS = 50;

/** A record of the vault whose file locks `owner` holds. */
export class LockedRecord implements LockedOperations {
  #isSpaceReserved = false;

  constructor(
    readonly key: string,
    readonly records: Records,
    readonly owner: LockOwner,
  ) {}

  async read(): Promise<RecordPlaintext | undefined> {
    return this.records.find(this.key);
  }

  /** A new refresh token may be the only valid one: errors are retried, and then it is stored next to the vault. */
  async replace(
    next: RecordPlaintext,
    current: RecordPlaintext | undefined,
    options: ReplaceOptions,
  ): Promise<boolean> {
    const bytes = encryptRecord(next, this.records.keys[0]);
    const isSuccessor = !options.requiresLock && next.version !== '';
    for (const deadline = performance.now() + RETRY_SUCCESSOR_MS; ; await sleep(RETRY_INTERVAL_MS)) {
      try {
        return await this.#replace(bytes, next, current, options);
      } catch (error) {
        if (!isSuccessor || !(error instanceof OAuthProfileError)) throw error;
        if (performance.now() > deadline) throw await this.#rescue(bytes, error);
      }
    }
  }

  /**
   * Compare-and-set, for an owner that lost its lock and returns. The comparison and the rename are not one step. If the new owner writes between
   * them, the result is the same as if this owner had written first and the new owner's write had failed. A later version of the new owner can
   * only be overwritten by a process that is suspended exactly here for a whole exchange. A second lock would not prevent that: an owner that is
   * suspended longer than its lease would lose it, too.
   */
  async #replace(
    bytes: Buffer,
    next: RecordPlaintext,
    current: RecordPlaintext | undefined,
    { requiresLock, reserve }: ReplaceOptions,
  ): Promise<boolean> {
    return mapWriteErrors(this.records.directory, async () => {
      if (reserve) await this.#reserveSpace(bytes.length);
      const useReserve = !reserve && this.#isSpaceReserved;
      const temp = this.owner.ownFile(useReserve ? 'reserve' : 'temp');
      let stored: RecordPlaintext | undefined;
      try {
        await writeDurably(temp, bytes);
        if (requiresLock && !this.#isLockHeld()) return false;
        stored = this.records.find(this.key);
        // A record that vanished is not a newer version. This version was stored if only the last fsync failed.
        if (stored !== undefined && ![current?.version, next.version].includes(stored.version)) return false;
        const dropped = stored?.aliases.filter((alias) => !next.aliases.includes(alias));
        this.#removeAliases(dropped, this.records.keys[0]);
        fs.renameSync(temp, this.records.file(this.key));
        this.#createAliases(next, stored);
      } finally {
        if (!useReserve) fs.rmSync(temp, { force: true });
      }
      if (useReserve) this.#isSpaceReserved = false;
      await syncDirectory(dirname(this.records.file(this.key)));
      await this.#removeFiles(this.records.keys.slice(1), [...next.aliases, ...(stored?.aliases ?? [])]);
      return true;
    });
  }

  remove(current: RecordPlaintext | undefined): Promise<boolean> {
    return mapWriteErrors(this.records.directory, async () => {
      if (!this.#isLockHeld()) return false;
      await this.#removeFiles(this.records.keys, current?.aliases ?? []);
      return true;
    });
  }

  async release(): Promise<void> {
    this.owner.close();
  }

  async #removeFiles(keys: readonly Key[], aliases: readonly string[]): Promise<void> {
    for (const key of keys) {
      const file = this.records.file(this.key, key);
      if (!fs.existsSync(file)) continue;
      this.#removeAliases(aliases, key);
      fs.rmSync(file, { force: true });
      await syncDirectory(dirname(file));
    }
  }

  #removeAliases(aliases: readonly string[] | undefined, key: Key): void {
    for (const alias of aliases ?? []) fs.rmSync(this.records.file(alias, key, 'alias'), { force: true });
  }

  /** Each write creates the newest alias again, in case that a process was killed before it did. */
  #createAliases({ aliases }: RecordPlaintext, stored: RecordPlaintext | undefined): void {
    const [key, ...otherKeys] = this.records.keys;
    const existing = otherKeys.length === 0 ? (stored?.aliases.slice(0, -1) ?? []) : [];
    const target = basename(this.records.file(this.key));
    for (const alias of aliases) {
      if (!existing.includes(alias)) writeAlias(this.records.file(alias, key, 'alias'), target);
    }
  }

  /** Writes an encrypted record next to the vault. Returns the error with the command that restores it. */
  async #rescue(bytes: Buffer, error: OAuthProfileError): Promise<OAuthProfileError> {
    const target = this.records.file(this.key);
    const rescued = join(dirname(this.records.directory), `rescued-${basename(target)}`);
    try {
      await writeDurably(rescued, bytes);
      await syncDirectory(dirname(rescued));
    } catch {
      return error;
    }
    return new OAuthProfileError(error.code, `${error.message}; the new refresh token is in ${rescued}, encrypted`, {
      hint: `${error.hint}; then run: mv ${rescued} ${target}`,
      cause: error.cause,
    });
  }

  #isLockHeld(): boolean {
    return this.records.locks(this.key).every((lock) => this.owner.holds(lock));
  }

  async #reserveSpace(size: number): Promise<void> {
    if (this.#isSpaceReserved) return;
    const file = this.owner.ownFile('reserve');
    try {
      // Random bytes: a file system could compress others.
      await writeDurably(file, randomBytes(size + RESERVED_BYTES));
    } catch (error) {
      fs.rmSync(file, { force: true });
      throw error;
    }
    this.#isSpaceReserved = true;
  }
}

/** Creates an alias: a symbolic link, because that needs no fsync of its own. Errors are ignored: the record itself is stored. */
function writeAlias(file: string, target: string): void {
  if (readAlias(file) === target) return;
  try {
    fs.rmSync(file, { force: true });
    // Windows permits symbolic links to administrators only.
    if (process.platform === 'win32') fs.writeFileSync(file, target);
    else fs.symlinkSync(target, file);
  } catch {
    // See above.
  }
}
