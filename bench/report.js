import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { table } from './format.js';
import { goals } from './goals.js';

/** `selects` is whether the row of a client is wanted. @typedef {{ quick: boolean, selects: (row: string) => boolean }} Options */

/**
 * One measurement and its presentation.
 * @typedef {object} Part
 * @property {string} title
 * @property {(options: Options) => Promise<any>} measure
 * @property {(data: any) => { text: string[], plots: Record<string, string> }} present
 */

/** Returns the report in Markdown, and the plots that it shows. @param {Record<string, Part>} parts @param {import('./goals.js').Results} results @param {{ quick: boolean, minutes: number }} run */
export function report(parts, results, { quick, minutes }) {
  const sections = Object.entries(results).map(([name, data]) => {
    const part = parts[name];
    return { title: part?.title ?? name, ...(part?.present(data) ?? { text: [], plots: {} }) };
  });
  const paragraphs = [
    '# Results of the last run',
    'Written by `npm run bench -- --write`. [README.md](README.md) describes the method.',
    quick ? '**A short run (`--quick`): the figures are not reliable.**' : '',
    `${machine()}; ${minutes.toFixed(1)} minutes, load average at the end ${loadavg()[0]?.toFixed(1)}.`,
    `${versions()}.`,
    goalTable(results),
    ...sections.flatMap(({ title, text, plots }) => [
      `## ${title}`,
      ...text,
      ...Object.keys(plots).map((name) => `![${title}](plots/${name}.svg)`),
    ]),
  ];
  const plots = Object.assign({}, ...sections.map((section) => section.plots));
  return { text: `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`, plots };
}

/** @param {import('./goals.js').Results} results */
function goalTable(results) {
  const found = goals(results);
  if (found.length === 0) return '';
  const met = found.filter((goal) => goal.met).length;
  return [
    '## Goals',
    `${met} of ${found.length} met.`,
    table(
      ['', 'found', 'goal', ''],
      found.map((goal) => [goal.name, goal.found, goal.goal, goal.met ? 'met' : '**missed**']),
    ),
  ].join('\n\n');
}

function machine() {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `Node ${process.versions.node}, ${type()} ${release()} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${memory}`;
}

function versions() {
  const read = (/** @type {string} */ file) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
  const libraries = Object.entries(read('package.json').dependencies).map(([name, version]) => `${name} ${version}`);
  return `oauth-profile ${read('../package.json').version}; ${libraries.join(', ')}; fetch is Node's own (undici ${process.versions['undici']})`;
}
