import type { RunResult } from '../result.ts';
import { formatDuration } from './format.ts';
import { exchangeId, summaryHtml } from './html-exchange.ts';
import { countOf } from './report.ts';

/** More requests are not drawn. */
const MAX_DRAWN = 500;
/** A longer chart is folded. */
const MAX_OPEN = 15;
/** Width of a chart, and of the shortest bar, in units of its view box. */
const WIDTH = 1000;
const MIN_WIDTH = 4;

/** Renders when each request of a script was sent and how long it took. `id` is that of the script. */
export function timelineHtml({ steps, startedAt, elapsedMs }: RunResult, id: string): string {
  const requests = steps.flatMap((step) =>
    step.exchanges.map((exchange, index) => ({ exchange, link: exchangeId(`${id}-${step.number}`, index) })),
  );
  if (requests.length === 0) return '';
  const perMs = WIDTH / Math.max(1, elapsedMs);
  const items = requests.slice(0, MAX_DRAWN).map(({ exchange, link }) => {
    const width = Math.min(WIDTH, Math.max(MIN_WIDTH, exchange.elapsedMs * perMs));
    const x = Math.min(WIDTH - width, Math.max(0, (exchange.startedAt - startedAt) * perMs));
    const state = (exchange.response?.status ?? 599) >= 400 ? 'failed' : 'passed';
    const bar = `<svg class="bar" viewBox="0 0 ${WIDTH} 1" preserveAspectRatio="none" aria-hidden="true"><rect class="${state}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="1"/></svg>`;
    return `<li><a href="#${link}">${summaryHtml(exchange)}</a>${bar}<span class="time">${formatDuration(exchange.elapsedMs)}</span></li>`;
  });
  const totalMs = requests.reduce((sum, { exchange }) => sum + Math.max(0, exchange.elapsedMs), 0);
  const left = requests.length - items.length;
  return `<details class="timeline"${requests.length > MAX_OPEN ? '' : ' open'}><summary>${countOf(requests.length, 'request')}, ${formatDuration(totalMs)}</summary>
<ol>
${items.join('\n')}${left > 0 ? `\n<li>and ${left} more</li>` : ''}
</ol></details>
`;
}
