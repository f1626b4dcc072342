import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hasErrorCode } from '../store-errors.ts';

/** Status of a lock owner's process; `unknown` on other platforms than Linux, in other PID namespaces and on other hosts. */
export type ProcessStatus = 'running' | 'ended' | 'unknown';

/** How to tell the processes of a platform apart. */
export interface ProcessTable {
  /** Identifies the boot and the PID namespace in which a PID is unique; `undefined` if that is not known. */
  readonly scope: string | undefined;
  /** Start time of a process, in any unit; `undefined` if it has ended. Throws if that cannot be determined. */
  startTime(pid: number): string | undefined;
}

const UNKNOWN_SCOPE = '0'.repeat(12);
const OWNER_ID = /^([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{16}$/;

/** Creates a unique id for one acquisition: `<scope>-<pid>-<start time>-<nonce>`. */
export function createOwnerId({ scope, startTime }: ProcessTable = platformProcesses()): string {
  const start = (scope && startTime(process.pid)) ?? '0';
  return `${scope ?? UNKNOWN_SCOPE}-${process.pid}-${start}-${randomBytes(8).toString('hex')}`;
}

/** Parses an owner id; `undefined` if the string is not one. */
export function parseOwnerId(id: string): { scope: string; pid: number; start: string } | undefined {
  const [, scope, pid, start] = OWNER_ID.exec(id) ?? [];
  return scope === undefined || start === undefined ? undefined : { scope, pid: Number(pid), start };
}

/** Returns the status of the process that created the owner id. */
export function getProcessStatus(ownerId: string, processes: ProcessTable = platformProcesses()): ProcessStatus {
  const owner = parseOwnerId(ownerId);
  // A PID of another namespace or host seems to be unused here.
  if (owner === undefined || owner.scope === UNKNOWN_SCOPE || owner.scope !== processes.scope) return 'unknown';
  try {
    return processes.startTime(owner.pid) === owner.start ? 'running' : 'ended';
  } catch {
    return 'unknown';
  }
}

let cached: ProcessTable | undefined;

/** Processes of this platform. */
export function platformProcesses(): ProcessTable {
  cached ??= { scope: readScope(), startTime: readStartTime };
  return cached;
}

function readScope(): string | undefined {
  try {
    // In a new PID namespace, /proc may still show the old one, in which our PID belongs to another process.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    return createHash('sha256')
      .update(`${boot}${readlinkSync('/proc/self/ns/pid')}`)
      .digest('hex')
      .slice(0, 12);
  } catch {
    return undefined;
  }
}

/** Field 22 of /proc/PID/stat: clock ticks between boot and the start of the process. */
function readStartTime(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    // With the mount option hidepid, processes of other users are missing from /proc.
    if (hasErrorCode(error, 'ENOENT', 'ESRCH') && !isPidUsed(pid)) return undefined;
    throw error;
  }
  // Field 2, the name in parentheses, may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const isDead = fields[0] === 'Z' || fields[0] === 'X';
  return isDead ? undefined : fields[19];
}

function isPidUsed(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasErrorCode(error, 'ESRCH');
  }
}
