import { OAuthProfileError } from '../errors.ts';
import { type DataObject, flatten } from './flatten.ts';
import { asWritten } from './value.ts';
import type { Entry } from './variables.ts';

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Reads variables from JSON; numbers keep their digits, which `JSON.parse` alone would round away. */
export function readJson(text: string, label: string): Entry[] {
  parse(text, label);
  // Only a text that has proved to be JSON can be taken apart so simply: each number becomes {"\u0000": "its digits"}.
  const wrapped = text.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : `{"\\u0000":"${token}"}`));
  const data: unknown = JSON.parse(wrapped, (_, value) => {
    const digits: unknown = typeof value === 'object' && value !== null ? value['\u0000'] : undefined;
    return typeof digits === 'string' ? asWritten(digits, Number(digits)) : value;
  });
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new OAuthProfileError('data_invalid', `${label}: holds no map of variables`, {
      advice: 'write {"profile": {"type": "…"}}',
    });
  }
  return flatten(data as DataObject, label);
}

/** The engine's own message quotes the text around the fault, which may be a secret: only the position is taken from it. */
function parse(text: string, label: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    const line = position === undefined ? undefined : text.slice(0, Number(position)).split('\n');
    const where = line === undefined ? label : `${label}:${line.length}:${(line.at(-1)?.length ?? 0) + 1}`;
    throw new OAuthProfileError('data_invalid', `${where}: is not valid JSON`, {
      advice: 'correct the file there: a missing quote, comma or brace is the usual cause',
    });
  }
}
