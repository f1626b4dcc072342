import { lstatSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';

/** File system types of Linux on which other hosts may write, from linux/magic.h and statfs(2). */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x0bd00bd0, 'Lustre'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x47504653, 'GPFS'],
  [0x564c, 'NCP'],
  [0x19830326, 'BeeGFS'],
  [0x786f4256, 'VirtualBox'],
  [0xbacbacbc, 'VMware'],
]);

/** Rejects a directory on a network file system, where locks do not exclude other hosts. macOS does not report the type. */
export function assertLocalFileSystem(directory: string): void {
  const type = networkFileSystem(directory);
  if (type === undefined) return;
  throw new OAuthProfileError('store_unwritable', `${directory} is on a network file system (${type})`, {
    hint: 'set OAUTH_PROFILE_HOME to a directory on a local disk; to share tokens between machines, use --store redis://…',
  });
}

function networkFileSystem(directory: string): string | undefined {
  if (process.platform === 'win32') return directory.startsWith('\\\\') ? 'UNC path' : undefined;
  return process.platform === 'linux' ? NETWORK_FILE_SYSTEMS.get(statfsSync(directory).type >>> 0) : undefined;
}

/** Returns whether a directory exists or could be created. Tests that with a temporary directory, which is removed. */
export async function inspectDirectory(
  directory: string,
): Promise<'exists' | 'possible' | { readonly problem: string }> {
  if (exists(directory)) return 'exists';
  let parent = dirname(directory);
  while (!exists(parent) && parent !== dirname(parent)) parent = dirname(parent);
  try {
    rmdirSync(mkdtempSync(join(parent, '.oauth-profile-')));
    return 'possible';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `cannot be created: no new directory is allowed in ${parent} (${code})` };
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent is not a directory.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}
