import { readFileSync, readlinkSync } from 'node:fs';
import { failedWith } from '../store-errors.ts';
import { attempt, digest, type Processes } from './processes.ts';

/** The processes that /proc shows. */
export function linuxProcesses(): Processes {
  const where = attempt(() =>
    digest(`${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}${readlinkSync('/proc/self/ns/pid')}`),
  );
  // In a new namespace /proc may still be that of the old one, where our number is somebody else's.
  const seesItself = attempt(() => readlinkSync('/proc/self')) === String(process.pid);
  return { where: seesItself ? where : undefined, startOf: readStart, askEveryMs: 20 };
}

function readStart(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    // Some systems hide processes that exist.
    if (failedWith(error, 'ENOENT', 'ESRCH') && !exists(pid)) return undefined;
    throw error;
  }
  // The command's name, in brackets, may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !failedWith(error, 'ESRCH');
  }
}
