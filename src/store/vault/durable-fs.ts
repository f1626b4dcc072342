import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { createDirectory } from '../../files/directories.ts';

/** Creates a directory with mode 0700, and its parents, durably. */
export async function createPrivateDirectory(directory: string): Promise<void> {
  const topmost = createDirectory(directory, 0o700);
  if (topmost === undefined) return;
  // A default ACL of the parent may have granted more.
  if (process.platform !== 'win32') fs.chmodSync(directory, 0o700);
  for (let created = directory; created.length >= topmost.length; created = dirname(created)) {
    await syncDirectory(dirname(created));
  }
}

/** Writes a file with mode 0600, durably. Overwrites an existing file in place, which needs no more disk space than it has. */
export async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  await withFile(file, fs.constants.O_WRONLY | fs.constants.O_CREAT, (fd) => {
    for (let offset = 0; offset < bytes.length; ) offset += fs.writeSync(fd, bytes, offset);
    fs.ftruncateSync(fd, bytes.length);
  });
}

/** Makes created, renamed and removed names in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  // Windows does not support this, and NTFS journals names.
  if (process.platform !== 'win32') await withFile(directory, fs.constants.O_RDONLY, () => {});
}

/** Opens a file, changes it and waits until it is on the disk. The wait is asynchronous, because a disk can take a long time. */
async function withFile(file: string, flags: number, change: (fd: number) => void): Promise<void> {
  const fd = fs.openSync(file, flags, 0o600);
  try {
    change(fd);
    await new Promise<void>((resolve, reject) => fs.fsync(fd, (error) => (error === null ? resolve() : reject(error))));
  } finally {
    fs.closeSync(fd);
  }
}
