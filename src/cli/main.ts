import type { ProcessEnvironment } from '../files/profile-files.ts';
import { version } from '../version.ts';
import { type ParsedArgs, parseCommandLine } from './args.ts';
import { runToken } from './commands/token.ts';
import type { Context } from './context.ts';
import { helpText } from './help.ts';
import { Output } from './output.ts';
import { renderError } from './render-error.ts';
import { Terminal } from './terminal.ts';

/** The code of each command, loaded when it runs. That of `token` is small, and scripts run it often. */
const runners: Readonly<Record<string, () => Promise<(context: Context) => Promise<number>>>> = {
  run: async () => (await import('./commands/run.ts')).runScripts,
  token: async () => runToken,
  exec: async () => (await import('./commands/exec.ts')).runExec,
  proxy: async () => (await import('./commands/proxy.ts')).runProxy,
  watch: async () => (await import('./commands/watch.ts')).runWatch,
  credential: async () => (await import('./commands/credential.ts')).runCredential,
  configure: async () => (await import('./commands/configure.ts')).runConfigure,
  login: async () => (await import('./commands/login.ts')).runLogin,
  forget: async () => (await import('./commands/forget.ts')).runForget,
  logout: async () => (await import('./commands/logout.ts')).runLogout,
  inspect: async () => (await import('./commands/inspect.ts')).runInspect,
  list: async () => (await import('./commands/list.ts')).runList,
  check: async () => (await import('./commands/check.ts')).runCheck,
  explain: async () => (await import('./commands/explain.ts')).runExplain,
  providers: async () => (await import('./commands/providers.ts')).runProviders,
  commands: async () => (await import('./commands/commands.ts')).runCommands,
  init: async () => (await import('./commands/init.ts')).runInit,
  emulate: async () => (await import('./commands/emulate.ts')).runEmulate,
  completion: async () => (await import('./commands/completion.ts')).runCompletion,
};

/** Runs the command line and returns its exit status after all output is written. */
export async function main(args: readonly string[]): Promise<number> {
  const terminal = new Terminal(new Output('stdout'), new Output('stderr'), process.env);
  if (process.env['NODE_DEBUG']) terminal.interceptStderr(process.stderr);
  const environment = { env: process.env, cwd: process.cwd() };
  return (await runCommandLine(args, terminal, environment, createInterruptSignal)).exit;
}

/** Runs the command line in a given environment. `error` is set if it failed. */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
  environment: ProcessEnvironment,
  createSignal: () => AbortSignal,
): Promise<{ exit: number; error?: unknown }> {
  // Until the arguments are parsed, errors look for these switches only.
  const switches = new Set(['json', 'verbose'].filter((name) => args.includes(`--${name}`)));
  let parsed: ParsedArgs = { positionals: [], command: [], switches, values: new Map() };
  try {
    const line = parseCommandLine(args);
    if (line.kind !== 'run') {
      terminal.stdout(line.kind === 'help' ? helpText(line.command, terminal.style.out) : `${version}\n`);
      return { exit: 0 };
    }
    parsed = line.args;
    const load = runners[line.command.name];
    if (load === undefined) throw new TypeError(`the command ${line.command.name} has no code`);
    const runCommand = await load();
    let signal: AbortSignal | undefined;
    const context: Context = {
      terminal,
      environment,
      command: line.command.name,
      args: parsed,
      // A command that does not use the signal is ended by Ctrl-C at once.
      get signal() {
        signal ??= createSignal();
        return signal;
      },
    };
    return { exit: await runCommand(context) };
  } catch (error) {
    return { exit: renderError(error, { terminal, args: parsed }), error };
  } finally {
    await terminal.finish();
  }
}

/** Ctrl-C and SIGTERM abort the signal, so that locks and files are released; a second one ends the process at once. */
function createInterruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(name));
  return controller.signal;
}
