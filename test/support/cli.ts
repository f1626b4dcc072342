import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { startTokenServer, type TokenHandler, type TokenServer } from './server.ts';

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

  /** The environment of all commands. */
  get env(): Record<string, string> {
    return {
      PATH: `${join(this.directory, 'bin')}:${process.env['PATH']}`,
      HOME: this.home,
      OAUTH_PROFILE_EMULATOR_KEY: String(process.env['OAUTH_PROFILE_EMULATOR_KEY']),
      LANG: 'C.UTF-8',
    };
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.work, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.work, name), 'utf8');
  }

  /** Runs a Bash command. `onStart` receives the process id, so that a test can send signals. */
  run(line: string, env: Record<string, string> = {}, onStart?: (pid: number) => void): Promise<Finished> {
    const { child, finished } = start(this, '/bin/bash', ['-c', line], env);
    if (child.pid !== undefined) onStart?.(child.pid);
    return finished;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** A command that is running. */
export interface Running {
  readonly child: ChildProcess;
  /** Standard error so far. */
  readonly stderr: () => string;
  /** Waits until the output matches `pattern`: standard error, or everything that a terminal shows. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Types in a terminal. */
  write(text: string): void;
  readonly finished: Promise<Finished>;
}

/** Starts `oauth-profile` without a shell, so that signals reach it. */
export function startCommand(sandbox: Sandbox, args: readonly string[], env: Record<string, string> = {}): Running {
  return start(sandbox, process.execPath, [bin, ...args], env);
}

const SCRIPT = '/usr/bin/script';

/** Whether {@link runInTerminal} works on this machine. */
export const hasTerminals = existsSync(SCRIPT);

/** Runs a command in a pseudo-terminal. */
export function runInTerminal(sandbox: Sandbox, line: string): Running {
  const env = { TERM: 'dumb', SSH_CONNECTION: 'x' };
  return start(sandbox, SCRIPT, ['-qec', line, '/dev/null'], env, true);
}

function start(
  sandbox: Sandbox,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  isTerminal = false,
): Running {
  const child = spawn(command, args, {
    cwd: sandbox.work,
    env: { ...sandbox.env, ...env },
    stdio: [isTerminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const watched = isTerminal ? 'stdout' : 'stderr';
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text) => {
      output[name] += text;
      for (const check of waiting) check();
    });
  }
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => resolve({ ...output, exit }));
  });
  return {
    child,
    stderr: () => output.stderr,
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = pattern.exec(output[watched]);
          if (found === null) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
        void finished.then(({ stdout, stderr }) => reject(new Error(`the command ended: ${stdout}${stderr}`)));
      }),
    write: (text) => void child.stdin?.write(text),
    finished,
  };
}

/** Loaded before the program: records every connection and every DNS lookup. */
const hook = `
import { appendFileSync } from 'node:fs';
import net from 'node:net';
import dns from 'node:dns';
const record = (line) => appendFileSync(process.env.CONNECTIONS, line + '\\n');
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  record('connect ' + (options.host ?? options.path));
  return connect.apply(this, args);
};
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const real = dns[name];
  dns[name] = (host, ...rest) => {
    record(name + ' ' + host);
    return real(host, ...rest);
  };
}
`;

/** The environment in which commands record their connections in the file `$CONNECTIONS`. It contains a proxy that must not be used. */
export function recordConnections(sandbox: Sandbox): Record<string, string> {
  sandbox.write('record-connections.mjs', hook);
  return {
    NODE_OPTIONS: `--import=${join(sandbox.work, 'record-connections.mjs')}`,
    CONNECTIONS: join(sandbox.work, 'connections'),
    HTTPS_PROXY: 'http://proxy.example.com:3128',
  };
}

/** A sandbox, and a token server that its profiles use. */
interface SandboxWithServer {
  readonly sandbox: Sandbox;
  readonly server: TokenServer;
}

