import type { Exchange, Failure, RunResult, StepResult } from '../result.ts';
import { type DiffLine, diffLines } from './diff-lines.ts';
import { duration } from './duration.ts';
import { escapeHtml } from './escape-html.ts';
import { indentJson } from './indent-json.ts';
import { placeOf } from './report.ts';
import { shorten, visibleLine } from './visible.ts';

const MAX_TEXT = 20_000;
/** Lines that are the same in both texts, shown before and after one that is not. */
const CONTEXT = 3;
const marks = { passed: '✓', failed: '✗', skipped: '–' } as const;

/** A step that unfolds to all that is known of it; one that failed is unfolded. */
export function stepHtml(step: StepResult, run: RunResult, id: string, slowestMs: number): string {
  const { number, state, reason, elapsedMs, failure, output, exchanges } = step;
  const why = state === 'skipped' && reason !== undefined ? `<span class="why">${line(reason)}</span>` : '';
  const inside = [
    `<p class="place">${whatAndWhere(step, run)}</p>`,
    ...(failure === undefined ? [] : [failureHtml(failure)]),
    ...(output.length === 0 ? [] : [`<div><h3 class="label">Output</h3>${block(output.join('\n'))}</div>`]),
    ...exchanges.map(exchangeHtml),
  ];
  return `<details class="step ${state}" id="${id}"${state === 'failed' ? ' open' : ''}><summary><span class="mark" aria-hidden="true">${marks[state]}</span><span class="n">${number}</span><span class="title"><span class="sr">${state}: </span>${titleHtml(step)}</span>${why}${state === 'skipped' ? '' : bar(step, slowestMs)}<span class="time">${state === 'skipped' ? '' : duration(elapsedMs)}</span></summary>
<div class="inside">${inside.join('\n')}</div></details>`;
}

/** What the author wrote as words, what is made from the command as code. */
function titleHtml({ command, title }: StepResult): string {
  return title.startsWith(`${command}(`) ? `<code>${line(title)}</code>` : `<bdi>${line(title)}</bdi>`;
}

function whatAndWhere(step: StepResult, run: RunResult): string {
  const startedAt = new Date(step.startedAt).toISOString();
  const time = `<time datetime="${startedAt}">${startedAt.slice(11, 23)}</time>`;
  return `<code>${line(step.command)}</code> · ${line(placeOf(run, step))} · ${time}`;
}

/** How long the step took beside the slowest one; an attribute, because the page's policy allows no style outside of its sheet. */
function bar({ state, elapsedMs }: StepResult, slowestMs: number): string {
  const part = slowestMs > 0 ? Math.max(0, elapsedMs / slowestMs) * 100 : 0;
  return `<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="${state}" width="${part.toFixed(1)}" height="1"/></svg>`;
}

function failureHtml({ code, message, hint, expected, actual }: Failure): string {
  const shown = escapeHtml(shorten(message, MAX_TEXT));
  return [
    '<div class="failure">',
    `<p class="message">${shown}${code === 'step_failed' ? '' : ` <code>${line(code)}</code>`}</p>`,
    ...comparison(expected, actual),
    ...(hint === undefined ? [] : [`<p class="hint">${escapeHtml(hint)}</p>`]),
    '</div>',
  ].join('\n');
}

function comparison(expected: string | undefined, actual: string | undefined): string[] {
  const one = expected === undefined ? undefined : indentJson(shorten(expected, MAX_TEXT));
  const other = actual === undefined ? undefined : indentJson(shorten(actual, MAX_TEXT));
  if (one !== undefined && other !== undefined) {
    const lines = one.includes('\n') && other.includes('\n') ? diffLines(one, other) : undefined;
    if (lines?.some(({ side }) => side === 'both')) return [diffHtml(lines)];
    const [markedOne, markedOther] = markDifference(one, other);
    return [`<div class="pair">${side('expected', one, markedOne)}${side('actual', other, markedOther)}</div>`];
  }
  if (one !== undefined) return [side('expected', one, escapeHtml(one))];
  return other === undefined ? [] : [side('actual', other, escapeHtml(other))];
}

function side(name: string, text: string, html: string): string {
  const shown = text === '' ? '<i>empty</i>' : html;
  return `<div class="${name}"><h3 class="label">${name}</h3>${pre(shown, text)}</div>`;
}

const LONG = 24;

/** Marks where two longer texts differ: all between their common start and their common end. */
function markDifference(one: string, other: string): [string, string] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  // The halves of a character beyond the BMP stay together.
  if (/[\ud800-\udbff]/.test(one[start - 1] ?? '')) start--;
  if (/[\udc00-\udfff]/.test(one.at(-end) ?? '') && end > 0) end--;
  const alike = start + end;
  if (shorter < LONG || alike < shorter / 4) return [escapeHtml(one), escapeHtml(other)];
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
    // One line takes no more room than the word that it is missing.
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

function exchangeHtml({ request, response, elapsedMs }: Exchange): string {
  const { method, url } = request;
  const status =
    response === undefined
      ? '<span class="status bad">no reply</span>'
      : `<span class="status${response.status >= 400 ? ' bad' : ''}">${response.status}</span>`;
  return `<section class="exchange" aria-label="Request and response">
<h4><code>${line(method)} ${line(url)}</code> ${status} ${duration(elapsedMs)}</h4>
<div class="pair"><div><p class="label">Request</p>${message(request)}</div>${response === undefined ? '' : `<div><p class="label">Response</p>${message(response)}</div>`}</div>
</section>`;
}

type Message = Pick<Exchange['request'], 'headers' | 'body'>;

function message({ headers, body }: Message): string {
  const head = headers.map(([name, value]) => `<b>${line(name)}:</b> ${line(value)}`).join('\n');
  const text = body === undefined || body === '' ? '' : indentJson(shorten(body, MAX_TEXT));
  const parts = [...(head === '' ? [] : [head]), ...(text === '' ? [] : [escapeHtml(text)])];
  return pre(parts.length === 0 ? '<i>no headers, no body</i>' : parts.join('\n\n'), text);
}

function block(text: string): string {
  const shown = shorten(text, MAX_TEXT);
  return pre(escapeHtml(shown), shown);
}

/** `text` decides whether the block scrolls; what scrolls can be reached with the keyboard. */
function pre(html: string, text: string): string {
  const tall = text.length > 2000 || text.split('\n', 25).length > 24;
  // A line end right behind the tag would be swallowed.
  return `<pre${tall ? ' class="tall" tabindex="0"' : ''}>${html.startsWith('\n') ? '\n' : ''}${html}</pre>`;
}

function line(text: string): string {
  return escapeHtml(visibleLine(text));
}
