import { execFileSync } from 'node:child_process';
import { attempt, digest, type Processes } from './processes.ts';

/** The processes of systems without /proc, such as macOS. */
export function psProcesses(): Processes {
  const startOf = (pid: number): string | undefined => {
    let line: string;
    try {
      const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
      const stdio = ['ignore', 'pipe', 'ignore'] as ['ignore', 'pipe', 'ignore'];
      line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env, stdio });
    } catch (error) {
      // Its way to say that there is none.
      if ((error as { status?: number }).status === 1) return undefined;
      throw error;
    }
    const [, state, start] = /^\s*(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    const time = Date.parse(`${start} UTC`);
    return state === undefined || state.startsWith('Z') || Number.isNaN(time) ? undefined : String(time / 1000);
  };
  // The first process started with the system, so its time tells boots apart.
  const boot = attempt(() => startOf(1));
  return { where: boot === undefined ? undefined : digest(boot), startOf, askEveryMs: 250 };
}
