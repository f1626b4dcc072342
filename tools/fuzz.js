// `npm run fuzz`: tries mutated inputs on every parser for a while, led by the code that they reach. Ends with status 1 and the smallest input
// that breaks a promise. `node tools/fuzz.js [--minutes N] [--seed N] [--json FILE] [target…]`
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * @typedef {import('../test/fuzz/target.ts').Target} Target
 * @typedef {import('../test/fuzz/coverage.ts')} CoverageModule
 * @typedef {import('../test/fuzz/explore.ts')} ExploreModule
 * @typedef {{ input: string, problem: string }} Broken
 * @typedef {{ target: string, executions: number, seconds: number, perSecond: number, blocks: number, corpus: number }} Figures
 * @typedef {{ folder: string, name: string, seed: number, milliseconds: number, only: string | undefined, shared: SharedArrayBuffer }} Task
 * @typedef {{ figures?: Figures | undefined, broken?: Broken | undefined }} Report
 */

const root = join(import.meta.dirname, '..');
/** An input that takes longer never ends, as far as whoever waits can tell. */
const PATIENCE_MS = 10_000;
const MAX_TRIES_OF_ENDLESS = 12;
/** Room for an input, as JSON, behind the number of inputs so far and the length of this one. */
const SHARED_BYTES = 1_048_576;
const HEAD_BYTES = 8;
const TARGETS = 'all-targets.js';

/** The targets, and what tries them, as files with their maps: Node 20 reads no TypeScript, and V8 counts by place. @param {string} folder */
async function bundle(folder) {
  const { build } = await import('vite');
  const names = ['all-targets', 'coverage', 'explore', 'shrink'];
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    // The libraries that read YAML are bundled, so that their code is counted too: much of what a text can reach is there.
    ssr: { noExternal: ['yaml', 'js-yaml'] },
    build: {
      ssr: true,
      outDir: folder,
      minify: false,
      sourcemap: true,
      target: 'node20',
      rollupOptions: {
        input: Object.fromEntries(names.map((name) => [name, join(root, 'test', 'fuzz', `${name}.ts`)])),
      },
    },
  });
}

/** @param {string} folder @param {string} name */
const load = (folder, name) => import(pathToFileURL(join(folder, name)).href);

/** Whether the code at a place of the bundle is ours, and not a library's or the target's own. @param {string} folder */
function ownCode(folder) {
  const map = new SourceMap(JSON.parse(readFileSync(join(folder, `${TARGETS}.map`), 'utf8')));
  const starts = [0];
  const text = readFileSync(join(folder, TARGETS), 'utf8');
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (/** @type {number} */ offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - Number(starts[line]));
    return 'originalSource' in entry && /\/src\//.test(entry.originalSource);
  };
}

/** In a thread of its own: one target for its time, or for one input. @param {Task} task @returns {Promise<Report>} */
async function search({ folder, name, seed, milliseconds, only, shared }) {
  const head = new Int32Array(shared, 0, 2);
  const room = Buffer.from(shared, HEAD_BYTES);
  const beforeEach = (/** @type {string} */ input) => {
    head[1] = room.write(JSON.stringify(input));
    Atomics.add(head, 0, 1);
  };
  /** @type {CoverageModule} */
  const { Coverage } = await load(folder, 'coverage.js');
  // Before the code is loaded that it counts.
  const coverage = only === undefined ? new Coverage((url) => url.endsWith(`/${TARGETS}`)) : undefined;
  /** @type {ExploreModule} */
  const { explore, findGrowth } = await load(folder, 'explore.js');
  /** @type {{ allTargets: readonly Target[] }} */
  const { allTargets } = await load(folder, TARGETS);
  const target = allTargets.find((one) => one.name === name);
  if (target === undefined) throw new Error(`there is no target ${name}`);
  if (coverage === undefined) {
    beforeEach(String(only));
    await target.check(String(only));
    return {};
  }
  const grown = await findGrowth(target, coverage, beforeEach);
  if (grown !== undefined) return { broken: grown };
  const started = performance.now();
  const goesOn = () => performance.now() - started < milliseconds;
  const { executions, corpus, failure } = await explore(target, { seed, goesOn, beforeEach, coverage });
  const seconds = (performance.now() - started) / 1000;
  const perSecond = Math.round(executions / seconds);
  const blocks = coverage.countBlocks(ownCode(folder));
  return {
    figures: { target: name, executions, seconds: Math.round(seconds), perSecond, blocks, corpus: corpus.length },
    broken: failure && { input: failure.input, problem: String(failure.error.stack) },
  };
}

