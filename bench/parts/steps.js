import { startChild } from '../child.js';
import { median, medianRatio } from '../median.js';
import { table, times, whole } from '../report/markdown.js';
import { bars } from '../report/plot.js';

export const title = 'Steps of scripts';

const FORMS = { object: 'an object', file: 'a YAML file' };
const COUNTS = [1_000, 10_000, 20_000];

/** Processor time and memory of scripts with trivial steps, beyond start-up, each in a process of its own: one number a round. @param {boolean} quick */
export async function measure(quick) {
  const rounds = quick ? 1 : 5;
  /** @type {Record<string, Record<number, { ms: number[], mib: number[] }>>} */
  const found = {};
  for (let round = 0; round < rounds; round++) {
    for (const [form, name] of Object.entries(FORMS)) {
      found[name] ??= Object.fromEntries(COUNTS.map((count) => [count, { ms: [], mib: [] }]));
      for (const count of COUNTS) {
        const child = await startChild('run-steps.js', [form, String(count)]);
        const { ms, mib } = /** @type {{ ms: number, mib: number }} */ (child.firstMessage);
        found[name]?.[count]?.ms.push(ms);
        found[name]?.[count]?.mib.push(mib);
      }
    }
  }
  return found;
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present(data) {
  const [least = 0] = COUNTS;
  const rows = Object.entries(data).flatMap(([form, counts]) => {
    const perStep = (/** @type {number} */ count) => (counts[count]?.ms ?? []).map((ms) => ms / count);
    return COUNTS.map((count) => ({
      name: `${whole(count)} steps of ${form}`,
      growth: medianRatio(perStep(count), perStep(least)),
      ms: median(counts[count]?.ms ?? []),
      mib: median(counts[count]?.mib ?? []),
    }));
  });
  return {
    plots: {
      steps: bars(
        'Processor time of scripts, in milliseconds (shorter is better)',
        rows.map(({ name, ms }) => ({ name, value: ms, label: `${whole(ms)} ms`, ours: true })),
      ),
    },
    text: [
      table(
        ['', `time a step ÷ that of ${whole(least)}`, 'ms of processor time', 'MiB'],
        rows.map(({ name, growth, ms, mib }) => [name, times(growth), whole(ms), whole(mib)]),
      ),
    ],
  };
}
