import {
  chmodSync,
  closeSync,
  fsync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { createDirectory } from '../../directories.ts';

/** Creates a directory with mode 0700, and its parents, durably. */
export async function createPrivateDirectory(directory: string): Promise<void> {
  const topmost = createDirectory(directory, 0o700);
  if (topmost === undefined) return;
  // A default ACL of the parent may have granted more.
  if (process.platform !== 'win32') chmodSync(directory, 0o700);
  for (let created = directory; created.length >= topmost.length; created = dirname(created)) {
    await syncDirectory(dirname(created));
  }
}

/** Writes a file with mode 0600, durably. With `reuseSpace`, overwrites the existing file and needs no more disk space than it has. */
export async function writeDurably(file: string, bytes: Uint8Array, reuseSpace = false): Promise<void> {
  const fd = openSync(file, reuseSpace ? 'r+' : 'w', 0o600);
  try {
    if (reuseSpace) {
      for (let offset = 0; offset < bytes.length; ) {
        offset += writeSync(fd, bytes, offset, bytes.length - offset, offset);
      }
      ftruncateSync(fd, bytes.length);
    } else {
      writeFileSync(fd, bytes);
    }
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Replaces a file atomically and durably, through the file `temp`. */
export async function replaceFile(file: string, bytes: Uint8Array, temp: string): Promise<void> {
  try {
    await writeDurably(temp, bytes);
    renameSync(temp, file);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  await syncDirectory(dirname(file));
}

/** Makes created, renamed and removed names in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  // Windows does not support this, and NTFS journals names.
  if (process.platform === 'win32') return;
  const fd = openSync(directory, 'r');
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Asynchronous, because a disk can take a long time. */
function sync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fsync(fd, (error) => (error === null ? resolve() : reject(error))));
}
