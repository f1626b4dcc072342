import { createInterface } from 'node:readline';
import { OAuthProfileError } from '../errors.ts';

/** Reads a line that a person types. */
export type ReadLine = (signal: AbortSignal) => Promise<string>;

/** The person at the terminal, where there is one: nobody else is ever waited for. */
export function terminalPrompt(): ReadLine | undefined {
  const { stdin, stderr } = process;
  return stdin.isTTY === true && stderr.isTTY === true ? (signal) => readLine(stdin, signal) : undefined;
}

/** One line; the end of the input, and Ctrl-C, end the command. */
function readLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // Not as an editor of lines: that one takes Ctrl-C for itself.
    const lines = createInterface({ input, terminal: false });
    const leave = (): void => lines.close();
    signal.addEventListener('abort', leave, { once: true });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', leave);
      reject(new OAuthProfileError('aborted', 'nothing was entered'));
    });
    if (signal.aborted) leave();
  });
}
