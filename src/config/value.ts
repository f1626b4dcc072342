import { joinStrings, Secret } from '../redaction/secret.ts';

/** The value of a variable. */
export type Value = Scalar | Collection;

/** A list or a map. */
export type Collection = readonly Value[] | { readonly [member: string]: Value };

/** A value that can be part of a string. */
export type Scalar = string | number | boolean | null | RawScalar | Secret;

/** A number or boolean that is sent as written: `007`, `1.0`, a 19-digit id, `True`. */
export class RawScalar {
  constructor(
    readonly text: string,
    readonly value: number | boolean,
  ) {}

  toJSON(): number | boolean {
    return this.value;
  }
}

/** Returns a number or boolean of a file, as a {@link RawScalar} if JavaScript would write it differently. */
export function parseScalar(text: string, value: number | boolean): number | boolean | RawScalar {
  const isExact = typeof value === 'boolean' || !Number.isInteger(value) || Number.isSafeInteger(value);
  return isExact && String(value) === text ? value : new RawScalar(text, value);
}

/** A map with case-insensitive names: the headers of an HTTP message. */
export class HeaderMap {
  readonly [name: string]: Value;

  constructor(entries: Iterable<readonly [name: string, value: Value]>) {
    // Defined, not assigned: a header may be named `__proto__`.
    for (const [name, value] of entries) Object.defineProperty(this, name.toLowerCase(), { value, enumerable: true });
  }
}

/** Whether a value is a list or a map. */
export function isCollection(value: Value): value is Collection {
  return typeof value === 'object' && value !== null && !(value instanceof RawScalar) && !(value instanceof Secret);
}

/** Applies `change` to each item of a list, or to each member of a map with its name. */
export function mapCollection(value: Collection, change: (item: Value, name?: string) => Value): Collection {
  if (Array.isArray(value)) return value.map((item: Value) => change(item));
  const changed = Object.entries(value).map(([name, item]): [string, Value] => [name, change(item, name)]);
  return value instanceof HeaderMap ? new HeaderMap(changed) : Object.fromEntries(changed);
}

/** Converts a scalar to the string that is sent: as written in its file, `null` as the empty string. */
export function toText(value: Scalar): string | Secret {
  if (typeof value === 'string' || value instanceof Secret) return value;
  if (value instanceof RawScalar) return value.text;
  return value === null ? '' : String(value);
}

/** The items of a list of scalars, separated by spaces; `undefined` if the value is anything else. Empty items are omitted. */
export function joinList(value: Value): string | Secret | undefined {
  if (!Array.isArray(value) || value.some(isCollection)) return undefined;
  const items = value.filter((item) => !isEmpty(item)).map(toText);
  return joinStrings(items.flatMap((item, index) => (index === 0 ? [item] : [' ', item])));
}

/** Whether a value is undefined, null or an empty string. */
export function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null || value === '' || (value instanceof Secret && value.length === 0);
}
