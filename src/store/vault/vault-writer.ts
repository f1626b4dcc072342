import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { monotonicMs } from '../../monotonic.ts';
import type { Held, Limits, Wait } from '../../ports.ts';
import type { KeyRing } from '../encryption.ts';
import { takeLocks, type Waiting } from '../lock/file-lock.ts';
import { Turns } from '../lock/keyed-mutex.ts';
import { look, Stake } from '../lock/lock-owner.ts';
import { learnProcesses } from '../lock/owner.ts';
import { pause } from '../lock/pause.ts';
import { hasWaiters, sweep } from '../lock/stale-files.ts';
import { locked, writing } from '../store-errors.ts';
import { isNoted, settleKeys } from './create-key.ts';
import { makeFolder } from './durable-fs.ts';
import type { Keys } from './key-provider.ts';
import { refuseRemote } from './local-disk.ts';
import { HeldRecord, type Tenure } from './locked-record.ts';
import { checkFolder } from './private-files.ts';
import type { Records } from './records.ts';
import { RecordWatch } from './watch-record.ts';

/** How long a process goes on letting its own callers in before the others get their turn. */
const KEEP_MS = 50;
/** How long it then waits itself, if others are waiting. */
const POLITE_MS = 8;

type Patience = Limits & Pick<Waiting, 'isContent' | 'startedAt'>;

/** When a caller came: by the clock of the store, and by the one that measures how long it waits. */
interface Arrival {
  readonly queuedAt: number;
  readonly startedAt: number;
}

/** The part of a vault that changes it. */
export class VaultWriter {
  readonly #turns = new Turns();
  readonly #tenures = new Map<string, Tenure>();
  readonly #folder: string;
  #ring: KeyRing | undefined;
  #sealedAgain = false;
  #holder = '';
  #yielded = { name: '', until: 0 };

  constructor(
    readonly records: Records,
    readonly keys: Keys,
    readonly random: () => number,
  ) {
    this.#folder = records.folder;
  }

  /** See {@link TokenStore.update}. */
  async update<T>(name: string, change: (held: Held) => Promise<T>, wait: Wait<T>, arrival: Arrival): Promise<T> {
    const { queuedAt, startedAt } = arrival;
    const deadline = startedAt + wait.timeoutMs;
    const left = () => ({ ...wait, startedAt, timeoutMs: Math.max(0, deadline - monotonicMs()) });
    const late = () => {
      const busy = this.#tenures.has(name) || this.#holder === '' ? `process ${process.pid}` : this.#holder;
      return locked(busy, monotonicMs() - startedAt);
    };
    const result = await this.#turns.take(name, left(), late, async () => {
      try {
        const ring = await this.#prepare(left());
        const watch = new RecordWatch(name, this.records, ring, wait.contentWith, queuedAt);
        const tenure = await this.#enter(name, ring, { ...left(), isContent: watch.isContent });
        if (tenure === undefined) return watch.found as T;
        const held = new HeldRecord(name, queuedAt, tenure, this.records, ring);
        try {
          return await change(held);
        } finally {
          held.end();
        }
      } finally {
        // In one go: whether somebody waits must not change in between.
        this.#exit(name);
        this.#turns.leave(name);
      }
    });
    if (!this.#sealedAgain) await this.#sealAgain().catch(() => {});
    return result;
  }

  close(): Promise<void> {
    return this.#turns.close();
  }

  async #prepare(wait: Patience): Promise<KeyRing> {
    if (this.#ring !== undefined && existsSync(this.#folder)) return this.#ring;
    await learnProcesses();
    await writing(this.#folder, () => makeFolder(this.#folder));
    checkFolder(this.#folder);
    await refuseRemote(this.#folder);
    sweep(this.#folder);
    let found = await this.keys.find();
    if (found === undefined || !isNoted(this.keys, found)) {
      found = await this.#alone([join(this.#folder, 'vault.lock')], wait, (stake) => {
        if (found !== undefined) this.records.refuseUnknownKeys(found.ring);
        return settleKeys(this.keys, stake);
      });
    }
    this.records.refuseUnknownKeys(found.ring);
    this.#ring = found.ring;
    return found.ring;
  }

  async #alone<T>(locks: string[], wait: Patience, act: (stake: Stake) => Promise<T>): Promise<T> {
    const stake = (await this.#take(locks, wait)) as Stake;
    try {
      return await writing(this.#folder, () => act(stake));
    } finally {
      stake.remove();
    }
  }

  #take(locks: string[], wait: Patience): Promise<Stake | undefined> {
    const onHolder = (holder: string) => {
      this.#holder = holder;
    };
    return writing(this.#folder, async () => {
      const stake = new Stake(this.#folder);
      let taken = false;
      try {
        taken = await takeLocks(stake, locks, { ...wait, random: this.random, onHolder });
        return taken ? stake : undefined;
      } finally {
        if (!taken) stake.remove();
      }
    });
  }

  /** The lock is taken once for all callers who are waiting in this process; `undefined` where it is not needed any more. */
  async #enter(name: string, ring: KeyRing, wait: Patience): Promise<Tenure | undefined> {
    const current = this.#tenures.get(name);
    if (current !== undefined) {
      if (current.locks.every((lock) => look(lock)?.owner === current.stake.owner)) return current;
      current.stake.remove();
      this.#tenures.delete(name);
    }
    const { name: yielded, until } = this.#yielded;
    const politeMs = Math.min(until - monotonicMs(), wait.timeoutMs);
    if (yielded === name && politeMs > 0) await pause(politeMs, wait.signal);
    const locks = this.records.locks(name, ring, 'lock');
    const stake = await this.#take(locks, wait);
    if (stake === undefined) return undefined;
    const tenure = { stake, locks, reserved: false, endsAt: undefined };
    this.#tenures.set(name, tenure);
    return tenure;
  }

  /** Lets go of the lock, unless more callers of this process wait for it and those of others do not wait for long yet. */
  #exit(name: string): void {
    const tenure = this.#tenures.get(name);
    if (tenure === undefined) return;
    const now = monotonicMs();
    tenure.endsAt ??= now + KEEP_MS;
    if (this.#turns.waiting(name) > 0 && now < tenure.endsAt) return;
    this.#tenures.delete(name);
    tenure.stake.remove();
    // Whoever comes back at once would always be quicker than those who look now and then.
    if (hasWaiters(this.#folder)) this.#yielded = { name, until: now + POLITE_MS * (0.5 + this.random()) };
  }

  /** After a change of keys: brings every record under the first key that nobody is busy with, so that the others can be given up. */
  async #sealAgain(): Promise<void> {
    const ring = this.#ring;
    if (ring === undefined) return;
    this.#sealedAgain = true;
    if ([...this.records.keyIds()].every((id) => id === ring[0].id)) return;
    for (const { name } of this.records.all(ring)) {
      const arrival = { queuedAt: 0, startedAt: monotonicMs() };
      const sealAgain = async (held: Held) => held.kept && held.write(held.kept);
      await this.update(name, sealAgain, { timeoutMs: 0, signal: undefined }, arrival).catch(() => {});
    }
  }
}
