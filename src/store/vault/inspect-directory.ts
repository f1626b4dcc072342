import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import { lstatIfExists } from './private-files.ts';

/**
 * File system types of Linux on which other hosts may write, from linux/magic.h and statfs(2): NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS (2),
 * Coda, Lustre, GFS2, OCFS2, GPFS, NCP, BeeGFS, VirtualBox, VMware.
 */
const NETWORK_FILE_SYSTEMS = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400, 0x5346414f, 0x6b414653, 0x73757245,
  0x0bd00bd0, 0x01161970, 0x7461636f, 0x47504653, 0x564c, 0x19830326, 0x786f4256, 0xbacbacbc,
]);

/** Rejects a directory on a network file system, where locks do not exclude other hosts. macOS does not report the type. */
export function assertLocalFileSystem(directory: string): void {
  const type = process.platform === 'linux' ? statfsSync(directory).type >>> 0 : 0;
  const isUncPath = process.platform === 'win32' && directory.startsWith('\\\\');
  if (!isUncPath && !NETWORK_FILE_SYSTEMS.has(type)) return;
  const detail = isUncPath ? '' : ` (type 0x${type.toString(16)})`;
  throw new OAuthProfileError('store_unwritable', `${directory} is on a network file system${detail}`, {
    hint: 'set OAUTH_PROFILE_HOME to a directory on a local disk; to share tokens between machines, use --store redis://…',
  });
}

/** Returns whether a directory exists or could be created. Tests that with a temporary directory, which is removed. */
export async function inspectDirectory(
  directory: string,
): Promise<'exists' | 'possible' | { readonly problem: string }> {
  if (lstatIfExists(directory) !== undefined) return 'exists';
  let parent = dirname(directory);
  while (lstatIfExists(parent) === undefined && parent !== dirname(parent)) parent = dirname(parent);
  try {
    rmdirSync(mkdtempSync(join(parent, '.oauth-profile-')));
    return 'possible';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `cannot be created: no new directory is allowed in ${parent} (${code})` };
  }
}
