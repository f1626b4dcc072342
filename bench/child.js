import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Without proxies, options of Node and a user's own profiles. */
export const cleanEnvironment = { PATH: process.env['PATH'], NODE_ENV: 'production', HOME: '/nonexistent' };

/** @typedef {Awaited<ReturnType<typeof startChild>>} Child */

/** Starts a file of processes/ and waits for its first message. @param {string} file @param {string[]} args @param {NodeJS.ProcessEnv} env */
export async function startChild(file, args = [], env = cleanEnvironment) {
  const child = fork(processFile(file), args, { env, execArgv: [] });
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
    end() {
      if (child.connected) child.disconnect();
    },
  };
}

/** One for each candidate. @param {string} file @param {readonly string[]} names @param {string} url */
export async function startEach(file, names, url) {
  return Promise.all(names.map(async (name) => ({ name, child: await startChild(file, [name, url]) })));
}

/** @param {string} name */
export function processFile(name) {
  return join(import.meta.dirname, 'processes', name);
}
