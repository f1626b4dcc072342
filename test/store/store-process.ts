import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll } from 'vitest';

let directory: string | undefined;

// After the last test of the file that imports this.
afterAll(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true });
});

/** Compiles `store-child.ts`, since Node 20 does not run TypeScript. Returns the path of the script. */
export async function buildStoreChild(): Promise<string> {
  directory = mkdtempSync(join(tmpdir(), 'oauth-profile-child-'));
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { external: ['@napi-rs/keyring'] },
    build: {
      ssr: fileURLToPath(new URL('./store-child.ts', import.meta.url)),
      outDir: directory,
      minify: false,
      target: 'node20',
    },
  });
  return join(directory, 'store-child.js');
}

/** A child process that works with a vault. */
export class StoreProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Lines about failed commands. */
  readonly failures: string[] = [];
  readonly #lines: string[] = [];
  readonly #waiting: (() => void)[] = [];

  /** `wrapper` is a command that starts the process. */
  constructor(
    script: string,
    env: Record<string, string>,
    args: readonly string[] = [],
    wrapper: readonly string[] = [],
  ) {
    const [command = '', ...rest] = [...wrapper, process.execPath, script, ...args];
    this.child = spawn(command, rest, {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.exited = once(this.child, 'exit');
    this.child.stdin?.on('error', () => {});
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.#lines.push(line);
      if (line.startsWith('failed')) this.failures.push(line);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.child.on('exit', () => {
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** Sends a command. */
  send(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Waits for a line that starts with `prefix` and returns the rest of it. */
  async received(prefix: string): Promise<string> {
    for (;;) {
      if (this.failures.length > 0) throw new Error(this.failures[0]);
      const found = this.#lines.findIndex((line) => line.startsWith(prefix));
      if (found !== -1) return (this.#lines.splice(found, 1)[0] as string).slice(prefix.length).trim();
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`the process ended without "${prefix}"`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }
}
