import { dataError } from '../errors.ts';
import { rejectDuplicates } from './node.ts';
import type { Entry } from './variables.ts';

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f' };

/** Reads variables from a Java `.properties` file: `name=value`, `name: value` or `name value`, continuation lines, `\uXXXX`. */
export function readProperties(text: string, label: string): Entry[] {
  const entries: Entry[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    const fail = (problem: string, hint: string): never => {
      throw dataError(`${label}:${line}: ${problem}`, hint);
    };
    let last = removeIndent(lines[index]);
    if (last === '' || last.startsWith('#') || last.startsWith('!')) continue;
    const parts: string[] = [];
    while (isContinued(last)) {
      parts.push(last.slice(0, -1));
      last = removeIndent(lines[++index]);
    }
    const definition = parts.join('') + last;
    const [, name = '', value = ''] = /^((?:[^\\:= \t\f]|\\.)*)[ \t\f]*[:=]?[ \t\f]*(.*)$/s.exec(definition) ?? [];
    if (name === '') fail('a value without a name', 'write name=value');
    entries.push({ name: replaceEscapes(name, fail), value: replaceEscapes(value, fail), line });
  }
  rejectDuplicates(entries, label);
  return entries;
}

function removeIndent(line = ''): string {
  return line.replace(/^[ \t\f]+/, '');
}

/** Whether the line ends with a backslash that is not itself escaped. */
function isContinued(line: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(line);
}

function replaceEscapes(text: string, fail: (problem: string, hint: string) => never): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, code: string) => {
    if (code.length === 5) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (code === 'u') fail('\\u without four hex digits', 'write \\u00e9, or \\\\u for a backslash and a u');
    return ESCAPES[code] ?? code;
  });
}
