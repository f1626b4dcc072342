import { OAuthProfileError } from '../errors.ts';
import { rejectDuplicates } from './flatten.ts';
import type { Entry } from './variables.ts';

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f' };

/** Reads variables from a Java properties file: `name=value`, `name: value` or `name value`, continued lines, `\uXXXX`. */
export function readProperties(text: string, label: string): Entry[] {
  const entries: Entry[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let part = withoutIndent(lines[index]);
    if (part === '' || part.startsWith('#') || part.startsWith('!')) continue;
    const parts: string[] = [];
    while (goesOn(part)) {
      parts.push(part.slice(0, -1));
      part = withoutIndent(lines[++index]);
    }
    const statement = parts.join('') + part;
    const [, name = '', value = ''] = /^((?:[^\\:= \t\f]|\\.)*)[ \t\f]*[:=]?[ \t\f]*(.*)$/s.exec(statement) ?? [];
    if (name === '') {
      throw new OAuthProfileError('data_invalid', `${label}:${line}: has a value without a name`, {
        hint: 'write name=value',
      });
    }
    entries.push({ name: undoEscapes(name, label, line), value: undoEscapes(value, label, line), line });
  }
  rejectDuplicates(entries, label);
  return entries;
}

function withoutIndent(line = ''): string {
  return line.replace(/^[ \t\f]+/, '');
}

/** A backslash at the end that is not itself escaped. */
function goesOn(line: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(line);
}

function undoEscapes(text: string, label: string, line: number): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, code: string) => {
    if (code.length === 5) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (code === 'u') {
      throw new OAuthProfileError('data_invalid', `${label}:${line}: \\u is not followed by four hex digits`, {
        hint: 'write \\u00e9, or \\\\u for a backslash and a u',
      });
    }
    return escapes[code] ?? code;
  });
}
