import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { hasErrorCode } from '../store-errors.ts';

/** Status of a lock owner's process; `unknown` on other platforms than Linux, in worker threads, in other PID namespaces and on other hosts. */
export type ProcessStatus = 'running' | 'ended' | 'unknown';

const UNKNOWN_SCOPE = '0'.repeat(12);
const OWNER_ID = /^([0-9a-f]{12})-(\d+)-(\d+)(w?)-[0-9a-f]{16}$/;

/** Creates a unique id for one acquisition: `<scope>-<pid>-<start time>-<nonce>`, with a `w` after the time in a worker thread. */
export function createOwnerId(scope = processScope()): string {
  const start = scope === UNKNOWN_SCOPE ? '0' : (readStartTime(process.pid) ?? '0');
  return `${scope}-${process.pid}-${start}${isMainThread ? '' : 'w'}-${randomBytes(8).toString('hex')}`;
}

/** Parses an owner id; `undefined` if the string is not one. */
export function parseOwnerId(id: string): { scope: string; pid: number; start: string; isWorker: boolean } | undefined {
  const [, scope, pid, start, worker] = OWNER_ID.exec(id) ?? [];
  if (scope === undefined || start === undefined) return undefined;
  return { scope, pid: Number(pid), start, isWorker: worker === 'w' };
}

/** Returns the status of the process that created the owner id. */
export function getProcessStatus(ownerId: string, scope = processScope(), startTime = readStartTime): ProcessStatus {
  const owner = parseOwnerId(ownerId);
  // A PID of another namespace or host seems to be unused here.
  if (owner === undefined || owner.scope === UNKNOWN_SCOPE || owner.scope !== scope) return 'unknown';
  try {
    if (startTime(owner.pid) !== owner.start) return 'ended';
    // A worker thread can be terminated while its process runs.
    return owner.isWorker ? 'unknown' : 'running';
  } catch {
    return 'unknown';
  }
}

let cachedScope: string | undefined;

/** Identifies the boot and the PID namespace in which a PID is unique. */
function processScope(): string {
  cachedScope ??= readScope();
  return cachedScope;
}

function readScope(): string {
  try {
    // In a new PID namespace, /proc may still show the old one, in which our PID belongs to another process.
    if (readlinkSync('/proc/self') !== String(process.pid)) return UNKNOWN_SCOPE;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    const namespace = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${boot}${namespace}`).digest('hex').slice(0, 12);
  } catch {
    return UNKNOWN_SCOPE;
  }
}

/**
 * Start time of a process: field 22 of /proc/PID/stat, in clock ticks since boot; `undefined` if it has ended. Throws if that cannot be
 * determined.
 */
export function readStartTime(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    // With the mount option hidepid, some processes are missing from /proc.
    if (hasErrorCode(error, 'ENOENT', 'ESRCH') && !isPidUsed(pid)) return undefined;
    throw error;
  }
  // Field 2, the name in parentheses, may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function isPidUsed(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasErrorCode(error, 'ESRCH');
  }
}
