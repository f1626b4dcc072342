import type { Exchange } from '../result.ts';
import { curlCommand } from './curl.ts';
import { escapeHtml, formatDuration, indentJson, toVisibleLine, truncate } from './format.ts';

/** Maximum length of a body, an output or a value on the page, in characters. */
export const MAX_TEXT = 20_000;

/** Returns the id of an exchange on the page, to link to it. */
export function exchangeId(stepId: string, index: number): string {
  return `${stepId}-${index + 1}`;
}

/** Renders a request in one line: `GET https://… 200`. */
export function summaryHtml({ request: { method, url }, response }: Exchange): string {
  const status =
    response === undefined
      ? '<span class="status bad">no response</span>'
      : `<span class="status${response.status >= 400 ? ' bad' : ''}">${response.status}</span>`;
  return `<code>${lineHtml(method)} ${lineHtml(url)}</code> ${status}`;
}

/** Renders a request, its response, and the request as a curl command. */
export function exchangeHtml(exchange: Exchange, id: string): string {
  const { request, response, elapsedMs } = exchange;
  const curl = curlCommand(request);
  return `<section class="exchange" id="${id}" tabindex="-1" aria-label="${lineHtml(`${request.method} ${request.url}`)}">
<h4>${summaryHtml(exchange)} ${formatDuration(elapsedMs)} <button type="button" class="copy">Copy as curl</button></h4>
<div class="pair"><div><p class="label">Request</p>${messageHtml(request)}</div>${response === undefined ? '' : `<div><p class="label">Response</p>${messageHtml(response)}</div>`}</div>
<details class="curl"><summary>curl</summary>${preHtml(escapeHtml(curl), curl)}</details>
</section>`;
}

function messageHtml({ headers, body }: Pick<Exchange['request'], 'headers' | 'body'>): string {
  const head = headers.map(([name, value]) => `<b>${lineHtml(name)}:</b> ${lineHtml(value)}`).join('\n');
  const text = body === undefined || body === '' ? '' : indentJson(truncate(body, MAX_TEXT));
  const parts = [...(head === '' ? [] : [head]), ...(text === '' ? [] : [escapeHtml(text)])];
  return preHtml(parts.length === 0 ? '<i>no headers, no body</i>' : parts.join('\n\n'), text);
}

/** Renders a block; a tall one scrolls and can be focused with the keyboard. `text` determines the height. */
export function preHtml(html: string, text: string): string {
  const tall = text.length > 2000 || text.split('\n', 25).length > 24;
  // The HTML parser drops a line break right after the tag.
  return `<pre${tall ? ' class="tall" tabindex="0"' : ''}>${html.startsWith('\n') ? '\n' : ''}${html}</pre>`;
}

/** Renders untrusted text in one line. */
export function lineHtml(text: string): string {
  return escapeHtml(toVisibleLine(text));
}
