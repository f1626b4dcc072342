import { OAuthProfileError } from '../errors.ts';
import { type DataObject, flatten } from './flatten.ts';
import { parseJson } from './parse-json.ts';
import { isCollection } from './value.ts';
import type { Entry } from './variables.ts';

/** Reads variables from JSON; nested maps become dotted names, numbers keep their digits. */
export function readJson(text: string, label: string): Entry[] {
  const data = parseJson(text.startsWith('\ufeff') ? text.slice(1) : text, label);
  if (!isCollection(data) || Array.isArray(data)) {
    throw new OAuthProfileError('data_invalid', `${label}: holds no map of variables`, {
      hint: 'write {"profile": {"type": "…"}}',
    });
  }
  return flatten(data as DataObject, label);
}
