import { version } from '../version.ts';
import type { Context } from './context.ts';
import { helpText } from './help.ts';
import { parseCall } from './parse-call.ts';
import { showError } from './show-error.ts';
import { Terminal } from './terminal.ts';

/** The code of each command, loaded when it runs. */
const runners: Readonly<Record<string, () => Promise<{ run: (context: Context) => Promise<number> }>>> = {
  token: () => import('./token.ts'),
  check: () => import('./check.ts'),
  explain: () => import('./explain.ts'),
  emulate: () => import('./emulate.ts'),
  completion: () => import('./completion.ts'),
};

/** Runs the command line and gives its exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const { env } = process;
  const terminal = new Terminal(new TolerantStreams(), env);
  if (env['NODE_DEBUG']) terminal.guard(process.stderr);
  try {
    const request = parseCall(args);
    switch (request.kind) {
      case 'help':
        terminal.print(helpText(request.command, terminal.style.out));
        return 0;
      case 'version':
        terminal.print(`${version}\n`);
        return 0;
      case 'run': {
        const load = runners[request.command.name];
        if (load === undefined) throw new TypeError(`the command ${request.command.name} has no code`);
        const { run } = await load();
        const surroundings = { env, cwd: process.cwd() };
        const context: Context = { terminal, surroundings, call: request.call, signal: interruptSignal() };
        return await run(context);
      }
    }
  } catch (error) {
    return showError(error, terminal, args.includes('--json'), args.includes('--verbose'));
  } finally {
    terminal.flush();
  }
}

/** Ctrl-C and SIGTERM end what is under way in order; a second one ends the process at once. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(name));
  return controller.signal;
}

/** The streams of this process; who reads them may stop reading: `oauth-profile completion bash | head -1`. */
class TolerantStreams {
  #stdout: NodeJS.WriteStream | undefined;
  #stderr: NodeJS.WriteStream | undefined;

  get stdout(): NodeJS.WriteStream {
    this.#stdout ??= process.stdout.on('error', (error) => failToWrite(error, this.stderr));
    return this.#stdout;
  }

  get stderr(): NodeJS.WriteStream {
    this.#stderr ??= process.stderr.on('error', (error) => failToWrite(error, undefined));
    return this.#stderr;
  }
}

/** A full disk and the like (sysexits' EX_IOERR). */
const WRITE_STATUS = 74;

/** Tells once that the output is not all there, whatever the command itself comes to. */
function failToWrite({ code }: NodeJS.ErrnoException, stderr: NodeJS.WriteStream | undefined): void {
  if (code === 'EPIPE' || writeFailed) return;
  writeFailed = true;
  process.once('exit', () => {
    process.exitCode = WRITE_STATUS;
  });
  stderr?.write(`oauth-profile: the output cannot be written (${code})\n`);
}

let writeFailed = false;
