import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts a file of this folder as a process of its own and waits for its first message. @param {string} file @param {string[]} args */
export async function startChild(file, args) {
  const child = fork(join(import.meta.dirname, file), args, { env: cleanEnvironment, execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ${args.join(' ')} ended with status ${code}`);
  });
  ended.catch(() => {});
  const nextMessage = async () => (await Promise.race([once(child, 'message'), ended]))[0];
  return {
    firstMessage: await nextMessage(),
    /** @param {import('node:child_process').Serializable} task @returns {Promise<unknown>} */
    ask(task) {
      child.send(task);
      return nextMessage();
    },
    end: () => child.disconnect(),
  };
}

/** Without proxies, options of Node and a user's own profiles. */
export const cleanEnvironment = { PATH: process.env['PATH'], NODE_ENV: 'production', HOME: '/nonexistent' };
