import { connect } from '../candidates/node-http.js';
import { startChild } from '../child.js';
import { median, medianRatio } from '../median.js';
import { table, times, whole } from '../report/markdown.js';
import { explain } from '../report/reasons.js';

export const title = 'The emulator';

const AT_ONCE = 50;

/** Token requests a second, and processor time for each, of the emulator and of a server that answers a constant: one number a round. @param {boolean} quick */
export async function measure(quick) {
  const { rounds, roundMs } = quick ? { rounds: 2, roundMs: 200 } : { rounds: 7, roundMs: 400 };
  const servers = {
    emulator: await startChild('emulator-server.js'),
    'bare server': await startChild('token-server.js'),
  };
  /** @type {Record<string, { rate: number[], microseconds: number[] }>} */
  const found = Object.fromEntries(Object.keys(servers).map((name) => [name, { rate: [], microseconds: [] }]));
  try {
    const clients = Object.entries(servers).map(([name, server]) => ({
      name,
      server,
      ask: connect(String(server.firstMessage)),
    }));
    for (const { ask } of clients) await load(ask, roundMs);
    for (let round = 0; round < rounds; round++) {
      for (const { name, server, ask } of clients) {
        const before = await cpuOf(server);
        const { count, ms } = await load(ask, roundMs);
        found[name]?.rate.push((count * 1000) / ms);
        found[name]?.microseconds.push(((await cpuOf(server)) - before) / count);
      }
    }
    return found;
  } finally {
    for (const server of Object.values(servers)) server.end();
  }
}

/** @param {import('../candidates.js').Get} ask @param {number} forMs */
async function load(ask, forMs) {
  const startedAt = performance.now();
  let count = 0;
  const worker = async () => {
    while (performance.now() - startedAt < forMs) {
      if (typeof (await ask()) !== 'string') throw new Error('no token came back');
      count++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { count, ms: performance.now() - startedAt };
}

/** @param {import('../child.js').Child} server */
async function cpuOf(server) {
  const { cpu } = /** @type {{ cpu: NodeJS.CpuUsage }} */ (await server.ask({}));
  return cpu.user + cpu.system;
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present(data) {
  const bare = data['bare server']?.microseconds ?? [];
  return {
    plots: {},
    text: [
      table(
        ['', 'processor time ÷ bare server', 'µs a token', 'tokens/s, 50 at once'],
        Object.entries(data).map(([name, { rate, microseconds }]) => [
          name,
          times(medianRatio(microseconds, bare)),
          whole(median(microseconds)),
          whole(median(rate)),
        ]),
      ),
      explain('emulator', ['bare server']),
    ],
  };
}
