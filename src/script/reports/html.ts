import { createHash } from 'node:crypto';
import type { RunResult } from '../result.ts';
import { duration } from './duration.ts';
import { escapeHtml } from './escape-html.ts';
import { pageScript } from './html-script.ts';
import { stepHtml } from './html-step.ts';
import { pageStyle } from './html-style.ts';
import { EMULATED, failuresOf, inWords, type Report, type Totals, totalsOf } from './report.ts';

const MAX_LISTED = 100;
const MANY = 300;
const states = ['passed', 'failed', 'skipped'] as const;
const marks = { passed: '✓', failed: '✗' } as const;

/** A report for people: one file that asks for nothing from elsewhere and runs nothing but its own script. */
export function htmlReport(report: Report): string {
  const totals = totalsOf(report);
  const words = inWords(totals);
  const state = totals.scripts.failed === 0 ? 'passed' : 'failed';
  const slowestMs = report.runs.reduce(
    (slowest, { steps }) => steps.reduce((longest, { elapsedMs }) => Math.max(longest, elapsedMs), slowest),
    0,
  );
  // Drawing only what is in sight makes thousands of steps bearable, but a few jump about less without it.
  const many = totals.steps.passed + totals.steps.failed + totals.steps.skipped > MANY;
  const colour = state === 'passed' ? '1a7f43' : 'b3261e';
  const icon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 2 2'%3E%3Ccircle cx='1' cy='1' r='1' fill='%23${colour}'/%3E%3C/svg%3E`;
  const policy = `default-src 'none'; style-src 'sha256-${sha256(pageStyle)}'; script-src 'sha256-${sha256(pageScript)}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const startedAt = new Date(report.startedAt).toISOString();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${state === 'passed' ? '✓' : '✗'} ${words.scripts} · oauth-profile</title>
<link rel="icon" href="${icon}">
<style>${pageStyle}</style>
</head>
<body data-show="all"${many ? ' class="many"' : ''}>
<header>
<h1 class="${state}">${state === 'passed' ? '✓ All passed' : `✗ ${failedInWords(totals, report)}`}</h1>
<p class="sub">${words.scripts} · ${words.steps} · ${duration(report.elapsedMs)} · <time datetime="${startedAt}">${startedAt.slice(0, 19).replace('T', ' ')} UTC</time></p>
${report.emulated === true ? `<p class="alert">${EMULATED}</p>\n` : ''}${share(totals)}
</header>
<main>
${controls(totals)}
${failureList(report)}
${report.runs.map((run, index) => scriptHtml(run, index, report.runs.length, slowestMs)).join('\n')}
<p class="none">Nothing to show.</p>
</main>
<footer>Made by oauth-profile ${escapeHtml(report.version)}. Secrets are masked.</footer>
<script>${pageScript}</script>
</body>
</html>
`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function failedInWords({ scripts, steps }: Totals, { runs }: Report): string {
  if (steps.failed > 0) return `${steps.failed} ${steps.failed === 1 ? 'step' : 'steps'} failed`;
  return runs.some(({ interrupted }) => interrupted) ? 'Interrupted' : `${scripts.failed} scripts failed`;
}

/** How the steps divide, as one bar. */
function share({ steps }: Totals): string {
  const all = steps.passed + steps.failed + steps.skipped;
  if (all === 0) return '';
  let x = 0;
  const parts = states.map((state) => {
    const part = `<rect class="${state}" x="${x}" width="${steps[state]}" height="1"/>`;
    x += steps[state];
    return part;
  });
  return `<svg class="share" viewBox="0 0 ${all} 1" preserveAspectRatio="none" aria-hidden="true">${parts.join('')}</svg>`;
}

/** Hidden until the script is there to serve them. */
function controls({ steps }: Totals): string {
  const button = (state: string, name: string, count: number): string =>
    `<button type="button" data-show="${state}" aria-pressed="${state === 'all'}"${count === 0 && state !== 'all' ? ' disabled' : ''}>${name} <b>${count}</b></button>`;
  return `<div id="controls" hidden>
<div role="group" aria-label="Show steps">
${button('all', 'All', steps.passed + steps.failed + steps.skipped)}
${button('failed', 'Failed', steps.failed)}
${button('passed', 'Passed', steps.passed)}
${button('skipped', 'Skipped', steps.skipped)}
</div>
<input id="search" type="search" placeholder="Search" aria-label="Search steps" autocomplete="off" spellcheck="false">
<button type="button" id="fold">Unfold all</button>
<span id="status" role="status"></span>
</div>`;
}

function failureList(report: Report): string {
  const failures = failuresOf(report);
  if (failures.length === 0) return '';
  const indexes = new Map(report.runs.map((run, index) => [run, index]));
  const items = failures.slice(0, MAX_LISTED).map(({ run, step }) => {
    const link = `#s${(indexes.get(run) ?? 0) + 1}-${step.number}`;
    const title = escapeHtml(`${run.name} › ${step.number} ${step.title}`);
    return `<li><a class="clamp" href="${link}">${title}</a><span>${escapeHtml(step.failure?.message ?? '')}</span></li>`;
  });
  const left = failures.length - items.length;
  return `<nav class="failures" aria-labelledby="failures">
<h2 id="failures">What failed</h2>
<ol>
${items.join('\n')}${left > 0 ? `\n<li>and ${left} more</li>` : ''}
</ol>
</nav>`;
}

function scriptHtml(run: RunResult, index: number, of: number, slowestMs: number): string {
  const { name, file, state, interrupted, counts, steps, elapsedMs } = run;
  const has = states.filter((one) => counts[one] > 0).map((one) => `has-${one}`);
  const tally = states
    .filter((one) => counts[one] > 0)
    .map((one) => `<span class="${one}">${counts[one]} ${one}</span>`);
  const open = state === 'failed' || of === 1 ? ' open' : '';
  return `<details class="script ${state} ${has.join(' ')}"${open}>
<summary><span class="mark" aria-hidden="true">${marks[state]}</span><h2><span class="sr">${state}: </span><bdi>${escapeHtml(name)}</bdi></h2><span class="file">${escapeHtml(file)}</span><span class="tally">${tally.join(' ')} <span>${duration(elapsedMs)}</span></span></summary>
${interrupted ? '<p class="alert">The run was interrupted.</p>\n' : ''}${steps.map((step) => stepHtml(step, run, `s${index + 1}-${step.number}`, slowestMs)).join('\n')}
</details>`;
}
