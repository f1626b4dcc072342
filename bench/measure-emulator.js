import { connect } from './candidates/node-http.js';
import { startChild } from './child.js';

const ROUNDS = 7;
const ROUND_MS = 400;
const AT_ONCE = 50;

/** Token requests a second, and processor time for each, of the emulator and of a server that answers a constant: one number a round. */
export async function measureEmulator() {
  const servers = {
    emulator: await startChild('emulator-server.js', []),
    'bare server': await startChild('token-server.js', []),
  };
  /** @type {Record<string, { rate: number[], microseconds: number[] }>} */
  const rounds = Object.fromEntries(Object.keys(servers).map((name) => [name, { rate: [], microseconds: [] }]));
  try {
    const clients = Object.entries(servers).map(([name, server]) => ({
      name,
      server,
      ask: connect(String(server.firstMessage)),
    }));
    for (const { ask } of clients) await load(ask);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { name, server, ask } of clients) {
        const before = await cpuOf(server);
        const { count, ms } = await load(ask);
        rounds[name]?.rate.push((count * 1000) / ms);
        rounds[name]?.microseconds.push(((await cpuOf(server)) - before) / count);
      }
    }
    return rounds;
  } finally {
    for (const server of Object.values(servers)) server.end();
  }
}

/** @param {() => Promise<unknown>} ask */
async function load(ask) {
  const startedAt = performance.now();
  let count = 0;
  const worker = async () => {
    while (performance.now() - startedAt < ROUND_MS) {
      if (typeof (await ask()) !== 'string') throw new Error('no token came back');
      count++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { count, ms: performance.now() - startedAt };
}

/** @param {Awaited<ReturnType<typeof startChild>>} server */
async function cpuOf(server) {
  const { user, system } = /** @type {NodeJS.CpuUsage} */ (await server.ask('cpu'));
  return user + system;
}
