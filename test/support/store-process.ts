import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll } from 'vitest';

let folder: string | undefined;

// Whoever imports this may start children until its last test is over.
afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

/** The child in JavaScript, since Node 20 reads no TypeScript. */
export async function buildStoreChild(): Promise<string> {
  folder = mkdtempSync(join(tmpdir(), 'oauth-profile-child-'));
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { external: ['@napi-rs/keyring'] },
    build: {
      ssr: fileURLToPath(new URL('./store-child.ts', import.meta.url)),
      outDir: folder,
      minify: false,
      target: 'node20',
    },
  });
  return join(folder, 'store-child.js');
}

/** A process of its own that works with a vault. */
export class StoreProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** What it could not do. */
  readonly failures: string[] = [];
  readonly #lines: string[] = [];
  readonly #waiting: (() => void)[] = [];

  /** `wrap` is a command to start it under. */
  constructor(script: string, env: Record<string, string>, args: readonly string[] = [], wrap: readonly string[] = []) {
    const [command = '', ...rest] = [...wrap, process.execPath, script, ...args];
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

  tell(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Waits for a line that begins so, and gives back the rest of it. */
  async said(start: string): Promise<string> {
    for (;;) {
      if (this.failures.length > 0) throw new Error(this.failures[0]);
      const found = this.#lines.findIndex((line) => line.startsWith(start));
      if (found !== -1) return (this.#lines.splice(found, 1)[0] as string).slice(start.length).trim();
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error(`it ended without ${start}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }
}