function useSandbox(
  [before, after]: readonly [typeof beforeEach, typeof afterEach],
  respond: TokenHandler,
): SandboxWithServer {
  const used = {} as { sandbox: Sandbox; server: TokenServer };
  before(async () => {
    used.sandbox = new Sandbox();
    used.server = await startTokenServer(respond);
  });
  after(async () => {
    used.sandbox.remove();
    await used.server.stop();
  });
  return used;
}

/** The refresh token in the profile `ada`. */
export const CONFIGURED = 'configured-refresh-token-1';

/** A sandbox with the profiles `robot` (client_credentials) and `ada` (refresh_token), and the token server that both use. */
interface CliFixture extends SandboxWithServer {
  run(line: string, env?: Record<string, string>): Promise<Finished>;
  /** The refresh tokens that the server received. */
  sentRefreshTokens(): (string | null)[];
}

/** Creates a new fixture for each test. The server rotates refresh tokens. */
export function useCliFixture(): CliFixture {
  const used = useSandbox([beforeEach, afterEach], (response, { body, number }) => {
    const rotated = body.includes('grant_type=refresh_token') ? { refresh_token: `rotated-refresh-${number}` } : {};
    response.end(JSON.stringify({ access_token: `access-token-${number}`, expires_in: 3600, ...rotated }));
  });
  beforeEach(() => {
    const { url } = used.server;
    used.sandbox.write(
      'oauth-profiles.yaml',
      `robot: {type: custom, url: "${url}", grant_type: client_credentials, client_id: robot, client_secret: robot-secret-1}
ada: {type: custom, url: "${url}", grant_type: refresh_token, client_id: app, refresh_token: ${CONFIGURED}}
`,
    );
  });
  return Object.assign(used, {
    run: (line: string, env = {}) => used.sandbox.run(line, { PORT: String(used.server.port), ...env }),
    sentRefreshTokens: () => used.server.requests.map(({ body }) => new URLSearchParams(body).get('refresh_token')),
  });
}

/** Whether a program can be run. `npm test` prints the programs that are missing, and how many tests were skipped. */
export function hasProgram(name: string, ...args: string[]): boolean {
  return spawnSync(name, args.length > 0 ? args : ['--version'], { stdio: 'ignore' }).status === 0;
}

/** A sandbox whose user has the profile `lab`, and the token server that it uses. All tests of a file share it. */
interface ToolFixture extends SandboxWithServer {
  /** The number of the last token. */
  issued(): number;
  /** Replaces the profiles of the user: `lab` with these options, and others. */
  setProfiles(options: object, others?: object): void;
  /** Sets the next responses of the token server. Default: a new token. */
  respondWith(response: object | undefined): void;
  run(line: string, env?: Record<string, string>): Promise<Finished>;
}

/** An unsigned JWT that expires in an hour. */
export function createIdToken(count: number): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return `${encode({ alg: 'none' })}.${encode({ sub: 'ada', exp, count })}.`;
}

/** Creates the fixture before the tests of a file. Tokens are `access-token-1`, `access-token-2` and so on. */
export function useToolFixture(): ToolFixture {
  let fixed: object | undefined;
  const used = useSandbox([beforeAll, afterAll], (response, { number }) => {
    const token = { access_token: `access-token-${number}`, id_token: createIdToken(number), expires_in: 3600 };
    response.end(JSON.stringify(fixed ?? token));
  });
  return Object.assign(used, {
    issued: () => used.server.requests.length,
    setProfiles(options: object, others: object = {}) {
      const directory = join(used.sandbox.home, '.config', 'oauth-profile');
      mkdirSync(directory, { recursive: true });
      const { url } = used.server;
      const fields = { type: 'custom', url, grant_type: 'client_credentials', client_id: 'robot' };
      const profiles = { lab: { ...fields, options }, ...others };
      writeFileSync(join(directory, 'oauth-profiles.json'), JSON.stringify(profiles));
    },
    respondWith(response: object | undefined) {
      fixed = response;
    },
    run: (line: string, env = {}) => used.sandbox.run(line, env),
  });
}
