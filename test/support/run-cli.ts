import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'oauth-profile.js');

/** The result of a command. */
export interface Finished {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number | null;
}

/** A temporary directory with an empty home directory and `oauth-profile` on the PATH, in which shell commands run. */
export class Sandbox {
  readonly directory = mkdtempSync(join(tmpdir(), 'oauth-profile-'));
  readonly home = join(this.directory, 'home');
  readonly work = join(this.directory, 'work');

  constructor() {
    const path = join(this.directory, 'bin');
    for (const directory of [this.home, this.work, path]) mkdirSync(directory);
    const shim = join(path, 'oauth-profile');
    writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
    chmodSync(shim, 0o755);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.work, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.work, name), 'utf8');
  }

  /** Runs a Bash command. `onStart` receives the process id, so that a test can send signals. */
  run(line: string, env: Record<string, string> = {}, onStart?: (pid: number) => void): Promise<Finished> {
    return new Promise((resolve, reject) => {
      const child = spawn('/bin/bash', ['-c', line], {
        cwd: this.work,
        env: {
          PATH: `${join(this.directory, 'bin')}:${process.env['PATH']}`,
          HOME: this.home,
          OAUTH_PROFILE_EMULATOR_KEY: String(process.env['OAUTH_PROFILE_EMULATOR_KEY']),
          LANG: 'C.UTF-8',
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text) => {
        stderr += text;
      });
      child.on('error', reject);
      child.on('close', (exit) => resolve({ stdout, stderr, exit }));
      if (child.pid !== undefined) onStart?.(child.pid);
    });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}
