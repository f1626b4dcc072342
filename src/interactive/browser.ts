import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from '../ports.ts';
import { childEnvironment } from '../redaction/child-environment.ts';

/** What finding a browser takes of the machine. */
export interface Machine {
  readonly platform: string;
  readonly env: Environment;
  /** Whether a program can be run: a path, or a name that is searched for. */
  readonly has: (program: string) => boolean;
  /** Whether this is Linux inside of Windows. */
  readonly isWsl: boolean;
  readonly isContainer: boolean;
}

/** A program and its arguments; `%s` among them stands for the address. */
type Command = readonly [program: string, ...args: string[]];

/** The commands that open a browser here, the best first, or why there are none. */
export function browserCommands({ platform, env, has, isWsl, isContainer }: Machine): readonly Command[] | string {
  const own = env['BROWSER'];
  if (own) {
    const named = namedBrowsers(own, platform, has);
    return named.length > 0 ? named : 'what the variable BROWSER names cannot be run';
  }
  if (env['SSH_CONNECTION'] || env['SSH_CLIENT'] || env['SSH_TTY']) return 'this is an SSH session';
  const windows: Command = ['rundll32.exe', 'url.dll,FileProtocolHandler', '%s'];
  if (platform === 'win32') return [windows];
  if (platform === 'darwin') return [['open', '%s']];
  const linux = ['xdg-open', 'x-www-browser', 'sensible-browser'].filter(has).map((name): Command => [name, '%s']);
  if (isWsl) {
    const bridges: Command[] = [['wslview', '%s'], windows];
    const found = bridges.filter(([program]) => has(program));
    return found.length > 0 ? found : 'no program of Windows can be run here';
  }
  if (!env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return isContainer ? 'this is a container' : 'there is no display';
  return linux.length > 0 ? linux : 'no browser is installed';
}

/** `$BROWSER` is a list; each part is a program, perhaps with arguments. No shell reads it. */
function namedBrowsers(text: string, platform: string, has: (program: string) => boolean): Command[] {
  const parts = platform === 'win32' ? [text] : text.split(':');
  return parts
    .map((part): Command => {
      const whole = part.trim();
      if (has(whole)) return [whole, '%s'];
      const [program = '', ...args] = [...whole.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? '',
      );
      return args.some((arg) => arg.includes('%s')) ? [program, ...args] : [program, ...args, '%s'];
    })
    .filter(([program]) => has(program));
}

/** A browser that still runs after this time was opened. */
const OPENED_MS = 1_500;

/** Opens an address in the person's browser; `undefined` when that worked, else why not. */
export async function openBrowser(address: string, env: Environment): Promise<string | undefined> {
  const commands = browserCommands(thisMachine(env));
  if (typeof commands === 'string') return commands;
  for (const [program, ...args] of commands) {
    const given = args.map((arg) => arg.replace('%s', () => address));
    if (await runs(program, given, env)) return undefined;
  }
  return `${commands.map(([program]) => program).join(', ')} could not open it`;
}

function runs(program: string, args: readonly string[], env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    // It lives on when we are done, and does not hear our Ctrl-C.
    const child = spawn(program, args, {
      stdio: 'ignore',
      detached: true,
      env: childEnvironment(env),
      windowsHide: true,
    });
    const timer = setTimeout(() => resolve(true), OPENED_MS);
    const end = (opened: boolean): void => {
      clearTimeout(timer);
      resolve(opened);
    };
    child.on('error', () => end(false));
    child.on('exit', (status) => end(status === 0));
    child.unref();
  });
}

function thisMachine(env: Environment): Machine {
  return {
    platform: process.platform,
    env,
    has: (program) => isRunnable(program, env),
    isWsl: env['WSL_DISTRO_NAME'] !== undefined || /microsoft/i.test(textOf('/proc/sys/kernel/osrelease')),
    isContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv') || Boolean(env['container']),
  };
}

function isRunnable(program: string, env: Environment): boolean {
  if (program === '') return false;
  const folders = /[\\/]/.test(program) ? [''] : (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd'] : [''];
  return folders.some((folder) => endings.some((ending) => isExecutable(join(folder, program + ending))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
