import { OURS, parts } from './candidates.js';
import { median, medianRatio } from './median.js';
import { floorOf } from './parts/rotation.js';
import { BARE, scriptWith } from './parts/starts.js';

/**
 * What was measured; a part that did not run is missing.
 * @typedef {object} Results
 * @property {Awaited<ReturnType<typeof import('./parts/requests.js').measure>>} [requests]
 * @property {Awaited<ReturnType<typeof import('./parts/cached.js').measure>>} [cached]
 * @property {Awaited<ReturnType<typeof import('./parts/expired.js').measure>>} [expired]
 * @property {Awaited<ReturnType<typeof import('./parts/rotation.js').measure>>} [rotation]
 * @property {Awaited<ReturnType<typeof import('./parts/starts.js').measure>>} [starts]
 * @property {Awaited<ReturnType<typeof import('./parts/steps.js').measure>>} [steps]
 * @property {Awaited<ReturnType<typeof import('./parts/emulator.js').measure>>} [emulator]
 * @property {Awaited<ReturnType<typeof import('./parts/behaviour.js').measure>>} [behaviour]
 */

/** @typedef {Record<string, number[]>} Rounds */

/** What we want to reach; a goal that is missed fails nothing. @param {Results} results */
export function goals({ requests, cached, expired, rotation, starts, steps, behaviour }) {
  return [
    ...(requests ? requestGoals(requests) : []),
    ...(starts ? startGoals(starts) : []),
    ...(steps ? stepGoals(steps) : []),
    ...(rotation ? rotationGoals(rotation) : []),
    ...(cached
      ? [
          atLeast('`get()`/s from memory, of a map', 0.6, medianRatio(cached[OURS] ?? [], cached['a map'] ?? [])),
          lead('`get()`/s from memory', cached, 'most'),
        ]
      : []),
    ...(expired ? expiredGoals(expired) : []),
    ...(behaviour ? behaviourGoals(behaviour) : []),
  ];
}

/** @param {NonNullable<Results['requests']>} requests */
function requestGoals({ alone, fifty }) {
  const speed = (/** @type {Rounds} */ rounds, /** @type {string} */ other) =>
    medianRatio(rounds[OURS] ?? [], rounds[other] ?? []);
  return [
    atLeast('tokens/s one by one, of node:http', 0.85, speed(alone, 'node:http')),
    atLeast('tokens/s 50 at once, of node:http', 0.75, speed(fifty, 'node:http')),
    atLeast('tokens/s one by one, of oauth4webapi', 3.5, speed(alone, 'oauth4webapi')),
    atLeast('tokens/s 50 at once, of oauth4webapi', 3.5, speed(fifty, 'oauth4webapi')),
    lead('tokens/s one by one', alone, 'most'),
    lead('tokens/s 50 at once', fifty, 'most'),
  ];
}

/** @param {NonNullable<Results['starts']>} starts */
function startGoals(starts) {
  const bare = starts[BARE] ?? { ms: [], mib: [] };
  const cost = (/** @type {'ms' | 'mib'} */ unit, /** @type {string} */ command) =>
    medianRatio(starts[`oauth-profile ${command}`]?.[unit] ?? [], bare[unit]);
  const scripts = (/** @type {'ms' | 'mib'} */ unit) =>
    Object.fromEntries(
      Object.entries(starts)
        .filter(([name]) => name.startsWith(scriptWith('')))
        .map(([name, found]) => [name.slice(scriptWith('').length), found[unit]]),
    );
  return [
    atMost('time of `--help`, of bare node', 1.5, cost('ms', '--help')),
    atMost('time of `token` with JSON, of bare node', 1.9, cost('ms', 'token p --data p.json')),
    atMost('time of `token` with YAML, of bare node', 1.9, cost('ms', 'token p --data p.yaml')),
    atMost('peak memory of `token` with YAML, of bare node', 1.25, cost('mib', 'token p --data p.yaml')),
    atMost('time of `token` from the vault, of bare node', 1.5, cost('ms', 'token p, from the vault')),
    lead('time of a script that gets a token', scripts('ms'), 'least'),
    lead('peak memory of a script that gets a token', scripts('mib'), 'least'),
  ];
}

