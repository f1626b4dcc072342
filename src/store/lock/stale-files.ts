import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { claimOf, lifeIn, look, Stake } from './lock-owner.ts';
import { lifeOf } from './owner.ts';
import { isOwner } from './owner-name.ts';

/** Where death cannot be known, what nobody has touched for so long is litter. */
const FORGOTTEN_MS = 3_600_000;

/** Takes away what the dead left in the folder, as far as that is possible. */
export function sweep(folder: string): void {
  try {
    const files = readdirSync(folder);
    sweepLocks(folder, files);
    sweepClaims(folder, files);
    sweepOwners(folder, files);
  } catch {
    // The next one will.
  }
}

/** Whether anybody holds a lock in the folder, or waits for one. */
export function hasWaiters(folder: string): boolean {
  try {
    return readdirSync(folder).some((file) => file.endsWith('.owner'));
  } catch {
    return false;
  }
}

function sweepLocks(folder: string, files: readonly string[]): void {
  const locks = files.filter((file) => /\.(?:lock|commit)$/.test(file)).map((file) => join(folder, file));
  const over = locks.filter((lock) => {
    const sight = look(lock);
    return sight !== undefined && lifeIn(folder, sight.owner) === 'dead';
  });
  if (over.length === 0) return;
  // In the same way as anybody who waits, so that no two get in.
  const stake = new Stake(folder);
  try {
    for (const lock of over) if (stake.take(lock) === undefined) stake.release(lock);
  } finally {
    stake.remove();
  }
}

function sweepClaims(folder: string, files: readonly string[]): void {
  // A claim on a lock comes before the claim on that claim.
  for (const file of files.toSorted((one, other) => one.length - other.length)) {
    const [, lock] = /^(.+)\.after\.[^.]+$/.exec(file) ?? [];
    if (lock === undefined) continue;
    const claim = join(folder, file);
    const former = look(join(folder, lock));
    // As long as the former holder's lock stands, the claim counts; afterwards nobody can make use of it.
    if (former !== undefined && claimOf(join(folder, lock), former.owner) === claim) continue;
    const claimant = look(claim);
    if (claimant !== undefined && isLitter(claim, lifeIn(folder, claimant.owner))) rmSync(claim, { force: true });
  }
}

function sweepOwners(folder: string, files: readonly string[]): void {
  for (const name of files) {
    const [, owner] = /^(.+)\.(?:owner|temp|reserve)$/.exec(name) ?? [];
    const file = join(folder, name);
    if (owner !== undefined && isOwner(owner) && isLitter(file, lifeOf(owner))) rmSync(file, { force: true });
  }
}

function isLitter(file: string, life: ReturnType<typeof lifeOf>): boolean {
  if (life !== 'unknown') return life === 'dead';
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > FORGOTTEN_MS;
}
