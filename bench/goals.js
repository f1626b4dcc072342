import { OURS, references } from './clients.js';
import { whole } from './format.js';
import { BARE_PROXY } from './parts/proxy.js';
import { REDIS, VAULT } from './parts/rotation.js';
import { ratesOf } from './parts/scripts.js';
import { BARE, FROM_HTTP, FROM_VAULT, scriptWith } from './parts/startup.js';
import { median, medianRatio } from './statistics.js';

/**
 * The measurements; a part that did not run is missing.
 * @typedef {object} Results
 * @property {Awaited<ReturnType<typeof import('./parts/startup.js').measure>>} [startup]
 * @property {Awaited<ReturnType<typeof import('./parts/requests.js').measure>>} [requests]
 * @property {Awaited<ReturnType<typeof import('./parts/cached.js').measure>>} [cached]
 * @property {Awaited<ReturnType<typeof import('./parts/rotation.js').measure>>} [rotation]
 * @property {Awaited<ReturnType<typeof import('./parts/families.js').measure>>} [families]
 * @property {Awaited<ReturnType<typeof import('./parts/scripts.js').measure>>} [scripts]
 * @property {Awaited<ReturnType<typeof import('./parts/emulator.js').measure>>} [emulator]
 * @property {Awaited<ReturnType<typeof import('./parts/proxy.js').measure>>} [proxy]
 */

/** @typedef {Record<string, number[]>} Rounds */
/** @typedef {{ name: string, goal: string, found: string, met: boolean }} Goal */

/** Compares the results with the goals. A missed goal is reported and does not fail the run. @param {Results} results @returns {Goal[]} */
export function goals({ startup, requests, cached, rotation, families, scripts, emulator, proxy }) {
  return [
    ...(startup ? startupGoals(startup) : []),
    ...(requests
      ? [
          atLeast('tokens/s one by one ÷ node:http', 0.8, ratio(requests.sequential, OURS, 'node:http')),
          atLeast('tokens/s 50 at once ÷ node:http', 0.75, ratio(requests.concurrent, OURS, 'node:http')),
        ]
      : []),
    ...(cached ? [lead('cached gets/s', 1, cached, 'most')] : []),
    ...(rotation ? rotationGoals(rotation) : []),
    ...Object.entries(families ?? {}).map(([name, row]) =>
      atMost(
        `${name}: first use with 100,000 families ÷ with 100`,
        1.5,
        median(row[100_000] ?? []) / median(row[100] ?? []),
      ),
    ),
    ...(scripts ? scriptGoals(scripts) : []),
    ...Object.entries(emulator?.rows ?? {}).map(([alg, { rates, signatureMs }]) => {
      // The signatures alone can take longer: 3.5 ms each with RSA on some machines.
      const goal = Math.min(3000, 0.7 * (2000 / signatureMs));
      const rate = median(rates);
      return { name: `signed tokens/s, ${alg}`, goal: `≥ ${whole(goal)}`, found: whole(rate), met: rate >= goal };
    }),
    ...(proxy ? proxyGoals(proxy) : []),
  ].filter(({ found }) => !found.startsWith('NaN'));
}

/** @param {Rounds} startup */
function startupGoals(startup) {
  const prefix = scriptWith('');
  const scripts = Object.fromEntries(
    Object.entries(startup)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, ms]) => [name.slice(prefix.length), ms]),
  );
  return [
    atMost('`token` over HTTP, profile in YAML ÷ bare node', 3.0, ratio(startup, FROM_HTTP, BARE)),
    atMost('`token` from the vault ÷ bare node', 2.3, ratio(startup, FROM_VAULT, BARE)),
    lead('script that gets a token, time', 2, scripts, 'least'),
  ];
}

/** @param {NonNullable<Results['rotation']>} rotation */
function rotationGoals(rotation) {
  const others = Object.fromEntries(
    Object.entries(rotation)
      .filter(([, { client }]) => client !== OURS)
      .map(([name, { ms }]) => [name, ms]),
  );
  return Object.entries({ [VAULT]: 1.8, [REDIS]: 1 }).flatMap(([name, factor]) => {
    const row = rotation[name];
    if (row === undefined) return [];
    return [
      equals(`${name}: callers served of 8 × 20, fewest of all rounds`, 160, Math.min(...row.served)),
      equals(`${name}: requests, most of all rounds`, 1, Math.max(...row.requests)),
      equals(
        `${name}: rounds after which the token family is alive`,
        row.alive.length,
        row.alive.filter(Boolean).length,
      ),
      lead(`${name}: time of 8 × 20 callers`, factor, { ...others, [OURS]: row.ms }, 'least'),
    ];
  });
}

/** @param {NonNullable<Results['scripts']>} scripts */
function scriptGoals({ tools, cpu }) {
  const by = (/** @type {(rounds: { one: number[], many: number[] }) => number[]} */ select) =>
    Object.fromEntries(Object.entries(tools).map(([name, rounds]) => [name, select(rounds)]));
  const seconds = median(cpu) / 1000;
  return [
    lead('script, requests/s', 1, by(ratesOf), 'most'),
    lead(
      'script with 1 request, time',
      1,
      by(({ one }) => one),
      'least',
    ),
    {
      name: 'script of 10,000 assertions, processor time',
      goal: '≤ 1.00 s',
      found: `${seconds.toFixed(2)} s`,
      met: seconds <= 1,
    },
  ];
}

/** @param {NonNullable<Results['proxy']>} proxy */
function proxyGoals({ rates, memory, mebibytes }) {
  const { idle = Number.NaN, most = Number.NaN } = memory[OURS] ?? {};
  const used = (most - idle) / 2 ** 20;
  return [
    atLeast('proxied requests/s 50 at once ÷ node:http', 0.8, ratio(rates, OURS, BARE_PROXY)),
    {
      name: `proxy: memory for ${whole(mebibytes)} MiB up and down`,
      goal: '≤ 40 MiB',
      found: `${whole(used)} MiB`,
      met: used <= 40,
    },
  ];
}

/** @param {Rounds} rounds @param {string} name @param {string} reference */
function ratio(rounds, name, reference) {
  return medianRatio(rounds[name] ?? [], rounds[reference] ?? []);
}

/** Compares ours with the library that comes nearest. @param {string} name @param {number} factor @param {Rounds} rounds @param {'most' | 'least'} best */
function lead(name, factor, rounds, best) {
  const [nearest] = Object.keys(rounds)
    .filter((other) => other !== OURS && !references.includes(other))
    .map((other) => ({ other, ratio: best === 'most' ? ratio(rounds, OURS, other) : ratio(rounds, other, OURS) }))
    .sort((a, b) => a.ratio - b.ratio);
  const how = best === 'most' ? 'ours ÷' : 'it ÷ ours,';
  return atLeast(`${name}, ${how} the nearest library (${nearest?.other})`, factor, nearest?.ratio ?? Number.NaN);
}

/** @param {string} name @param {number} goal @param {number} found */
function atLeast(name, goal, found) {
  return { name, goal: `≥ ${goal.toFixed(2)}×`, found: `${found.toFixed(2)}×`, met: found >= goal };
}

/** @param {string} name @param {number} goal @param {number} found */
function atMost(name, goal, found) {
  return { name, goal: `≤ ${goal.toFixed(2)}×`, found: `${found.toFixed(2)}×`, met: found <= goal };
}

/** @param {string} name @param {number} goal @param {number} found */
function equals(name, goal, found) {
  return { name, goal: String(goal), found: String(found), met: found === goal };
}
