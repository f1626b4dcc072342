import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { release } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from '../ports.ts';

/** The properties of a machine that decide how to open a browser. */
export interface Machine {
  readonly platform: string;
  readonly env: Environment;
  /** Whether a program can be run: a path, or a name that is searched for in `PATH`. */
  readonly has: (program: string) => boolean;
  /** Windows Subsystem for Linux. */
  readonly isWsl: boolean;
  readonly isContainer: boolean;
}

/** A program and its arguments; `%s` in an argument is replaced with the URL. */
type BrowserCommand = readonly [program: string, ...args: string[]];

/** Returns the commands that open a browser on a machine, in order of preference, or the reason why there are none. */
export function browserCommands(machine: Machine): readonly BrowserCommand[] | string {
  const { platform, env, has } = machine;
  const browser = env['BROWSER'];
  if (browser) {
    const commands = parseBrowserVariable(browser, platform, has);
    return commands.length > 0 ? commands : 'the program in BROWSER was not found';
  }
  if (env['SSH_CONNECTION'] || env['SSH_CLIENT'] || env['SSH_TTY']) return 'this is an SSH session';
  const windows: BrowserCommand = ['rundll32.exe', 'url.dll,FileProtocolHandler', '%s'];
  if (platform === 'win32') return [windows];
  if (platform === 'darwin') return [['open', '%s']];
  if (machine.isWsl) {
    const candidates: BrowserCommand[] = [['wslview', '%s'], windows];
    const commands = candidates.filter(([program]) => has(program));
    return commands.length > 0 ? commands : 'Windows programs cannot be run from this WSL';
  }
  if (!env['DISPLAY'] && !env['WAYLAND_DISPLAY'])
    return machine.isContainer ? 'this is a container' : 'there is no display';
  const programs = ['xdg-open', 'x-www-browser', 'sensible-browser'].filter(has);
  return programs.length > 0 ? programs.map((program) => [program, '%s']) : 'no browser is installed';
}

/** Parses `$BROWSER`: programs separated by colons, each with optional arguments. No shell is involved. */
function parseBrowserVariable(value: string, platform: string, has: (program: string) => boolean): BrowserCommand[] {
  const entries = platform === 'win32' ? [value] : value.split(':');
  return entries
    .map((entry): BrowserCommand => {
      const path = entry.trim();
      if (has(path)) return [path, '%s'];
      const words = [...path.matchAll(/"([^"]*)"|(\S+)/g)];
      const [program = '', ...args] = words.map(([, quoted, unquoted]) => quoted ?? unquoted ?? '');
      return args.some((arg) => arg.includes('%s')) ? [program, ...args] : [program, ...args, '%s'];
    })
    .filter(([program]) => has(program));
}

/** A program that is still running after this time is assumed to show the page. */
const STARTED_AFTER_MS = 1_500;

/** Opens a URL in the user's browser. Returns the reason if that fails. */
export async function openBrowser(url: string, env: Environment): Promise<string | undefined> {
  const commands = browserCommands(currentMachine(env));
  if (typeof commands === 'string') return commands;
  for (const [program, ...args] of commands) {
    const argsWithUrl = args.map((arg) => arg.replace('%s', () => url));
    if (await start(program, argsWithUrl, env)) return undefined;
  }
  return `failed to start ${commands.map(([program]) => program).join(', ')}`;
}

function start(program: string, args: readonly string[], env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    // Detached: the browser outlives this process and does not receive its Ctrl-C.
    const options = { stdio: 'ignore', detached: true, env: childEnvironment(env), windowsHide: true } as const;
    const child = spawn(program, args, options);
    const timer = setTimeout(() => resolve(true), STARTED_AFTER_MS);
    const finish = (started: boolean): void => {
      clearTimeout(timer);
      resolve(started);
    };
    child.on('error', () => finish(false));
    child.on('exit', (status) => finish(status === 0));
    child.unref();
  });
}

function currentMachine(env: Environment): Machine {
  return {
    platform: process.platform,
    env,
    has: (program) => isRunnable(program, env),
    isWsl: env['WSL_DISTRO_NAME'] !== undefined || /microsoft/i.test(release()),
    isContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv') || Boolean(env['container']),
  };
}

function isRunnable(program: string, env: Environment): boolean {
  if (program === '') return false;
  const directories = /[\\/]/.test(program) ? [''] : (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const names = process.platform === 'win32' ? [program, `${program}.exe`, `${program}.cmd`] : [program];
  return directories.some((directory) => names.some((name) => isExecutable(join(directory, name))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The environment for a program that this package starts: without `OAUTH_PROFILE_*`, which contains the encryption key of the vault. */
export function childEnvironment(env: Environment): Environment {
  // Windows ignores the case of names.
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^OAUTH_PROFILE_/i.test(name)));
}