/** Has a target tried, and ends it where one input takes too long. @param {Omit<Task, 'shared'>} task @returns {Promise<Report>} */
function watch(task) {
  const shared = new SharedArrayBuffer(HEAD_BYTES + SHARED_BYTES);
  const head = new Int32Array(shared, 0, 2);
  const worker = new Worker(new URL(import.meta.url), { workerData: { ...task, shared } });
  let [count, since] = [0, performance.now()];
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      if (Atomics.load(head, 0) !== count || count === 0) {
        [count, since] = [Atomics.load(head, 0), performance.now()];
      } else if (performance.now() - since > PATIENCE_MS) {
        const input = JSON.parse(Buffer.from(shared, HEAD_BYTES, head[1]).toString());
        finish(() => resolve({ broken: { input, problem: `takes longer than ${PATIENCE_MS / 1000} s` } }));
      }
    }, 200);
    const finish = (/** @type {() => void} */ then) => {
      clearInterval(timer);
      worker.terminate().then(then, reject);
    };
    worker.on('message', (report) => finish(() => resolve(report)));
    worker.on('error', (error) => finish(() => reject(error)));
  });
}

/** An input without an end, made smaller; each try costs the whole patience. @param {Omit<Task, 'shared'>} task @param {Broken} broken @returns {Promise<Broken>} */
async function shrinkEndless(task, broken) {
  /** @type {import('../test/fuzz/shrink.ts')} */
  const { shrink } = await load(task.folder, 'shrink.js');
  const endless = async (/** @type {string} */ only) => {
    const report = await watch({ ...task, only }).catch(() => undefined);
    return report?.broken !== undefined;
  };
  return { ...broken, input: await shrink(broken.input, endless, MAX_TRIES_OF_ENDLESS) };
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string' }, json: { type: 'string' } },
  });
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
  // Below the project, so that the bundle finds the libraries that it leaves out.
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'fuzz-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await bundle(folder);
  /** @type {{ allTargets: readonly Target[] }} */
  const { allTargets } = await load(folder, TARGETS);
  const known = allTargets.map(({ name }) => name);
  const names = positionals.length > 0 ? positionals : known;
  const strange = names.filter((name) => !known.includes(name));
  if (strange.length > 0 || !(Number(values.minutes) > 0) || !Number.isInteger(seed)) {
    console.error(
      `fuzz: there is no target ${strange.join(', ')}, or no such time or seed; targets are ${known.join(', ')}`,
    );
    return 2;
  }
  const milliseconds = (Number(values.minutes) * 60_000) / names.length;
  console.log(`seed ${seed}, ${(milliseconds / 1000).toFixed(1)} s for each of ${names.length} targets`);
  console.log(`${'target'.padEnd(18)} executions  per second  blocks  corpus`);
  /** @type {Figures[]} */
  const all = [];
  /** @type {(Broken & { target: string })[]} */
  const failures = [];
  for (const name of names) {
    const task = { folder, name, seed, milliseconds, only: undefined };
    const { figures, broken } = await watch(task);
    if (figures !== undefined) {
      const { executions, perSecond, blocks, corpus } = figures;
      all.push(figures);
      const columns = [String(executions).padStart(10), String(perSecond).padStart(11), String(blocks).padStart(7)];
      console.log(`${name.padEnd(18)} ${columns.join(' ')} ${String(corpus).padStart(7)}`);
    }
    if (broken === undefined) continue;
    const { input, problem } = broken.problem.startsWith('takes longer') ? await shrinkEndless(task, broken) : broken;
    failures.push({ target: name, input, problem });
    console.log(`${name.padEnd(18)} BROKEN by ${JSON.stringify(input)}\n${problem}\n`);
  }
  const executions = all.reduce((sum, one) => sum + one.executions, 0);
  console.log(`${executions} executions, ${failures.length === 0 ? 'no promise broken' : `${failures.length} broken`}`);
  if (values.json !== undefined) {
    const report = { date: new Date().toISOString(), node: process.version, seed, executions, targets: all, failures };
    writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  return failures.length === 0 ? 0 : 1;
}

if (isMainThread) process.exitCode = await main();
else parentPort?.postMessage(await search(workerData));
