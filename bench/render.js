import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { floorOf, goals } from './goals.js';
import { STEP_COUNTS } from './measure-steps.js';
import { median, medianRatio } from './median.js';

/** @typedef {import('./goals.js').Requests} Requests */
/** @typedef {import('./goals.js').Starts} Starts */
/** @typedef {import('./goals.js').Steps} Steps */
/** @typedef {import('./goals.js').Rotation} Rotation */
/** @typedef {Awaited<ReturnType<typeof import('./measure-emulator.js').measureEmulator>>} Servers */

const OURS = 'oauth-profile';
const BARE = 'node -e 0';

/** The report, as Markdown. @param {Requests} requests @param {Starts} starts @param {Servers} servers @param {Steps} steps @param {Rotation} rotation */
export function render(requests, starts, servers, steps, rotation) {
  return [
    machine(),
    versions(),
    '### Token requests',
    requestTable(requests),
    '### From start to end',
    startTable(starts),
    '### The emulator',
    serverTable(servers),
    '### Steps of scripts',
    stepTable(steps),
    '### Rotating tokens',
    herdTable(rotation),
    keptTable(rotation),
    '### Goals',
    table(
      ['', 'found', 'goal', ''],
      goals(requests, starts, steps, rotation).map(({ name, goal, found, met }) => [
        name,
        found,
        goal,
        met ? 'met' : 'missed',
      ]),
    ),
  ].join('\n\n');
}

/** @param {Requests} requests */
function requestTable({ alone, fifty }) {
  const rows = Object.keys(alone).map((name) => {
    const cells = [alone, fifty].map((rounds) => ({
      ratio: medianRatio(rounds[OURS] ?? [], rounds[name] ?? []),
      rate: median(rounds[name] ?? []),
    }));
    return [name, ...cells.map(({ ratio }) => times(ratio)), ...cells.map(({ rate }) => rate.toFixed(0))];
  });
  return table(
    ['', 'ours ÷ it, one by one', 'ours ÷ it, 50 at once', 'tokens/s, one by one', 'tokens/s, 50 at once'],
    rows,
  );
}

/** @param {Starts} starts */
function startTable(starts) {
  const bare = starts[BARE] ?? { ms: [], mib: [] };
  const rows = Object.entries(starts).map(([name, { ms, mib }]) => [
    name.startsWith('a ') ? name : `\`${name}\``,
    times(medianRatio(ms, bare.ms)),
    times(medianRatio(mib, bare.mib)),
    median(ms).toFixed(1),
    median(mib).toFixed(1),
  ]);
  return table(['', 'time ÷ bare node', 'peak memory ÷ bare node', 'ms', 'MiB'], rows);
}

/** @param {Servers} servers */
function serverTable(servers) {
  const bare = servers['bare server']?.microseconds ?? [];
  const rows = Object.entries(servers).map(([name, { rate, microseconds }]) => [
    name,
    times(medianRatio(microseconds, bare)),
    median(microseconds).toFixed(0),
    median(rate).toFixed(0),
  ]);
  return table(['', 'processor time ÷ bare server', 'µs a token', 'tokens/s, 50 at once'], rows);
}

/** @param {Steps} steps */
function stepTable(steps) {
  const [least = 0] = STEP_COUNTS;
  const rows = Object.entries(steps).flatMap(([form, counts]) => {
    const base = (counts[least]?.ms ?? []).map((ms) => ms / least);
    return Object.entries(counts).map(([count, { ms, mib }]) => [
      `${Number(count).toLocaleString('en')} steps of ${form}`,
      times(
        medianRatio(
          ms.map((one) => one / Number(count)),
          base,
        ),
      ),
      median(ms).toFixed(0),
      median(mib).toFixed(0),
    ]);
  });
  return table(['', `time a step ÷ that of ${least.toLocaleString('en')}`, 'ms of processor time', 'MiB'], rows);
}

/** @param {Rotation} rotation */
function herdTable({ herds }) {
  const rows = Object.entries(herds).map(([name, { ms, bare, latencyMs }]) => [
    name,
    times(medianRatio(ms, floorOf({ bare, latencyMs }))),
    median(ms).toFixed(0),
    median(bare).toFixed(0),
  ]);
  const floor = 'slowest ÷ (slowest bare node + latency + 100 ms)';
  return table(['8 processes, 20 callers each', floor, 'ms', 'ms, 8 × bare node'], rows);
}

/** @param {Rotation} rotation */
function keptTable({ cached, token }) {
  const [ours, map] = [cached[OURS] ?? [], cached['a map'] ?? []];
  return table(
    ['', 'ratio', 'ours', 'the other'],
    [
      ['`get()` from memory ÷ a map', times(medianRatio(ours, map)), `${rate(ours)}/s`, `${rate(map)}/s`],
      [
        '`token` from the vault ÷ bare node',
        times(medianRatio(token.ms, token.bare)),
        `${median(token.ms).toFixed(1)} ms`,
        `${median(token.bare).toFixed(1)} ms`,
      ],
    ],
  );
}

/** @param {number[]} rates */
function rate(rates) {
  return Math.round(median(rates)).toLocaleString('en');
}

/** @param {number} ratio */
function times(ratio) {
  return `${ratio.toFixed(2)}×`;
}

/** @param {string[]} head @param {string[][]} rows */
function table(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

function machine() {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const load = loadavg()[0]?.toFixed(1);
  return `Node ${process.versions.node}, ${type()} ${release()} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${memory}; load average at the end ${load}.`;
}

function versions() {
  const versionOf = (/** @type {string} */ folder) =>
    JSON.parse(readFileSync(join(import.meta.dirname, '..', folder, 'package.json'), 'utf8')).version;
  const peers = ['undici', 'oauth4webapi', 'openid-client', 'simple-oauth2'].map(
    (name) => `${name} ${versionOf(join('node_modules', name))}`,
  );
  return `oauth-profile ${versionOf('.')}; ${peers.join(', ')}; fetch is that of Node (undici ${process.versions['undici']}).`;
}
