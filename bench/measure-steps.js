import { startChild } from './child.js';

const ROUNDS = 5;
const FORMS = { object: 'an object', file: 'a YAML file' };

/** How many steps a script has; the growth is told against the first. */
export const STEP_COUNTS = [1_000, 10_000, 20_000];

/** Processor time and memory of scripts with trivial steps, beyond start-up, each in a process of its own: one number a round. */
export async function measureSteps() {
  /** @type {Record<string, Record<number, { ms: number[], mib: number[] }>>} */
  const rounds = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [form, name] of Object.entries(FORMS)) {
      rounds[name] ??= Object.fromEntries(STEP_COUNTS.map((count) => [count, { ms: [], mib: [] }]));
      for (const count of STEP_COUNTS) {
        const child = await startChild('run-steps.js', [form, String(count)]);
        const { ms, mib } = /** @type {{ ms: number, mib: number }} */ (child.firstMessage);
        rounds[name]?.[count]?.ms.push(ms);
        rounds[name]?.[count]?.mib.push(mib);
      }
    }
  }
  return rounds;
}
