// Runs the command line inside this process, for pages and tests that show what it prints: a process for each would take minutes.
import { existsSync } from 'node:fs';
import { dispatch } from '../src/cli/main.ts';
import { Output } from '../src/cli/output.ts';
import { renderError } from '../src/cli/render-error.ts';
import { Terminal } from '../src/cli/terminal.ts';
import { OAuthProfileError } from '../src/errors.ts';

/** `output` is both together, as a terminal shows them, `told` what went to stderr; `code` that of an error which ended the command. @typedef {{output: string, told: string, exit: number, code: string | undefined}} Finished */
/** @typedef {{cwd: string, env: Readonly<Record<string, string | undefined>>, interrupt?: AbortSignal | undefined}} Place */

/** Hands on what is written instead of writing it. */
export class KeptOutput extends Output {
  /** @param {'stdout' | 'stderr'} name @param {(text: string) => void} keep */
  constructor(name, keep) {
    super(name);
    this.keep = keep;
  }
  /** @override */
  get isTerminal() {
    return false;
  }
  /** @override @param {string} text */
  write(text) {
    this.keep(text);
  }
  /** @override */
  async finish() {}
}

/** What `main` does, in a folder and an environment of its own. @param {readonly string[]} args @param {Place} place @returns {Promise<Finished>} */
export async function runCommand(args, { cwd, env, interrupt = new AbortController().signal }) {
  if (!existsSync(cwd)) throw new Error(`there is no folder ${cwd}`);
  let output = '';
  let told = '';
  const keep = (/** @type {string} */ text) => {
    output += text;
  };
  const tell = (/** @type {string} */ text) => {
    told += text;
    keep(text);
  };
  const terminal = new Terminal(new KeptOutput('stdout', keep), new KeptOutput('stderr', tell), env);
  let exit = 0;
  let code;
  try {
    const surroundings = { env, cwd };
    exit = await dispatch(args, terminal, (call) => ({ terminal, call, surroundings, signal: interrupt }));
  } catch (error) {
    code = error instanceof OAuthProfileError ? error.code : undefined;
    exit = renderError(error, terminal, args.includes('--json'), args.includes('--verbose'));
  } finally {
    await terminal.finish();
  }
  return { output, told, exit, code };
}
