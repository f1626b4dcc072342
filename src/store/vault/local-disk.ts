import { statfsSync } from 'node:fs';
import { OAuthProfileError } from '../../errors.ts';

/** Numbers that Linux gives to file systems where another machine may be at work, from linux/magic.h and statfs(2). */
const REMOTE = new Map([
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
  [0x786f4256, 'a folder of a virtual machine'],
  [0xbacbacbc, 'a folder of a virtual machine'],
]);

/** Refuses a folder on a network file system: a lock there would hold nobody off. */
export async function refuseRemote(folder: string): Promise<void> {
  // What starts another program is loaded only where one must be asked.
  const kind =
    process.platform === 'linux'
      ? REMOTE.get(statfsSync(folder).type >>> 0)
      : (await import('./ask-df.ts')).askDf(folder);
  if (kind === undefined) return;
  throw new OAuthProfileError('store_unwritable', `${folder} is on a network file system (${kind})`, {
    hint: 'set OAUTH_PROFILE_HOME to a folder on a local disk; to share tokens between machines use --store redis://…',
  });
}
