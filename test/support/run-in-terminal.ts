import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './run-cli.ts';

const SCRIPT = '/usr/bin/script';

/** Whether {@link runInTerminal} works on this machine. */
export const hasTerminals = existsSync(SCRIPT);

/** A command in a pseudo-terminal. */
export interface TerminalCommand {
  /** Waits until the output matches; returns the first group. */
  waitFor(pattern: RegExp): Promise<string>;
  /** Types. */
  write(text: string): void;
  readonly finished: Promise<number | null>;
}

/** Runs a command in a pseudo-terminal. */
export function runInTerminal(sandbox: Sandbox, line: string): TerminalCommand {
  const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
    cwd: sandbox.work,
    env: {
      PATH: `${join(sandbox.directory, 'bin')}:${process.env['PATH']}`,
      OAUTH_PROFILE_EMULATOR_KEY: String(process.env['OAUTH_PROFILE_EMULATOR_KEY']),
      HOME: sandbox.home,
      TERM: 'dumb',
      SSH_CONNECTION: 'x',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const finished = once(child, 'close').then(([status]) => status as number | null);
  return {
    write: (typed) => void child.stdin.write(typed),
    finished,
    async waitFor(pattern) {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) return found[1] ?? '';
        await Promise.race([
          once(child.stdout, 'data'),
          finished.then(() => {
            if (!pattern.test(text)) throw new Error(`the command ended: ${text}`);
          }),
        ]);
      }
    },
  };
}
