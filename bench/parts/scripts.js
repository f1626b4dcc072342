import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../child.js';
import { OURS } from '../clients.js';
import { createVault } from '../fixtures.js';
import { table, times, whole } from '../format.js';
import { bars } from '../plot.js';
import { median, medianRatio } from '../statistics.js';

export const title = 'Scripts';
/** Requests of the long script, and assertions of the script without requests. */
const REQUESTS = 1000;
const ASSERTIONS = 10_000;

/** How each tool writes and runs a script that checks the status and a member of each response. */
const tools = {
  [OURS]: {
    file: 'script.yaml',
    /** @param {string[]} urls */
    write: (urls) =>
      `steps:\n${urls
        .map(
          (url) =>
            `  - ws.get: ["${url}", "", r]\n  - ws.assertReturnCode: [r, 200]\n  - base.assertEqual: [open, "\${r.body.state}"]\n`,
        )
        .join('')}`,
    command: ['../../bin/oauth-profile.js', 'run', 'script.yaml', '--quiet'],
  },
  newman: {
    file: 'collection.json',
    /** @param {string[]} urls */
    write: (urls) => {
      const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
      const exec = [
        'pm.test("status", () => pm.response.to.have.status(200));',
        'pm.test("state", () => pm.expect(pm.response.json().state).to.eql("open"));',
      ];
      const event = [{ listen: 'test', script: { exec, type: 'text/javascript' } }];
      const item = urls.map((url, index) => ({ name: `request ${index}`, event, request: { method: 'GET', url } }));
      return JSON.stringify({ info: { name: 'bench', schema }, item });
    },
    command: ['../node_modules/newman/bin/newman.js', 'run', 'collection.json', '--silent'],
  },
  httpyac: {
    file: 'script.http',
    /** @param {string[]} urls */
    write: (urls) => urls.map((url) => `GET ${url}\n?? status == 200\n?? body state == open\n`).join('\n###\n'),
    command: ['../node_modules/httpyac/bin/httpyac.js', 'send', 'script.http', '--all', '--output', 'none', '--silent'],
  },
};

/** Returns milliseconds of whole processes by tool, and of processor time of the assertions, one number per round. @param {import('../report.js').Options} options */
export async function measure({ quick, selects }) {
  const rounds = quick ? 1 : 5;
  const names = Object.keys(tools).filter((name) => name === OURS || selects(name));
  const server = await startChild('token-server.js', [JSON.stringify({ id: 7, state: 'open' })]);
  const assertions = await startChild('run-assertions.js');
  const { directory, env } = createVault();
  /** @param {string} name @param {number} requests */
  const run = async (name, requests) => {
    const { file, write, command } = tools[/** @type {keyof typeof tools} */ (name)];
    const urls = Array.from({ length: requests }, (_, index) => `${server.firstMessage}/${index}`);
    writeFileSync(join(directory, file), write(urls));
    const [program = '', ...args] = command;
    const before = Number(await server.call({}));
    const startedAt = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, program), ...args], {
      cwd: directory,
      env,
      encoding: 'utf8',
    });
    const ms = performance.now() - startedAt;
    const sent = Number(await server.call({})) - before;
    if (status !== 0 || sent !== requests) {
      throw new Error(`${name} sent ${sent} of ${requests} requests, exit status ${status}: ${stderr || stdout}`);
    }
    return ms;
  };
  try {
    /** @type {Record<string, { one: number[], many: number[] }>} */
    const found = Object.fromEntries(names.map((name) => [name, { one: [], many: [] }]));
    /** @type {number[]} */
    const cpu = [];
    // Round 0 only fills the page cache and Node's compile cache.
    for (let round = 0; round <= rounds; round++) {
      for (const name of names) {
        const [one, many] = [await run(name, 1), round === 0 ? 0 : await run(name, REQUESTS)];
        if (round > 0) found[name]?.one.push(one);
        if (round > 0) found[name]?.many.push(many);
      }
      cpu.push(Number(await assertions.call({ steps: ASSERTIONS })));
    }
    return { tools: found, cpu };
  } finally {
    server.stop();
    assertions.stop();
    rmSync(directory, { recursive: true });
  }
}

/** Requests per second without the start of the process. @param {{ one: number[], many: number[] }} rounds */
export function ratesOf({ one, many }) {
  return many.map((ms, round) => ((REQUESTS - 1) * 1000) / (ms - (one[round] ?? Number.NaN)));
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present({ tools: found, cpu }) {
  const ours = found[OURS] ?? { one: [], many: [] };
  const rows = Object.entries(found).map(([name, rounds]) => ({ name, rounds, rate: median(ratesOf(rounds)) }));
  return {
    plots: {
      scripts: bars(
        'Requests per second of a script (longer is better)',
        rows.map(({ name, rate }) => ({ name, value: rate, label: whole(rate) })),
      ),
    },
    text: [
      table(
        ['', 'requests/s', 'ours ÷ it', `${whole(REQUESTS)} requests, ms`, '1 request, ms', 'it ÷ ours'],
        rows.map(({ name, rounds, rate }) => [
          name,
          whole(rate),
          times(medianRatio(ratesOf(ours), ratesOf(rounds))),
          whole(median(rounds.many)),
          whole(median(rounds.one)),
          times(medianRatio(rounds.one, ours.one)),
        ]),
      ),
      `Each response has its status and a member checked. A script of ${whole(ASSERTIONS)} assertions takes ${whole(median(cpu))} ms of processor time.`,
    ],
  };
}
