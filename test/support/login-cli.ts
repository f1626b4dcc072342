import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Finished, Sandbox } from './run-cli.ts';

/** A command that is running. */
export interface Running {
  readonly child: ChildProcess;
  /** Standard error so far. */
  readonly stderr: () => string;
  /** Waits until standard error matches `pattern`. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
}

/** Starts `oauth-profile` without a shell, so that signals reach it. */
export function startCommand(sandbox: Sandbox, args: readonly string[], env: Record<string, string> = {}): Running {
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'oauth-profile.js');
  return running(
    spawn(process.execPath, [bin, ...args], {
      cwd: sandbox.work,
      env: {
        PATH: String(process.env['PATH']),
        HOME: sandbox.home,
        LANG: 'C.UTF-8',
        OAUTH_PROFILE_EMULATOR_KEY: String(process.env['OAUTH_PROFILE_EMULATOR_KEY']),
        ...env,
      },
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
    for (const check of waiting) check();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (exit) => resolve({ stdout, stderr, exit }));
  });
  return {
    child,
    stderr: () => stderr,
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = pattern.exec(stderr);
          if (found === null) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
        void finished.then(({ stdout, stderr }) => reject(new Error(`the command ended: ${stdout}${stderr}`)));
      }),
    finished,
  };
}
