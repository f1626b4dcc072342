import { OAuthProfileError } from '../errors.ts';
import { refuseDuplicates } from './flatten.ts';
import type { Entry } from './variables.ts';

const lineOf =
  /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=[ \t]*(?:"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|([^\n]*?))[ \t]*(?:#[^\n]*)?$/;
const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' };

/** Reads variables from an env file: `name=value`, quotes as in a shell; in single quotes `${` means nothing. */
export function readEnv(text: string, label: string): Entry[] {
  const entries: Entry[] = [];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let statement = lines[index] ?? '';
    if (/^\s*(?:#|$)/.test(statement)) continue;
    while (opensQuote(statement) && index + 1 < lines.length) statement += `\n${lines[++index]}`;
    const found = lineOf.exec(statement);
    if (found === null) {
      throw new OAuthProfileError('data_invalid', `${label}:${line}: is not of the form name=value`, {
        advice: 'write name=value, "quoted" where the value has blanks around it or a #, and # for a comment',
      });
    }
    const [, name = '', double, single, bare = ''] = found;
    if (single !== undefined) entries.push({ name, value: single, line, literal: true });
    else entries.push({ name, value: double === undefined ? withoutComment(bare) : undoEscapes(double), line });
  }
  refuseDuplicates(entries, label);
  return entries;
}

/** A quoted value that goes on in the next line. */
function opensQuote(statement: string): boolean {
  return /^\s*(?:export\s+)?[\w.-]+\s*=[ \t]*(?:"(?:[^"\\]|\\[\s\S])*\\?|'[^']*)$/.test(statement);
}

function withoutComment(text: string): string {
  return text.replace(/(?:^|\s)#.*$/, '').trim();
}

function undoEscapes(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, char: string) => escapes[char] ?? char);
}
