import { dataError } from '../errors.ts';
import { rejectDuplicates } from './node.ts';
import type { Entry } from './variables.ts';

const NAME = '(?:export[ \\t]+)?([A-Za-z_][\\w.-]*)[ \\t]*=[ \\t]*';
const DOUBLE_QUOTED = '"([^"\\\\]*(?:\\\\[^][^"\\\\]*)*)"';
const SINGLE_QUOTED = "'([^']*)'";
const UNQUOTED = '(?!["\'])([^\\n]*)';
const COMMENT = '#[^\\n]*';

/** A line that is empty, a comment or a definition. A quoted value may have several lines. */
const LINE = new RegExp(
  `[^\\S\\n]*(?:${COMMENT}|${NAME}(?:(?:${DOUBLE_QUOTED}|${SINGLE_QUOTED})[ \\t]*(?:${COMMENT})?|${UNQUOTED}))?(?:\\n|$)`,
  'y',
);

const ESCAPES: Record<string, string> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '\n': '',
  '\\': '\\',
  '"': '"',
  '`': '`',
  $: '$',
  '${': '$${',
};

/** Whether a path is that of a `.env` file: `.env`, `prod.env`, `.env.local`. */
export function isEnvFile(path: string): boolean {
  return /(?:^|[\\/.])env(?:\.[^\\/]+)?$/i.test(path);
}

/**
 * Reads variables from a `.env` file: `name=value`, quoted as in a shell; in single quotes, `${` has no meaning.
 * `util.parseEnv` is not used: it returns no line numbers, ignores invalid lines and duplicates, and is missing before Node 20.12.
 */
export function readEnv(text: string, label: string): Entry[] {
  const lines = text.replaceAll('\r\n', '\n');
  const entries: Entry[] = [];
  let line = 1;
  for (let at = 0; at < lines.length; at = LINE.lastIndex) {
    LINE.lastIndex = at;
    const match = LINE.exec(lines);
    if (match === null) {
      const hint = 'write name=value; put a value with # or with spaces around it in "quotes"; start a comment with #';
      throw dataError(`${label}:${line}: expected name=value`, hint);
    }
    const [whole, name, double, single, unquoted = ''] = match;
    if (name !== undefined) {
      const value = single ?? (double === undefined ? removeComment(unquoted) : replaceEscapes(double));
      entries.push({ name, value, line, literal: single !== undefined || undefined });
    }
    line += whole.split('\n').length - 1;
  }
  rejectDuplicates(entries, label);
  return entries;
}

/** Reads environment variables from a `.env` file. Their values have no references: `${` has no meaning in them. */
export function readEnvironment(text: string, label: string): Record<string, string> {
  const entries = readEnv(text, label).map(({ name, value, literal }) => {
    const plain = String(value);
    return [name, literal ? plain : plain.replaceAll('$${', () => '${')];
  });
  return Object.fromEntries(entries);
}

function removeComment(value: string): string {
  return value.replace(/(?:^|\s)#[^\n]*$/, '').trim();
}

/** `\$` is a dollar that does not start a reference. A backslash before any other character stays. */
function replaceEscapes(value: string): string {
  return value.replace(/\\(\$\{|[\s\S])/g, (whole, char: string) => ESCAPES[char] ?? whole);
}
