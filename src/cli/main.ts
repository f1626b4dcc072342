import { version } from '../version.ts';
import { parseCommandLine } from './args.ts';
import type { ParsedArgs } from './command.ts';
import { run as runToken } from './commands/token.ts';
import type { Context } from './context.ts';
import { helpText } from './help.ts';
import { Output } from './output.ts';
import { renderError } from './render-error.ts';
import { Terminal } from './terminal.ts';

/** The code of each command, loaded when it runs; that of `token`, which runs most often, comes along. */
const runners: Readonly<Record<string, () => Promise<{ run: (context: Context) => Promise<number> }>>> = {
  run: () => import('./commands/run.ts'),
  token: async () => ({ run: runToken }),
  exec: () => import('./commands/exec.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  list: () => import('./commands/list.ts'),
  check: () => import('./commands/check.ts'),
  explain: () => import('./commands/explain.ts'),
  commands: () => import('./commands/commands.ts'),
  emulate: () => import('./commands/emulate.ts'),
  completion: () => import('./commands/completion.ts'),
};

/** Runs the command line and gives its exit status, once everything is written. */
export async function main(args: readonly string[]): Promise<number> {
  const terminal = new Terminal(new Output('stdout'), new Output('stderr'), process.env);
  if (process.env['NODE_DEBUG']) terminal.guard(process.stderr);
  let call: ParsedArgs | undefined;
  try {
    return await dispatch(args, terminal, (given) => {
      call = given;
      return contextOf(terminal, given);
    });
  } catch (error) {
    return renderError(error, terminal, args.includes('--json'), args.includes('--verbose'), call);
  } finally {
    await terminal.finish();
  }
}

/** Does what the arguments ask for; `contextOf` is asked when that is a command, and what goes wrong is thrown. */
export async function dispatch(
  args: readonly string[],
  terminal: Terminal,
  contextOf: (call: ParsedArgs) => Context,
): Promise<number> {
  const request = parseCommandLine(args);
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
      return run(contextOf(request.call));
    }
  }
}

function contextOf(terminal: Terminal, call: ParsedArgs): Context {
  let signal: AbortSignal | undefined;
  return {
    terminal,
    call,
    surroundings: { env: process.env, cwd: process.cwd() },
    get signal() {
      signal ??= interruptSignal();
      return signal;
    },
  };
}

/** Ctrl-C and SIGTERM end what is under way in order; a second one ends the process at once. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(name));
  return controller.signal;
}
