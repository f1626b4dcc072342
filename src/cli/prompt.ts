import { createInterface } from 'node:readline';
import { OAuthProfileError } from '../errors.ts';

/** Reads a line from the terminal. */
export type ReadLine = (signal: AbortSignal) => Promise<string>;

/** A prompt, if stdin and stderr are a terminal. */
export function terminalPrompt(): ReadLine | undefined {
  const { stdin, stderr } = process;
  return stdin.isTTY === true && stderr.isTTY === true ? (signal) => readLine(stdin, signal) : undefined;
}

/** Rejects at the end of the input and on abort. */
function readLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // `terminal: true` would intercept Ctrl-C.
    const lines = createInterface({ input, terminal: false });
    const onAbort = (): void => lines.close();
    signal.addEventListener('abort', onAbort, { once: true });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', onAbort);
      reject(new OAuthProfileError('aborted', 'the input ended'));
    });
    if (signal.aborted) onAbort();
  });
}
