import { isCollection, type Value } from '../config/value.ts';
import type { Entry } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import { excerpt } from '../redaction/sanitize.ts';
import { labelItems, readRows } from './engine/items.ts';
import { isPlainName } from './parameter-kinds.ts';
import { StepFailure } from './step-context.ts';

/** A row that a script runs with. */
export interface Row {
  /** The `name` of the row, else its number. */
  readonly label: string;
  /** A variable per column. */
  readonly entries: readonly Entry[];
}

/** Reads the rows of a script: a list of maps, or `@` and the path of a file. `label` names the source in errors. */
export async function loadRows(
  rows: Value,
  label: string,
  readText: (path: string) => string,
): Promise<readonly Row[]> {
  const path = typeof rows === 'string' ? rows.slice(1) : undefined;
  try {
    const items = path === undefined ? rows : await readRows(path, readText(path));
    if (!Array.isArray(items) || items.length === 0) throw new StepFailure('there are no rows');
    return labelItems(items, items).map((item) => ({
      label: item.label,
      // Values of a file have no references.
      entries: toEntries(item.value, path !== undefined),
    }));
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    throw new OAuthProfileError('data_invalid', `rows of ${path ?? label}: ${error.message}`, {
      hint: error.details.hint ?? 'a CSV file has a line of column names; a JSON or YAML file is a list of maps',
    });
  }
}

function toEntries(row: Value, literal: boolean): readonly Entry[] {
  if (!isCollection(row) || Array.isArray(row)) throw new StepFailure('a row must be a map of variables');
  return Object.entries(row).map(([name, value]) => {
    if (!name.split('.').every(isPlainName))
      throw new StepFailure(`the column ${excerpt(name, 60)} is not a variable name: use letters, digits and _`);
    return { name, value, literal };
  });
}
