import {
  chmodSync,
  closeSync,
  existsSync,
  fsync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { failedWith } from '../store-errors.ts';

/** Makes a folder that is its owner's alone, with those above it, and lets nothing of that be lost. */
export async function makeFolder(folder: string): Promise<void> {
  const first = makeMissing(folder);
  if (first === undefined) return;
  // Some folders hand down wider permissions than were asked for.
  if (process.platform !== 'win32') chmodSync(folder, 0o700);
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** The topmost of the folders that it made. Node's own `recursive` goes on for ever where a parent is there and takes nothing, as in /proc. */
function makeMissing(folder: string, mayComeBetween = true): string | undefined {
  try {
    mkdirSync(folder, 0o700);
    return folder;
  } catch (error) {
    if (failedWith(error, 'EEXIST') && statSync(folder).isDirectory()) return undefined;
    const parent = dirname(folder);
    if (!failedWith(error, 'ENOENT')) throw error;
    // Another process may have made the parent in this moment.
    if (existsSync(parent)) {
      if (!mayComeBetween) throw error;
      return makeMissing(folder, false);
    }
    const first = makeMissing(parent);
    return makeMissing(folder) === undefined ? first : (first ?? folder);
  }
}

/** Writes a file that is its owner's alone; it is on the disk when this resolves. With `over` it takes the room of the one that is there. */
export async function writeThrough(file: string, bytes: Uint8Array, over = false): Promise<void> {
  const fd = openSync(file, over ? 'r+' : 'w', 0o600);
  try {
    if (over) {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
      ftruncateSync(fd, bytes.length);
    } else {
      writeFileSync(fd, bytes);
    }
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Puts a file in the place of another, in one step. */
export async function replaceFile(file: string, bytes: Uint8Array, temp: string): Promise<void> {
  try {
    await writeThrough(temp, bytes);
    renameSync(temp, file);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** Lets no name be lost that was given in the folder. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot, and need not.
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Off the main thread: a disk may take its time. */
function sync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fsync(fd, (error) => (error === null ? resolve() : reject(error))));
}