/** @param {NonNullable<Results['steps']>} steps */
function stepGoals(steps) {
  return Object.entries(steps).flatMap(([form, counts]) => [
    atMost(`processor time of 10,000 steps of ${form}`, 1, median(counts[10_000]?.ms ?? []) / 1000, ' s'),
    atMost(`memory of 10,000 steps of ${form}`, 200, median(counts[10_000]?.mib ?? []), ' MiB'),
  ]);
}

/** @param {NonNullable<Results['rotation']>} rotation */
function rotationGoals(rotation) {
  const ours = Object.entries(rotation).filter(([, { candidate }]) => candidate === OURS);
  const others = Object.values(rotation).filter(({ candidate }) => candidate !== OURS);
  const beside = (/** @type {'ms' | 'served'} */ unit, /** @type {number[]} */ found) => ({
    [OURS]: found,
    ...Object.fromEntries(others.map((herd) => [herd.candidate, herd[unit]])),
  });
  return [
    ...ours.map(([name, herd]) =>
      atMost(`time of 8 × 20 callers, ${name}, of bare node and its waiting`, 1.5, medianRatio(herd.ms, floorOf(herd))),
    ),
    ...ours.flatMap(([name, herd]) => [
      equals(`callers served of 8 × 20, ${name}, fewest of all rounds`, 160, Math.min(...herd.served)),
      equals(`requests for 8 × 20 callers, ${name}, most of all rounds`, 1, Math.max(...herd.requests)),
    ]),
    ...ours
      .filter(([, { latencyMs }]) => latencyMs > 0)
      .flatMap(([name, herd]) => [
        lead(`callers served of 8 × 20, ${name}`, beside('served', herd.served), 'most'),
        lead(`time of 8 × 20 callers, ${name}`, beside('ms', herd.ms), 'least'),
      ]),
  ];
}

/** @param {NonNullable<Results['expired']>} expired */
function expiredGoals(expired) {
  const { requests, served } = expired[OURS] ?? { requests: [], served: [] };
  return [
    equals('requests for 1,000 callers of an expired token, most of all rounds', 1, Math.max(...requests)),
    equals('callers served of 1,000, fewest of all rounds', 1000, Math.min(...served)),
    lead(
      'time of 1,000 callers of an expired token',
      Object.fromEntries(Object.entries(expired).map(([name, { ms }]) => [name, ms])),
      'least',
    ),
  ];
}

/** @param {NonNullable<Results['behaviour']>} behaviour */
function behaviourGoals({ rows }) {
  const memory = Object.fromEntries(rows.map(({ name, huge }) => [name, [huge.peakMib]]));
  return [lead('peak memory at a reply of 256 MiB', memory, 'least')];
}

/** We lead every library: the one that comes nearest, or is ahead, is named. @param {string} name @param {Rounds} rounds @param {'most' | 'least'} best */
function lead(name, rounds, best) {
  const ours = rounds[OURS] ?? [];
  const [nearest] = Object.entries(rounds)
    .filter(([other]) => other !== OURS && !parts.includes(other))
    .map(([other, theirs]) => ({
      other,
      ratio: best === 'most' ? medianRatio(ours, theirs) : medianRatio(theirs, ours),
    }))
    .sort((a, b) => a.ratio - b.ratio);
  const how = best === 'most' ? 'ours ÷' : 'that ÷ ours,';
  return atLeast(`${name}, ${how} the nearest library (${nearest?.other})`, 1, nearest?.ratio ?? Number.NaN);
}

/** @param {string} name @param {number} goal @param {number} found */
function atLeast(name, goal, found) {
  return { name, goal: `≥ ${goal.toFixed(2)}×`, found: `${found.toFixed(2)}×`, met: found >= goal };
}

/** @param {string} name @param {number} goal @param {number} found @param {string} unit */
function atMost(name, goal, found, unit = '×') {
  return { name, goal: `≤ ${goal.toFixed(2)}${unit}`, found: `${found.toFixed(2)}${unit}`, met: found <= goal };
}

/** @param {string} name @param {number} goal @param {number} found */
function equals(name, goal, found) {
  return { name, goal: String(goal), found: String(found), met: found === goal };
}
