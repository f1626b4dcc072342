import type { Failure, RunResult, StepResult } from '../result.ts';
import { commonEnds, type DiffLine, diffLines } from './diff-lines.ts';
import { escapeHtml, formatDuration, indentJson, truncate } from './format.ts';
import { exchangeHtml, exchangeId, lineHtml, MAX_TEXT, preHtml, summaryHtml } from './html-exchange.ts';
import { formatLocation } from './report.ts';

/** Number of equal lines shown before and after each difference. */
const CONTEXT = 3;
/** The symbol of each state. */
export const symbols = { passed: '✓', failed: '✗', skipped: '–' } as const;

/** Renders a step as a folded element with all of its details; a failed step is unfolded. `scriptId` is the id of the script on the page. */
export function stepHtml(step: StepResult, run: RunResult, scriptId: string, slowestMs: number): string {
  const id = `${scriptId}-${step.number}`;
  const { number, state, reason, elapsedMs, failure, output, exchanges, attempts } = step;
  const repeated = attempts === undefined ? '' : ` <span class="badge">${attempts} attempts</span>`;
  const why = state === 'skipped' && reason !== undefined ? `<span class="why">${lineHtml(reason)}</span>` : '';
  const inside = [
    `<p class="place">${locationHtml(step, run)}</p>`,
    ...(failure === undefined ? [] : [failureHtml(failure)]),
    ...(output.length === 0 ? [] : [outputHtml(output.join('\n'))]),
    ...responseLinksHtml(step, run, scriptId),
    ...exchanges.map((exchange, index) => exchangeHtml(exchange, exchangeId(id, index))),
  ];
  return `<details class="step ${state}" id="${id}"${state === 'failed' ? ' open' : ''}><summary><span class="mark" aria-hidden="true">${symbols[state]}</span><span class="n">${number}</span><span class="title"><span class="sr">${state}: </span>${titleHtml(step)}${repeated}</span>${why}${state === 'skipped' ? '' : bar(step, slowestMs)}<span class="time">${state === 'skipped' ? '' : formatDuration(elapsedMs)}</span></summary>
<div class="inside">${inside.join('\n')}</div></details>`;
}

/** Links to the exchanges whose responses the step used: those that an assertion has checked. */
function responseLinksHtml({ responsesOf = [] }: StepResult, { steps }: RunResult, scriptId: string): string[] {
  return responsesOf.flatMap((number) => {
    const index = (steps[number - 1]?.exchanges.length ?? 0) - 1;
    const exchange = steps[number - 1]?.exchanges[index];
    if (exchange === undefined) return [];
    const target = exchangeId(`${scriptId}-${number}`, index);
    return [
      `<p class="place">Uses the response of step ${number}: <a href="#${target}">${summaryHtml(exchange)}</a></p>`,
    ];
  });
}

/** A `name` is shown as text, a title that was generated from the command as code. */
function titleHtml({ command, title }: StepResult): string {
  return title.startsWith(`${command}(`) ? `<code>${lineHtml(title)}</code>` : `<bdi>${lineHtml(title)}</bdi>`;
}

function locationHtml(step: StepResult, run: RunResult): string {
  const startedAt = new Date(step.startedAt).toISOString();
  const time = `<time datetime="${startedAt}">${startedAt.slice(11, 23)}</time>`;
  return `<code>${lineHtml(step.command)}</code> · ${lineHtml(formatLocation(run, step))} · ${time}`;
}

function outputHtml(text: string): string {
  const shown = truncate(text, MAX_TEXT);
  return `<div><h3 class="label">Output</h3>${preHtml(escapeHtml(shown), shown)}</div>`;
}

/** Shows the duration relative to the slowest step. An SVG attribute, because the content security policy forbids inline styles. */
function bar({ state, elapsedMs }: StepResult, slowestMs: number): string {
  const part = slowestMs > 0 ? Math.max(0, elapsedMs / slowestMs) * 100 : 0;
  return `<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="${state}" width="${part.toFixed(1)}" height="1"/></svg>`;
}

