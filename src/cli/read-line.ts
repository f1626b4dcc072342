import { createInterface } from 'node:readline';
import { OAuthProfileError } from '../errors.ts';

/** Reads a line from the terminal. */
export type ReadLine = (signal: AbortSignal) => Promise<string>;

/** Returns the function that reads a line from the user; `undefined` without a terminal. */
export function findLineReader(): ReadLine | undefined {
  return process.stdin.isTTY && process.stderr.isTTY ? readTerminalLine : undefined;
}

async function readTerminalLine(signal: AbortSignal): Promise<string> {
  // `terminal: true` would intercept Ctrl-C.
  const lines = createInterface({ input: process.stdin, terminal: false, signal });
  try {
    for await (const line of lines) return line;
  } finally {
    // The end of the loop does not close it, and the process would wait for another line.
    lines.close();
  }
  throw new OAuthProfileError('aborted', 'the input ended');
}
