import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { monotonicMs } from '../../monotonic.ts';
import { failedWith } from '../store-errors.ts';
import { inventOwner, type Life, lifeOf } from './owner.ts';
import { isOwner } from './owner-name.ts';

/** How long a lock stays with a holder whose death cannot be known and who gives no sign of life. */
const LEASE_MS = 5000;
const RENEW_MS = 1500;

/** What is seen of a lock: whose it is, and a mark that changes when the holder renews it. */
interface Sight {
  readonly owner: string;
  readonly mark: string;
}

/** Since when a lock of unknown life looks as it does; for all stakes of this process, so that those who wait one after the other add up. */
const watched = new Map<string, { mark: string; since: number }>();

const live = new Set<Stake>();
const letGoOfAll = (): void => {
  for (const stake of live) stake.remove();
};

/**
 * The file that stands for one holder. Its hard links are the locks, so that a lock appears at once with the holder's name in it. A lock whose
 * holder's file is gone is over, even if it could not be removed.
 */
export class Stake {
  readonly owner = inventOwner();
  readonly #file: string;
  readonly #files = new Set<string>();
  readonly #locks = new Set<string>();
  readonly #renewing: NodeJS.Timeout;

  constructor(readonly folder: string) {
    this.#file = join(folder, `${this.owner}.owner`);
    this.#write();
    if (live.size === 0) process.on('exit', letGoOfAll);
    live.add(this);
    this.#renewing = setInterval(() => this.#renew(), RENEW_MS).unref();
  }

  /** Where this holder can put a file of its own, which goes when the holder does, or is swept after its death. */
  path(kind: 'temp' | 'reserve'): string {
    const file = join(this.folder, `${this.owner}.${kind}`);
    this.#files.add(file);
    return file;
  }

  /** Takes the lock, or tells who has it. */
  take(lock: string): string | undefined {
    for (;;) {
      if (this.#link(lock)) break;
      const sight = look(lock);
      // Gone by now.
      if (sight === undefined) continue;
      if (sight.owner === this.owner) break;
      if (!this.#isOver(lock, sight) || !this.#replace(lock, sight)) return sight.owner;
      break;
    }
    this.#locks.add(lock);
    watched.delete(lock);
    return undefined;
  }

  /** Gives the lock back, unless somebody took it from a holder who seemed lost. */
  release(lock: string): void {
    this.#locks.delete(lock);
    const claim = claimOf(lock, this.owner);
    try {
      // The same claim as for taking over, so that the two can never cross.
      linkSync(this.#file, claim);
    } catch {
      // Being taken over, or no room for a link: when our file is gone, the lock is over all the same.
      return;
    }
    if (look(lock)?.owner === this.owner) unlinkSync(lock);
    unlinkSync(claim);
  }

  /** Gives everything back, and takes every file of this holder away. */
  remove(): void {
    clearInterval(this.#renewing);
    for (const lock of this.#locks) attempt(() => this.release(lock));
    for (const file of this.#files) attempt(() => unlinkSync(file));
    attempt(() => unlinkSync(this.#file));
    live.delete(this);
    if (live.size === 0) process.off('exit', letGoOfAll);
  }

  #write(): void {
    try {
      writeFileSync(this.#file, this.owner, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      rmSync(this.#file, { force: true });
      throw error;
    }
  }

  #renew(): void {
    const now = new Date();
    attempt(() => utimesSync(this.#file, now, now));
  }

  #link(lock: string): boolean {
    try {
      linkSync(this.#file, lock);
      return true;
    } catch (error) {
      if (failedWith(error, 'EEXIST')) return false;
      if (!failedWith(error, 'ENOENT')) throw error;
      // Swept away by somebody who could not know that we still live.
      this.#write();
      linkSync(this.#file, lock);
      return true;
    }
  }

  /** Whether the holder is dead, or gave no sign of life for as long as a lease lasts while we were looking. */
  #isOver(lock: string, { owner, mark }: Sight): boolean {
    const life = lifeIn(this.folder, owner);
    if (life !== 'unknown') return life === 'dead';
    const now = monotonicMs();
    const seen = watched.get(lock);
    if (seen?.mark === mark) return now - seen.since >= LEASE_MS;
    watched.set(lock, { mark, since: now });
    return false;
  }

  /**
   * Puts our lock in the place of one that is over. Only one process can hold the claim after a given holder; the lock is looked at again
   * under the claim, and whoever comes later finds another holder there and gives the claim back.
   */
  #replace(place: string, dead: Sight): boolean {
    const claim = claimOf(place, dead.owner);
    if (!this.#link(claim)) {
      const claimant = look(claim);
      if (claimant === undefined || !this.#isOver(claim, claimant)) return false;
      // It died while taking over, or while giving back: the claim itself is taken over, in the same way.
      if (!this.#replace(claim, claimant)) return false;
    }
    const now = look(place);
    if (now?.owner === dead.owner && now.mark === dead.mark) attempt(() => renameSync(claim, place));
    else attempt(() => unlinkSync(claim));
    return look(place)?.owner === this.owner;
  }
}

/** Whether a holder is at work; one whose file is gone has finished. */
export function lifeIn(folder: string, owner: string): Life {
  const there = statSync(join(folder, `${owner}.owner`), { throwIfNoEntry: false });
  return there === undefined && isOwner(owner) ? 'dead' : lifeOf(owner);
}

/** Whose lock it is now, if anybody's. */
export function look(lock: string): Sight | undefined {
  let fd: number;
  try {
    fd = openSync(lock, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const text = readFileSync(fd, 'latin1');
    const { ino, mtimeMs } = fstatSync(fd);
    // After a power failure the content may be missing.
    return { owner: isOwner(text) ? text : `unknown-${ino}`, mark: `${ino} ${mtimeMs}` };
  } finally {
    closeSync(fd);
  }
}

/** The file that whoever wants to take over from `owner` must have; short, since it can itself be taken over. */
export function claimOf(lock: string, owner: string): string {
  return `${lock}.after.${owner.slice(owner.lastIndexOf('-') + 1)}`;
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // Somebody else was quicker, or the folder is gone.
  }
}
