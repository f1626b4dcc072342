import { escapeControls, truncate as truncateText } from '../../redaction/sanitize.ts';
import { attempt } from '../attempt.ts';
import type { Counts, Failure, StepState } from '../result.ts';

/** The colours of the terminal reports. */
export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

const MAX_JSON_LENGTH = 200_000;
/** Deeper levels are not indented further: the output would grow with the square of the depth. */
const MAX_INDENT = 40;
const symbols = { passed: '✓', failed: '✗', skipped: '-' } as const;
const htmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Formats text after the symbol of its state, both in the colour of the state. */
export function withSymbol({ red, green, dim }: Style, state: StepState, text: string): string {
  const paint = { passed: green, failed: red, skipped: dim }[state];
  return state === 'failed' || text === state ? paint(`${symbols[state]} ${text}`) : `${paint(symbols[state])} ${text}`;
}

/** Formats counts, without those that are 0: `5 passed, 1 failed, 2 skipped`. */
export function formatCounts({ red, yellow }: Style, { passed, failed, skipped }: Counts): string {
  return [
    ...(passed > 0 || failed + skipped === 0 ? [`${passed} passed`] : []),
    ...(failed > 0 ? [red(`${failed} failed`)] : []),
    ...(skipped > 0 ? [yellow(`${skipped} skipped`)] : []),
  ].join(', ');
}

/** Formats a duration: `120 ms`, `1.2 s`, `2 min 5 s`. */
export function formatDuration(elapsedMs: number): string {
  // A clock that was set back must not cause a negative duration.
  const ms = Math.max(0, Math.round(elapsedMs));
  if (ms < 1000) return `${ms} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Escapes untrusted text for one line: every character can be shown in XML, HTML and a terminal. */
export function toVisibleLine(text: string): string {
  return escapeControls(text).replace(/[\ufffe\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** Escapes untrusted text as {@link toVisibleLine} does, but preserves line breaks and tabs. */
export function toVisible(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[^\n\t]+/g, toVisibleLine);
}

/** Escapes untrusted text for HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  return toVisible(text).replace(/[&<>"']/g, (char) => htmlEntities[char] ?? char);
}

/** Truncates text to a number of characters and adds how many are missing. */
export function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  const shown = truncateText(text, length);
  return `${shown}\n… ${text.length - shown.length} more characters`;
}

/** Formats a failure as lines: message, expected and actual value, hint. */
export function describeFailure(
  { message, expected, actual, hint }: Failure,
  maxLength: number,
  format = (value: string): string => value,
): string {
  const value = (name: string, text: string | undefined): string[] => {
    if (text === undefined) return [];
    const shown = format(truncate(text, maxLength));
    return [/[\r\n]/.test(shown) ? `${name}:\n${shown}` : `${name}: ${shown}`];
  };
  const lines = [truncate(message, maxLength), ...value('expected', expected), ...value('actual', actual)];
  return [...lines, ...(hint === undefined ? [] : [hint])].join('\n');
}

/** Indents JSON that is on one line; other text stays unchanged. Numbers and strings keep their notation. */
export function indentJson(text: string): string {
  if (
    text.length > MAX_JSON_LENGTH ||
    !/^\s*[[{]/.test(text) ||
    text.trim().includes('\n') ||
    attempt(() => JSON.parse(text)) === undefined
  ) {
    return text;
  }
  let result = '';
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]+|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') result += token + newLine(++depth);
    else if (token === '}' || token === ']') result += newLine(--depth) + token;
    else if (token === ',') result += token + newLine(depth);
    else if (token === ':') result += ': ';
    else result += /^[{[]/.test(token) ? token.charAt(0) + token.slice(-1) : token;
  }
  return result;
}

function newLine(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, MAX_INDENT))}`;
}
