import type { Value } from '../../config/value.ts';
import { StepFailure } from '../step-context.ts';

/** Parses CSV (RFC 4180) with a header line: one map of strings per record. Fields in quotes may contain commas, quotes and line breaks. */
export function parseCsv(text: string, label: string): readonly Value[] {
  const [header = [], ...records] = splitRecords(text, label);
  const names = header.map((name) => name.trim());
  const duplicate = names.find((name, index) => name === '' || names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new StepFailure(`${label}:1: the column names must be unique and not empty`);
  return records.map((fields, index) => {
    if (fields.length === names.length) return Object.fromEntries(names.map((name, at) => [name, fields[at] ?? '']));
    throw new StepFailure(`${label}: record ${index + 1} has ${fields.length} fields, the header has ${names.length}`);
  });
}

/** Splits CSV into records and fields. Empty lines are ignored. */
function splitRecords(text: string, label: string): string[][] {
  const records: string[][] = [];
  let fields: string[] = [];
  // A field is quoted, or has neither quotes, commas nor line breaks; it ends with a comma, a line break or the end.
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  while (field.lastIndex < text.length || fields.length > 0) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (match === null) {
      const line = text.slice(0, at).split('\n').length;
      throw new StepFailure(`${label}:${line}: a quote is not closed, or a character follows a closing quote`);
    }
    const [whole, quoted, plain = '', end] = match;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    if (fields.length > 1 || whole.replace(/[\r\n]+$/, '') !== '') records.push(fields);
    fields = [];
    if (end === '') break;
  }
  return records;
}
