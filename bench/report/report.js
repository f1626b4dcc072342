import { goals } from '../goals.js';
import { load, machine, versions } from './machine.js';
import { table } from './markdown.js';

/**
 * One measurement: how it is made, and how its results are told.
 * @typedef {object} Part
 * @property {string} title
 * @property {(quick: boolean) => Promise<any>} measure
 * @property {(data: any) => { text: string[], plots: Record<string, string> }} present
 */

/** The whole report: Markdown, and the plots that it shows. @param {Record<string, Part>} parts @param {import('../goals.js').Results} results @param {{ quick: boolean, minutes: number }} run */
export function report(parts, results, { quick, minutes }) {
  const presented = Object.entries(results).map(([name, data]) => {
    const part = parts[name];
    return { title: part?.title ?? name, ...(part?.present(data) ?? { text: [], plots: {} }) };
  });
  const text = [
    '# The last run',
    'Made by `npm run bench -- --write`; [README.md](README.md) tells how it was measured and why that is fair.',
    quick ? '**A trial (`--quick`): too short to rely on.**' : '',
    `${machine()}; ${minutes.toFixed(1)} minutes, load average at the end ${load()}.`,
    `${versions()}.`,
    ...presented.flatMap(({ title, text: paragraphs, plots }) => [
      `## ${title}`,
      ...paragraphs,
      ...Object.keys(plots).map((name) => `![${title}](plots/${name}.svg)`),
    ]),
    goalTable(results),
  ];
  const plots = Object.assign({}, ...presented.map((part) => part.plots));
  return { text: `${text.filter((paragraph) => paragraph !== '').join('\n\n')}\n`, plots };
}

/** @param {import('../goals.js').Results} results */
function goalTable(results) {
  const found = goals(results);
  if (found.length === 0) return '';
  const missed = found.filter(({ met }) => !met).length;
  return [
    '## Goals',
    missed === 0 ? `All ${found.length} are met.` : `${found.length - missed} of ${found.length} are met.`,
    table(
      ['', 'found', 'goal', ''],
      found.map((goal) => [goal.name, goal.found, goal.goal, goal.met ? 'met' : '**missed**']),
    ),
  ].join('\n\n');
}