function failureHtml({ code, message, hint, expected, actual }: Failure): string {
  const shown = escapeHtml(truncate(message, MAX_TEXT));
  return [
    '<div class="failure">',
    `<p class="message">${shown}${code === 'step_failed' ? '' : ` <code>${lineHtml(code)}</code>`}</p>`,
    ...comparisonHtml(expected, actual),
    ...(hint === undefined ? [] : [`<p class="hint">${escapeHtml(hint)}</p>`]),
    '</div>',
  ].join('\n');
}

function comparisonHtml(expected: string | undefined, actual: string | undefined): string[] {
  const [one, other] = [expected, actual].map((text) => text && indentJson(truncate(text, MAX_TEXT)));
  if (one !== undefined && other !== undefined) {
    const lines = one.includes('\n') && other.includes('\n') ? diffLines(one, other) : undefined;
    if (lines?.some(({ side }) => side === 'both')) return [diffHtml(lines)];
    const [markedOne, markedOther] = markDifferenceHtml(one, other);
    return [`<div class="pair">${sideHtml('expected', one, markedOne)}${sideHtml('actual', other, markedOther)}</div>`];
  }
  const sides = { expected: one, actual: other };
  return Object.entries(sides).flatMap(([name, text]) =>
    text === undefined ? [] : [sideHtml(name, text, escapeHtml(text))],
  );
}

function sideHtml(name: string, text: string, html: string): string {
  const shown = text === '' ? '<i>empty</i>' : html;
  return `<div class="${name}"><h3 class="label">${name}</h3>${preHtml(shown, text)}</div>`;
}

/** Shorter strings are easy to compare without marks. */
const MIN_MARKED = 24;

/** Marks the difference of two long strings: everything between their common prefix and their common suffix. */
function markDifferenceHtml(one: string, other: string): [string, string] {
  const shorter = Math.min(one.length, other.length);
  let [start, end] = commonEnds(one, other);
  // Surrogate pairs are not split.
  if (/[\ud800-\udbff]/.test(one[start - 1] ?? '')) start--;
  if (/[\udc00-\udfff]/.test(one.at(-end) ?? '') && end > 0) end--;
  const common = start + end;
  if (shorter < MIN_MARKED || common < shorter / 4) return [escapeHtml(one), escapeHtml(other)];
  const markIn = (text: string): string => {
    const middle = escapeHtml(text.slice(start, text.length - end));
    return `${escapeHtml(text.slice(0, start))}<mark>${middle}</mark>${escapeHtml(text.slice(text.length - end))}`;
  };
  return [markIn(one), markIn(other)];
}

function diffHtml(lines: readonly DiffLine[]): string {
  const near = new Set<number>();
  for (const [index, { side }] of lines.entries()) {
    if (side === 'both') continue;
    for (let i = index - CONTEXT; i <= index + CONTEXT; i++) near.add(i);
  }
  const shown: string[] = [];
  let left = 0;
  const closeGap = (end: number): void => {
    // A single line takes no more space than the note that would replace it.
    if (left === 1) shown.push(`  ${escapeHtml(lines[end - 1]?.text ?? '')}\n`);
    else if (left > 1) shown.push(`<i>  … ${left} equal lines</i>\n`);
    left = 0;
  };
  for (const [index, { side, text }] of lines.entries()) {
    if (!near.has(index)) {
      left++;
      continue;
    }
    closeGap(index);
    const html = escapeHtml(text);
    if (side === 'both') shown.push(`  ${html}\n`);
    else shown.push(side === 'first' ? `<del>- ${html}</del>` : `<ins>+ ${html}</ins>`);
  }
  closeGap(lines.length);
  const html = `<pre class="diff${lines.length > 24 ? ' tall" tabindex="0' : ''}">${shown.join('')}</pre>`;
  return `<div><h3 class="label">Difference: <del>- expected</del> <ins>+ actual</ins></h3>${html}</div>`;
}
