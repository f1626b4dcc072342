// `npm run bench`: measures and prints; `-- --write` writes results.md and plots/ beside this file, `--quick` is a trial, `--only requests,starts` runs some parts.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as behaviour from './parts/behaviour.js';
import * as cached from './parts/cached.js';
import * as emulator from './parts/emulator.js';
import * as expired from './parts/expired.js';
import * as requests from './parts/requests.js';
import * as rotation from './parts/rotation.js';
import * as starts from './parts/starts.js';
import * as steps from './parts/steps.js';
import { report } from './report/report.js';

/** In the order in which they are told. @type {Record<string, import('./report/report.js').Part>} */
const parts = { requests, cached, expired, rotation, starts, steps, emulator, behaviour };

const { values } = parseArgs({
  options: { write: { type: 'boolean' }, quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const chosen = values.only?.split(',') ?? Object.keys(parts);
const unknown = chosen.filter((name) => !(name in parts));
if (unknown.length > 0)
  throw new Error(`there is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);
if (values.write && values.only)
  throw new Error('what is written is one run of everything: leave out --only or --write');

const startedAt = performance.now();
/** @type {Record<string, unknown>} */
const results = {};
for (const [name, part] of Object.entries(parts)) {
  if (!chosen.includes(name)) continue;
  console.error(`${part.title} …`);
  results[name] = await part.measure(values.quick);
}
const minutes = (performance.now() - startedAt) / 60_000;
const { text, plots } = report(parts, results, { quick: values.quick, minutes });
console.log(text);

if (values.write) {
  const folder = join(import.meta.dirname, 'plots');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, svg] of Object.entries(plots)) writeFileSync(join(folder, `${name}.svg`), svg);
  writeFileSync(join(import.meta.dirname, 'results.md'), text);
}
