// Runs so many trivial steps in this process and tells what that cost beyond start-up.
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript } from '../../dist/script.js';
import { peakMib } from '../peak-memory.cjs';

const [form, count] = [process.argv[2], Number(process.argv[3])];
const data = { name: 'Ada' };

/** @param {number} steps */
function scriptOf(steps) {
  return { data, steps: Array.from({ length: steps }, () => ({ 'base.assertEqual': ['Ada', '${name}'] })) };
}

/** @param {number} steps */
async function run(steps) {
  if (form === 'object') return runScript(scriptOf(steps));
  const file = join(tmpdir(), `oauth-profile-bench-${process.pid}.yaml`);
  const lines = Array.from({ length: steps }, () => '  - base.assertEqual: [Ada, "${name}"]\n');
  writeFileSync(file, `data: {name: Ada}\nsteps:\n${lines.join('')}`);
  try {
    return await runScript(file);
  } finally {
    rmSync(file);
  }
}

await run(1);
const [mib, cpu] = [peakMib(), process.cpuUsage()];
const { counts } = await run(count);
const { user, system } = process.cpuUsage(cpu);
if (counts.passed !== count) throw new Error(`only ${counts.passed} of ${count} steps passed`);
process.send?.({ ms: (user + system) / 1000, mib: peakMib() - mib });
process.disconnect?.();
