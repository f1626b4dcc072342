import { parseJson } from '../../config/json.ts';
import { toValue } from '../../config/node.ts';
import { isCollection, toText, type Value } from '../../config/value.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { assertStep, StepFailure } from '../step-context.ts';
import { parseCsv } from './csv.ts';
import { createResolver } from './run-command.ts';
import type { Scope } from './scope.ts';

const MAX_ITEMS = 100_000;
const MAX_LABEL = 60;

/** An item of a loop and how reports name it. */
export interface LabelledItem {
  readonly label: string;
  readonly value: Value;
}

/** Returns the items of a `forEach`: a list, a range, or the rows of a file. */
export async function readItems(
  items: Value,
  scope: Scope,
  responsesOf: Set<number>,
): Promise<readonly LabelledItem[]> {
  if (typeof items === 'string' && items.startsWith('@')) {
    const path = createResolver(scope).follow(items.slice(1), scope.source);
    if (typeof path !== 'string') throw new StepFailure('the file of forEach must be a path without secrets');
    const bytes = await scope.run.context.readFile(path, scope.source.directory);
    const rows = await readRows(path, new TextDecoder().decode(bytes));
    return labelItems(rows, rows);
  }
  const resolved = createResolver(scope, responsesOf).follow(items, scope.source);
  const range = typeof resolved === 'string' ? parseRange(resolved) : undefined;
  const list = range ?? resolved;
  const message = 'forEach expects a list, a range such as 1..5, or @ and the path of a file';
  assertStep(Array.isArray(list), message, { actual: resolved });
  return labelItems(list, Array.isArray(items) ? items : []);
}

/** Labels items with their `name` as it is written in the script or file, else with their number: a response must not change a title. */
export function labelItems(items: readonly Value[], written: readonly Value[]): readonly LabelledItem[] {
  const message = `forEach has ${items.length} items, more than ${MAX_ITEMS}`;
  assertStep(items.length <= MAX_ITEMS, message, { hint: 'split the list' });
  return items.map((value, index) => ({ value, label: nameOf(written[index]) ?? String(index + 1) }));
}

function nameOf(item: Value | undefined): string | undefined {
  if (item === undefined || !isCollection(item) || Array.isArray(item)) return undefined;
  const { name } = item as { readonly name?: Value };
  const text = name === undefined || isCollection(name) ? '' : toText(name);
  return typeof text === 'string' && text !== '' && !text.includes('${') ? excerpt(text, MAX_LABEL) : undefined;
}

/** Parses `1..5`; both ends are included. */
function parseRange(text: string): readonly number[] | undefined {
  const [, first, last] = /^\s*(-?\d{1,15})\s*\.\.\s*(-?\d{1,15})\s*$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = [Number(first), Number(last)];
  const step = from <= to ? 1 : -1;
  const length = Math.abs(to - from) + 1;
  if (length > MAX_ITEMS) throw new StepFailure(`the range ${text} has ${length} items, more than ${MAX_ITEMS}`);
  return Array.from({ length }, (_, index) => from + index * step);
}

/** Parses the rows of a file by its extension: CSV with a header line, or a list in JSON or YAML. */
export async function readRows(path: string, text: string): Promise<readonly Value[]> {
  const content = text.replace(/^\ufeff/, '');
  const rows = /\.csv$/i.test(path) ? parseCsv(content, path) : await parseList(path, content);
  if (!Array.isArray(rows)) throw new StepFailure(`${path} must contain a list of rows`);
  return rows;
}

async function parseList(path: string, text: string): Promise<Value> {
  if (/\.json$/i.test(path)) return parseJson(text, path);
  assertStep(/\.ya?ml$/i.test(path), `${path} has an unknown format`, { hint: 'use .csv, .json or .yaml' });
  const { parseYaml } = await import('../../config/yaml.ts');
  const { root, issues } = parseYaml(text, 3 * MAX_ITEMS);
  const [issue] = issues;
  assertStep(root !== undefined && issue === undefined, `${path}: ${issue?.message ?? 'the file is empty'}`);
  return toValue(root);
}
