import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs curl and waits for its end. */
export async function runCurl(args: readonly string[], input = ''): Promise<void> {
  const child = spawn('curl', ['--silent', '--show-error', ...args], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`curl exited with ${status}`);
}
