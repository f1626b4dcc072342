import { median, medianRatio } from './median.js';

/** @typedef {Awaited<ReturnType<typeof import('./measure-requests.js').measureRequests>>} Requests */
/** @typedef {ReturnType<typeof import('./measure-starts.js').measureStarts>} Starts */

/** @typedef {Awaited<ReturnType<typeof import('./measure-steps.js').measureSteps>>} Steps */

/** @typedef {Awaited<ReturnType<typeof import('./measure-rotation.js').measureRotation>>} Rotation */

/** What we want to reach; a goal that is missed fails nothing. @param {Requests} requests @param {Starts} starts @param {Steps} steps @param {Rotation} rotation */
export function goals({ alone, fifty }, starts, steps, { herds, cached, token }) {
  const speed = (/** @type {Record<string, number[]>} */ rounds, /** @type {string} */ other) =>
    medianRatio(rounds['oauth-profile'] ?? [], rounds[other] ?? []);
  const bare = starts['node -e 0'] ?? { ms: [], mib: [] };
  const cost = (/** @type {'ms' | 'mib'} */ unit, /** @type {string} */ command) =>
    medianRatio(starts[`oauth-profile ${command}`]?.[unit] ?? [], bare[unit]);
  return [
    atLeast('tokens/s one by one, of node:http', 0.85, speed(alone, 'node:http')),
    atLeast('tokens/s 50 at once, of node:http', 0.75, speed(fifty, 'node:http')),
    atLeast('tokens/s one by one, of oauth4webapi', 3.5, speed(alone, 'oauth4webapi')),
    atMost('time of `--help`, of bare node', 1.5, cost('ms', '--help')),
    atMost('time of `token` with JSON, of bare node', 1.9, cost('ms', 'token p --data p.json')),
    atMost('time of `token` with YAML, of bare node', 1.9, cost('ms', 'token p --data p.yaml')),
    atMost('peak memory of `token` with YAML, of bare node', 1.25, cost('mib', 'token p --data p.yaml')),
    ...Object.entries(steps).flatMap(([form, counts]) => [
      atMost(`processor time of 10,000 steps of ${form}`, 1, median(counts[10_000]?.ms ?? []) / 1000, ' s'),
      atMost(`memory of 10,000 steps of ${form}`, 200, median(counts[10_000]?.mib ?? []), ' MiB'),
    ]),
    ...Object.entries(herds).map(([name, herd]) =>
      atMost(`time of 8 × 20 callers, ${name}, of bare node and its waiting`, 1.5, medianRatio(herd.ms, floorOf(herd))),
    ),
    atLeast('`get()`/s from memory, of a map', 0.6, speed(cached, 'a map')),
    atMost('time of `token` from the vault, of bare node', 1.5, medianRatio(token.ms, token.bare)),
  ];
}

/** What a herd cannot be quicker than, and 100 ms. @param {{ bare: number[], latencyMs: number }} herd */
export const floorOf = ({ bare, latencyMs }) => bare.map((ms) => ms + latencyMs + 100);

const atLeast = (/** @type {string} */ name, /** @type {number} */ goal, /** @type {number} */ found) => ({
  name,
  goal: `≥ ${goal.toFixed(2)}×`,
  found: `${found.toFixed(2)}×`,
  met: found >= goal,
});
/** @param {string} name @param {number} goal @param {number} found @param {string} unit */
const atMost = (name, goal, found, unit = '×') => ({
  name,
  goal: `≤ ${goal.toFixed(2)}${unit}`,
  found: `${found.toFixed(2)}${unit}`,
  met: found <= goal,
});
