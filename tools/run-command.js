// Runs the command line in this process, for documents and tests that show its output: starting a process for each would take minutes.
import { existsSync } from 'node:fs';
import { runCommandLine } from '../src/cli/main.ts';
import { Output } from '../src/cli/output.ts';
import { Terminal } from '../src/cli/terminal.ts';
import { OAuthProfileError } from '../src/errors.ts';

/** `output` is stdout and stderr together, as a terminal shows them; `code` is that of the error, if any. @typedef {{output: string, exit: number, code: string | undefined}} Finished */
/** @typedef {{cwd: string, env: Readonly<Record<string, string | undefined>>, interrupt?: AbortSignal | undefined}} Context */

/** Passes the output to a function instead of writing it. */
class CapturedOutput extends Output {
  /** @param {'stdout' | 'stderr'} name @param {(chunk: string) => void} onWrite */
  constructor(name, onWrite) {
    super(name);
    this.onWrite = onWrite;
  }
  /** @override */
  get isTerminal() {
    return false;
  }
  /** @override @param {string} chunk */
  write(chunk) {
    this.onWrite(chunk);
  }
  /** @override */
  async finish() {}
}

/** Does the same as `main`, with another working directory and environment. @param {readonly string[]} args @param {Context} context @returns {Promise<Finished>} */
export async function runCommand(args, { cwd, env, interrupt = new AbortController().signal }) {
  if (!existsSync(cwd)) throw new Error(`directory not found: ${cwd}`);
  let output = '';
  const append = (/** @type {string} */ chunk) => {
    output += chunk;
  };
  const terminal = new Terminal(new CapturedOutput('stdout', append), new CapturedOutput('stderr', append), env);
  const { exit, error } = await runCommandLine(args, terminal, { env, cwd }, () => interrupt);
  const code = error instanceof OAuthProfileError ? error.code : undefined;
  return { output, exit, code };
}
