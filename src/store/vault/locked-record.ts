import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { OAuthProfileError } from '../../errors.ts';
import type { Held, Kept } from '../../ports.ts';
import { type KeyRing, type SealedRecord, seal } from '../encryption.ts';
import { takeLocks } from '../lock/file-lock.ts';
import { look, type Stake } from '../lock/lock-owner.ts';
import { locked, writing } from '../store-errors.ts';
import { syncFolder, writeThrough } from './durable-fs.ts';
import type { Records } from './records.ts';

/** Room for the reply of a provider, beyond the size of the record. */
const RESERVED_BYTES = 65_536;
/** Comparing and renaming takes no time; this is for a process that was stopped just then. */
const COMMIT_MS = 15_000;

/** What a holder works with. */
export interface Tenure {
  readonly stake: Stake;
  readonly locks: readonly string[];
  /** Whether room is reserved. */
  reserved: boolean;
  /** When the next process should get its turn. */
  endsAt: number | undefined;
}

/** A record whose lock this process holds. */
export class HeldRecord implements Held {
  readonly kept: Kept | undefined;
  #seen: SealedRecord | undefined;
  #over = false;

  constructor(
    readonly name: string,
    readonly queuedAt: number,
    readonly tenure: Tenure,
    readonly records: Records,
    readonly ring: KeyRing,
  ) {
    this.#seen = this.#read();
    this.kept = this.#seen?.kept;
  }

  async readAgain(): Promise<Kept | undefined> {
    this.#whileHeld();
    this.#seen = this.#read();
    return this.#seen?.kept;
  }

  async write(next: Kept, { reserve = false }: { readonly reserve?: boolean } = {}): Promise<boolean> {
    this.#whileHeld();
    const record = { name: this.name, turn: (this.#seen?.turn ?? 0) + 1, kept: next };
    const bytes = seal(record, this.ring[0]);
    // Only a new head is worth anything in the hands of somebody who lost the lock; all else could hide what the next one wrote.
    const mustHold = reserve || this.#seen?.kept.head === next.head;
    const { folder } = this.records;
    return writing(folder, async () => {
      // First, so that nothing is announced that there is no room for.
      if (reserve) await this.#reserve(bytes.length);
      const useReserve = !reserve && this.tenure.reserved;
      const temp = this.tenure.stake.path(useReserve ? 'reserve' : 'temp');
      try {
        await writeThrough(temp, bytes, useReserve);
        if (!(await this.#commit(() => this.#replace(temp, mustHold)))) return false;
      } finally {
        if (!useReserve) rmSync(temp, { force: true });
      }
      if (useReserve) this.tenure.reserved = false;
      await syncFolder(folder);
      this.#seen = record;
      return true;
    });
  }

  async remove(): Promise<void> {
    this.#whileHeld();
    const { folder } = this.records;
    await writing(folder, async () => {
      await this.#commit(() => {
        if (!this.#isHeld()) throw locked('another process', 0);
        for (const key of this.ring) rmSync(this.records.file(this.name, key), { force: true });
      });
      await syncFolder(folder);
      this.#seen = undefined;
    });
  }

  /** The turn is over. */
  end(): void {
    this.#over = true;
  }

  #read(): SealedRecord | undefined {
    return this.records.find(this.name, this.ring);
  }

  /** In the place of what is there, if that is still what was seen. */
  #replace(temp: string, mustHold: boolean): boolean {
    if (mustHold && !this.#isHeld()) return false;
    if (this.#read()?.kept.head !== this.#seen?.kept.head) return false;
    const [first, ...others] = this.ring;
    renameSync(temp, this.records.file(this.name, first));
    for (const key of others) rmSync(this.records.file(this.name, key), { force: true });
    return true;
  }

  /** A holder whose death cannot be known from elsewhere may have been taken for lost. */
  #isHeld(): boolean {
    const { locks, stake } = this.tenure;
    return locks.every((lock) => look(lock)?.owner === stake.owner);
  }

  /**
   * Alone while comparing and renaming, also where a holder from elsewhere was thought lost and comes back. It needs no room: a link to a file
   * that is there.
   */
  async #commit<T>(act: () => T): Promise<T> {
    const { stake } = this.tenure;
    const locks = this.records.locks(this.name, this.ring, 'commit');
    try {
      await takeLocks(stake, locks, { timeoutMs: COMMIT_MS, signal: undefined, random: () => 0.5 });
    } catch (error) {
      // What has been obtained must not be lost to a process that was stopped at the wrong moment.
      if (!(error instanceof OAuthProfileError && error.code === 'store_locked')) throw error;
    }
    try {
      return act();
    } finally {
      for (const lock of locks) stake.release(lock);
    }
  }

  async #reserve(size: number): Promise<void> {
    if (this.tenure.reserved) return;
    const file = this.tenure.stake.path('reserve');
    try {
      // Nothing that a file system could make smaller.
      await writeThrough(file, randomBytes(size + RESERVED_BYTES));
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
    this.tenure.reserved = true;
  }

  #whileHeld(): void {
    if (this.#over) throw new TypeError('the turn of this change is over');
  }
}
