import { OAuthProfileError } from '../errors.ts';
import { rejectDuplicates } from './flatten.ts';
import type { Entry } from './variables.ts';

const blankLine = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;
const beginning = /[^\S\n]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/y;
const doubleQuoted = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const singleQuoted = /'([^']*)'[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const bare = /(?!["'])([^\n]*)(?:\n|$)/y;
const escapes: Record<string, string> = {
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

/** Reads variables from an env file: `name=value`, quotes as in a shell; in single quotes `${` means nothing. */
export function readEnv(text: string, label: string): Entry[] {
  const lines = text.replaceAll('\r\n', '\n');
  const entries: Entry[] = [];
  let at = 0;
  let line = 1;
  const take = (token: RegExp): string | undefined => {
    token.lastIndex = at;
    const found = token.exec(lines);
    if (found === null) return undefined;
    for (const char of found[0]) if (char === '\n') line++;
    at = token.lastIndex;
    return found[1] ?? '';
  };
  while (at < lines.length) {
    if (take(blankLine) !== undefined) continue;
    const start = line;
    const name = take(beginning);
    const single = name === undefined ? undefined : take(singleQuoted);
    const value = single ?? undoEscapes(take(doubleQuoted)) ?? withoutComment(take(bare));
    if (name === undefined || value === undefined) {
      throw new OAuthProfileError('data_invalid', `${label}:${start}: is not of the form name=value`, {
        hint: 'write name=value, "quoted" where the value has blanks around it or a #, and # for a comment',
      });
    }
    entries.push({ name, value, line: start, literal: single !== undefined || undefined });
  }
  rejectDuplicates(entries, label);
  return entries;
}

function withoutComment(text: string | undefined): string | undefined {
  return text?.replace(/(?:^|\s)#[^\n]*$/, '').trim();
}

/** `\$` is a dollar that begins no reference; a backslash before an ordinary character stays. */
function undoEscapes(text: string | undefined): string | undefined {
  return text?.replace(/\\(\$\{|[\s\S])/g, (whole, char: string) => escapes[char] ?? whole);
}
