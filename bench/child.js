import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cleanEnvironment } from './fixtures.js';

/** Starts a file of processes/ and waits for its first message. @param {string} file @param {string[]} args @param {NodeJS.ProcessEnv} env */
export async function startChild(file, args = [], env = cleanEnvironment) {
  const child = fork(processFile(file), args, { env, execArgv: [] });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ${args.join(' ')} exited with status ${code}`);
  });
  exited.catch(() => {});
  const nextMessage = async () => (await Promise.race([once(child, 'message'), exited]))[0];
  return {
    firstMessage: await nextMessage(),
    /** Sends a task and returns the result. @param {import('node:child_process').Serializable} task @returns {Promise<unknown>} */
    call(task) {
      child.send(task);
      return nextMessage();
    },
    stop() {
      if (child.connected) child.disconnect();
    },
  };
}

/** Starts one child for each client. @param {string} file @param {readonly string[]} names @param {string} url */
export async function startEach(file, names, url) {
  return Promise.all(names.map(async (name) => ({ name, child: await startChild(file, [name, url]) })));
}

/** @param {string} name */
export function processFile(name) {
  return join(import.meta.dirname, 'processes', name);
}
