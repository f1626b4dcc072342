import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { emulatedProfiles } from '../../src/cli/emulation.ts';
import { createClient } from '../../src/client.ts';
import { startEmulator } from '../../src/emulator.ts';
import { registerEmulator } from '../../src/store/emulator-registry.ts';
import { emulatedNetwork } from '../../tools/emulated-network.js';
import { runCommand } from '../../tools/run-command.js';
import { reservedPort } from '../servers/support/reserved-port.ts';
import { blocksOf, root } from './blocks.ts';

/** Output of a command as a terminal shows it, and its exit status. */
export interface CommandResult {
  readonly output: string;
  readonly exit: number | null;
}

/** A program in place of the browser: signs in at the emulator's page and gives consent. */
const SIGN_IN = `form=$(curl -s -d 'username=ada@example.com&password=lovelace&step=sign-in' "$1")
ticket=$(sed -n 's/.*name="ticket" value="\\([^"]*\\)".*/\\1/p' <<< "$form")
curl -s -L -o /dev/null --data-urlencode "ticket=$ticket" -d step=allow "$1"`;

/** The connection to the emulator, which pages show at port 8400. */
interface Network extends Awaited<ReturnType<typeof emulatedNetwork>> {
  readonly port: number;
}

/**
 * The machine of a reader who follows one page: the files of the page exist, and every provider is emulated. If the page starts a server, its
 * scripts run against that server instead. A page that changes the directory does so for all of its commands and files.
 */
export class Sandbox {
  readonly #directory = mkdtempSync(join(tmpdir(), 'oauth-profile-docs-'));
  readonly home = join(this.#directory, 'home');
  readonly #root = join(this.#directory, 'work');
  /** The directory of the commands and files. */
  readonly #work: string;
  readonly #backgrounds: readonly string[];
  readonly #children: ChildProcess[] = [];
  readonly #bin = join(this.#directory, 'bin');
  readonly #env: Record<string, string>;
  #network: Promise<Network> | undefined;

  constructor(page: string) {
    for (const directory of [this.home, this.#bin]) mkdirSync(directory);
    const blocks = blocksOf(page);
    this.#backgrounds = blocks.filter(({ isBackground }) => isBackground).map(({ text }) => text);
    this.#work = join(this.#root, /^cd (\S+)$/m.exec(this.#backgrounds.join('\n'))?.[1] ?? '');
    cpSync(join(import.meta.dirname, 'fixtures'), this.#root, { recursive: true });
    cpSync(join(root, 'examples'), join(this.#root, 'examples'), { recursive: true });
    const program = `'${process.execPath}' '${join(root, 'bin', 'oauth-profile.js')}'`;
    this.#addProgram(
      'oauth-profile',
      `${this.#isEmulated ? '[ "$1" = run ] && set -- "$@" --emulate\n' : ''}exec ${program} "$@"`,
    );
    this.#addProgram('npx', 'exec "$@"');
    this.#addProgram('browser', SIGN_IN);
    // The one that has packages of Debian.
    this.#addProgram('python3', 'exec /usr/bin/python3 "$@"');
    // Programs of the page import packages.
    symlinkSync(join(root, 'node_modules'), join(this.#root, 'node_modules'));
    this.#env = {
      PATH: `${this.#bin}:${process.env['PATH']}`,
      OAUTH_PROFILE_EMULATOR_KEY: String(process.env['OAUTH_PROFILE_EMULATOR_KEY']),
      HOME: this.home,
      LANG: 'C.UTF-8',
      OAUTH_PROFILE_KEY: Buffer.alloc(32).toString('base64'),
      BROWSER: join(this.#bin, 'browser'),
    };
    for (const { file, text } of blocks) {
      if (file !== undefined) this.write(file, text);
      for (const [, name = ''] of text.matchAll(/\$\{env:(\w+)\}/g)) this.#env[name] = `example-of-${name}`;
    }
  }

  /** Whether a line is a single command of this project. */
  static isPlain(line: string): boolean {
    return /^oauth-profile (?!exec)[^|&;<>$`\n]*$/.test(withoutComment(line));
  }

  get #isEmulated(): boolean {
    return this.#backgrounds.length === 0;
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.#work, file)), { recursive: true });
    writeFileSync(join(this.#work, file), text);
  }

  /** Runs a line as a reader types it. A single command of this project runs in this process, everything else in a shell. */
  async run(shown: string): Promise<CommandResult> {
    this.#network ??= this.#connect();
    const { port, env: network } = await this.#network;
    const env = { ...this.#env, ...network, PORT: String(await reservedPort()) };
    const line = shown.replaceAll('127.0.0.1:8400', `127.0.0.1:${port}`);
    if (!Sandbox.isPlain(line)) return this.#runInShell(line, env);
    const args = [...withoutComment(line).matchAll(/"([^"]*)"|(\S+)/g)]
      .map(([, quoted, bare]) => quoted ?? bare ?? '')
      .slice(1);
    if (args[0] === 'run' && this.#isEmulated && !args.includes('--emulate')) {
      // A script defines profiles that the emulator of the page does not know.
      const { output, exit } = await runCommand([...args, '--emulate'], { cwd: this.#work, env });
      return { output: output.replace(/^warning: emulated: .*\n/m, ''), exit };
    }
    // Node reads NODE_EXTRA_CA_CERTS when it starts.
    const trust = /^(?:token|inspect)$/.test(args[0] ?? '')
      ? ['--set', `${args[1]}.options.ca_file=${env['NODE_EXTRA_CA_CERTS']}`]
      : [];
    return runCommand([...args, ...trust], { cwd: this.#work, env });
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill();
    await (await this.#network)?.close();
    rmSync(this.#directory, { recursive: true });
  }

  /** All hosts resolve to one emulator. It knows the profiles as the page defines them and rejects other values. */
  async #connect(): Promise<Network> {
    const client = createClient({ environment: { cwd: this.#work, env: this.#env } });
    const profiles = await emulatedProfiles(client.sources, await client.loadVariables());
    const emulator = await startEmulator({ profiles });
    await registerEmulator(emulator, this.#env);
    for (const text of this.#backgrounds) await this.#startServer(text);
    return { ...(await emulatedNetwork(emulator, this.#directory)), port: emulator.port };
  }

  /** Starts a server on any free port and waits until it prints its URL. */
  async #startServer(text: string): Promise<void> {
    const env = { ...this.#env, SHOP_PORT: '0' };
    const child = spawn('bash', ['-c', text.replace(/\n(?=\S+.*\n$)/, '\nexec ')], { cwd: this.#root, env });
    this.#children.push(child);
    const [printed] = await once(child.stdout, 'data');
    this.#env['SHOP_PORT'] = /127\.0\.0\.1:(\d+)/.exec(String(printed))?.[1] ?? '';
  }

  async #runInShell(line: string, env: Record<string, string>): Promise<CommandResult> {
    const child = spawn('bash', ['-c', `set -e -o pipefail; exec 2>&1\n${line}`], { cwd: this.#work, env });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
    const [exit] = await once(child, 'close');
    return { output, exit };
  }

  #addProgram(name: string, script: string): void {
    writeFileSync(join(this.#bin, name), `#!/bin/bash\n${script}\n`);
    chmodSync(join(this.#bin, name), 0o755);
  }
}

/** In a project, `npx` runs the same program. */
function withoutComment(line: string): string {
  return line.replace(/\s+#\s.*$/, '').replace(/^npx /, '');
}
