import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Finished, Sandbox } from './run-cli.ts';

/** A command that is under way. */
export interface Running {
  readonly child: ChildProcess;
  /** What it has told so far. */
  readonly told: () => string;
  /** Waits until it has told something of this form. */
  tells(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
}

/** Starts `oauth-profile` as a stranger would, without a shell between, so that signals reach it. */
export function startCommand(sandbox: Sandbox, args: readonly string[], env: Record<string, string> = {}): Running {
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'oauth-profile.js');
  return running(
    spawn(process.execPath, [bin, ...args], {
      cwd: sandbox.work,
      env: { PATH: String(process.env['PATH']), HOME: sandbox.home, LANG: 'C.UTF-8', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

function running(child: ChildProcess): Running {
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
    for (const look of waiting) look();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (exit) => resolve({ stdout, stderr, exit }));
  });
  return {
    child,
    told: () => stderr,
    tells: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(stderr);
          if (found === null) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        void finished.then(({ stdout, stderr }) => reject(new Error(`it ended: ${stdout}${stderr}`)));
      }),
    finished,
  };
}
