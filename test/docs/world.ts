import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseCommandLine } from '../../src/cli/args.ts';
import { type Context, variablesOf } from '../../src/cli/context.ts';
import { profilesOf } from '../../src/cli/emulation.ts';
import { startEmulator } from '../../src/emulator.ts';
import { emulatedNetwork } from '../../tools/emulated-network.js';
import { runCommand } from '../../tools/run-command.js';
import { blocksOf, root } from './blocks.ts';

/** What a command printed, as a terminal shows it, and how it ended. */
export interface Ran {
  readonly output: string;
  readonly exit: number | null;
}

/** A person with a browser: signs in at the emulator's page, and agrees. */
const SIGN_IN = `form=$(curl -s -d 'username=ada@example.com&password=lovelace&step=sign-in' "$1")
ticket=$(sed -n 's/.*name="ticket" value="\\([^"]*\\)".*/\\1/p' <<< "$form")
curl -s -L -o /dev/null --data-urlencode "ticket=$ticket" -d step=allow "$1"`;

/** The way to the emulator, which pages show at port 8400. */
interface Network extends Awaited<ReturnType<typeof emulatedNetwork>> {
  readonly port: number;
}

/** The folder of a reader who has done what a page says: its files are there, and providers are emulated. */
export class World {
  readonly #folder = mkdtempSync(join(tmpdir(), 'oauth-profile-docs-'));
  readonly home = join(this.#folder, 'home');
  readonly work = join(this.#folder, 'work');
  readonly #bin = join(this.#folder, 'bin');
  readonly #env: Record<string, string>;
  #network: Promise<Network> | undefined;

  constructor(page: string) {
    for (const folder of [this.home, this.#bin]) mkdirSync(folder);
    cpSync(join(import.meta.dirname, 'fixtures'), this.work, { recursive: true });
    cpSync(join(root, 'examples'), join(this.work, 'examples'), { recursive: true });
    const program = `'${process.execPath}' '${join(root, 'bin', 'oauth-profile.js')}'`;
    this.#program('oauth-profile', `[ "$1" = run ] && set -- "$@" --emulate\nexec ${program} "$@"`);
    this.#program('npx', 'exec "$@"');
    this.#program('browser', SIGN_IN);
    this.#env = {
      PATH: `${this.#bin}:${process.env['PATH']}`,
      HOME: this.home,
      LANG: 'C.UTF-8',
      OAUTH_PROFILE_KEY: Buffer.alloc(32).toString('base64'),
      BROWSER: join(this.#bin, 'browser'),
    };
    for (const { file, text } of blocksOf(page)) {
      if (file !== undefined) this.write(file, text);
      // What a page says is in the environment, is; but who copies from the first page has nothing there yet.
      if (page === 'README.md') continue;
      for (const [, name = ''] of text.matchAll(/\$\{env:(\w+)\}/g)) this.#env[name] = `example-of-${name}`;
    }
  }

  /** Whether a line is a single command of ours. */
  static isPlain(line: string): boolean {
    return /^oauth-profile (?!exec)[^|&;<>$`\n]*$/.test(withoutComment(line));
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.work, file)), { recursive: true });
    writeFileSync(join(this.work, file), text);
  }

  /** Runs a line as a reader types it. What is a single command of ours runs in this process, all else in a shell. */
  async run(shown: string): Promise<Ran> {
    this.#network ??= this.#connect();
    const { port, env: way } = await this.#network;
    const env = { ...this.#env, ...way };
    const line = shown.replaceAll('127.0.0.1:8400', `127.0.0.1:${port}`);
    if (!World.isPlain(line)) return this.#shell(line, env);
    const args = [...withoutComment(line).matchAll(/"([^"]*)"|(\S+)/g)]
      .map(([, quoted, bare]) => quoted ?? bare ?? '')
      .slice(1);
    if (args[0] === 'run' && !args.includes('--emulate')) {
      // A script brings profiles along that the emulator of the page does not know.
      const { output, exit } = await runCommand([...args, '--emulate'], { cwd: this.work, env });
      return { output: output.replace(/^warning: emulated: .*\n/m, ''), exit };
    }
    // Node reads NODE_EXTRA_CA_CERTS when it starts.
    const trust = args[0] === 'token' ? ['--set', `${args[1]}.options.ca_file=${env['NODE_EXTRA_CA_CERTS']}`] : [];
    return runCommand([...args, ...trust], { cwd: this.work, env });
  }

  async close(): Promise<void> {
    await (await this.#network)?.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** All names lead to one emulator, which knows the profiles as they stand in the page's files: what a command sets otherwise is refused. */
  async #connect(): Promise<Network> {
    const request = parseCommandLine(['check']);
    if (request.kind !== 'run') throw new TypeError('check is a command');
    const context = { call: request.call, surroundings: { cwd: this.work, env: this.#env } } as Context;
    const emulator = await startEmulator({ profiles: profilesOf(context, await variablesOf(context)) });
    return { ...(await emulatedNetwork(emulator, this.#folder)), port: emulator.port };
  }

  async #shell(line: string, env: Record<string, string>): Promise<Ran> {
    const child = spawn('bash', ['-c', `set -e -o pipefail; exec 2>&1\n${line}`], { cwd: this.work, env });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    const [exit] = await once(child, 'close');
    return { output, exit };
  }

  #program(name: string, text: string): void {
    writeFileSync(join(this.#bin, name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(this.#bin, name), 0o755);
  }
}

/** In a project `npx` leads to the same program. */
function withoutComment(line: string): string {
  return line.replace(/\s+#\s.*$/, '').replace(/^npx /, '');
}
