// Runs a command until standard input ends. A pipe ends with the process that holds it, even if that process is killed,
// so no server outlives its test.
import { spawn } from 'node:child_process';

const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
/** Kills the command and the processes that it has started. */
const stop = () => child.pid && process.kill(-child.pid, 'SIGKILL');
process.stdin.on('end', stop).on('error', stop).resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
child.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
child.on('exit', (code) => process.exit(code ?? 1));
