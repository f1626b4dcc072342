import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { startChild } from '../child.js';
import { OURS } from '../clients.js';
import { table, times, whole } from '../format.js';
import { bars } from '../plot.js';
import { median, medianRatio } from '../statistics.js';

export const title = 'Proxy';

/** A proxy of `node:http` that only passes requests on. */
export const BARE_PROXY = 'node:http, pass-through';
const MITMPROXY = 'mitmproxy';
const CONCURRENCY = 50;
const MITMPROXY_PORT = 18_080;

/** Returns requests per second of each proxy, one number per round, and the memory for a large transfer. @param {import('../report.js').Options} options */
export async function measure({ quick, selects }) {
  const { rounds, roundMs, mebibytes } = quick
    ? { rounds: 2, roundMs: 500, mebibytes: 64 }
    : { rounds: 7, roundMs: 2_000, mebibytes: 1024 };
  const tokenServer = await startChild('token-server.js');
  const api = await startChild('sized-server.js');
  const origin = String(api.firstMessage);
  const client = await startChild('request-proxied.js');
  const ours = await startChild('proxy.js', ['ours', origin, String(tokenServer.firstMessage)]);
  const bare = await startChild('proxy.js', ['bare', origin]);
  const other = selects(MITMPROXY) ? await startMitmproxy(origin) : undefined;
  /** @type {Record<string, string>} */
  const urls = { [OURS]: String(ours.firstMessage), [BARE_PROXY]: String(bare.firstMessage) };
  if (other !== undefined) urls[MITMPROXY] = other.url;
  /** @type {Record<string, number[]>} */
  const rates = Object.fromEntries(Object.keys(urls).map((name) => [name, []]));
  try {
    for (let round = -1; round < rounds; round++) {
      for (const [name, url] of Object.entries(urls)) {
        const rate = Number(await client.call({ url, concurrency: CONCURRENCY, durationMs: roundMs }));
        if (round >= 0) rates[name]?.push(rate);
      }
    }
    /** @type {Record<string, { idle: number, most: number }>} */
    const memory = {};
    for (const [name, child] of /** @type {const} */ ([
      [OURS, ours],
      [BARE_PROXY, bare],
    ])) {
      memory[name] = await transfer(String(child.firstMessage), mebibytes, async () => Number(await child.call({})));
    }
    return { rates, memory, mebibytes };
  } finally {
    other?.stop();
    for (const child of [ours, bare, client, api, tokenServer]) child.stop();
  }
}

/** Uploads and downloads, and samples the memory of the proxy meanwhile. @param {string} url @param {number} mebibytes @param {() => Promise<number>} used */
async function transfer(url, mebibytes, used) {
  const idle = await used();
  let most = idle;
  let isDone = false;
  const sampling = (async () => {
    while (!isDone) most = Math.max(most, await used());
  })();
  const chunk = Buffer.alloc(65_536);
  const chunks = mebibytes * 16;
  const upload = request(`${url}/0`, { method: 'PUT' });
  for (let index = 0; index < chunks; index++) if (!upload.write(chunk)) await once(upload, 'drain');
  upload.end();
  const [uploaded] = await once(upload, 'response');
  if ((await read(uploaded)).text !== String(chunks * chunk.length)) throw new Error('the upload is incomplete');
  const [downloaded] = await once(request(`${url}/${chunks * chunk.length}`).end(), 'response');
  if ((await read(downloaded)).bytes !== chunks * chunk.length) throw new Error('the download is incomplete');
  isDone = true;
  await sampling;
  return { idle, most };
}

/** @param {import('node:http').IncomingMessage} response */
async function read(response) {
  let bytes = 0;
  let text = '';
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes < 100) text += chunk;
  }
  return { bytes, text };
}

/** Starts mitmproxy as a reverse proxy, if it is installed. @param {string} origin */
async function startMitmproxy(origin) {
  if (spawnSync('mitmdump', ['--version'], { stdio: 'ignore' }).status !== 0) return undefined;
  const args = ['--quiet', '--mode', `reverse:${origin}`, '--listen-host', '127.0.0.1'];
  const child = spawn('mitmdump', [...args, '--listen-port', String(MITMPROXY_PORT)], { stdio: 'ignore' });
  const isListening = () =>
    new Promise((resolve) => {
      const socket = connect(MITMPROXY_PORT, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  while (!(await isListening())) await new Promise((resolve) => setTimeout(resolve, 100));
  return { url: `http://127.0.0.1:${MITMPROXY_PORT}`, stop: () => child.kill() };
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present({ rates, memory, mebibytes }) {
  const entries = Object.entries(rates).map(([name, found]) => ({ name, rate: median(found), found }));
  const inMib = (/** @type {number} */ bytes) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return {
    plots: {
      proxy: bars(
        `Requests per second through a proxy, ${CONCURRENCY} at once (longer is better)`,
        entries.map(({ name, rate }) => ({ name, value: rate, label: whole(rate) })),
      ),
    },
    text: [
      table(
        ['', 'ours ÷ it', `requests/s, ${CONCURRENCY} at once`],
        entries.map(({ name, rate, found }) => [name, times(medianRatio(rates[OURS] ?? [], found)), whole(rate)]),
      ),
      'Reverse proxies on loopback without TLS. The pass-through proxy adds no token and checks nothing.',
      table(
        [`${mebibytes} MiB up, then down`, 'memory before', 'most', 'difference'],
        Object.entries(memory).map(([name, { idle, most }]) => [name, inMib(idle), inMib(most), inMib(most - idle)]),
      ),
    ],
  };
}
