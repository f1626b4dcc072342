import { Secret } from '../redaction/secret.ts';

/** What a variable can hold. */
export type Value = Scalar | Collection;

/** A value with parts. */
export type Collection = readonly Value[] | { readonly [member: string]: Value };

/** A value that can stand inside a text. */
export type Scalar = string | number | boolean | null | RawScalar | Secret;

/** A number or boolean whose spelling matters: `007`, `1.0`, a 19-digit id, `True`. */
export class RawScalar {
  constructor(
    readonly text: string,
    readonly value: number | boolean,
  ) {}

  toJSON(): number | boolean {
    return this.value;
  }
}

/** A number or boolean from a file, kept as it is written there. */
export function parseScalar(text: string, value: number | boolean): number | boolean | RawScalar {
  const exact = typeof value === 'boolean' || !Number.isInteger(value) || Number.isSafeInteger(value);
  return exact && String(value) === text ? value : new RawScalar(text, value);
}

/** A map whose members are found whatever the case of their names: the headers of a message. */
export class HeaderMap {
  readonly [name: string]: Value;

  constructor(entries: Iterable<readonly [name: string, value: Value]>) {
    // Defined, not assigned: a name such as __proto__ is one like any other.
    for (const [name, value] of entries) Object.defineProperty(this, name.toLowerCase(), { value, enumerable: true });
  }
}

/** Whether a value has parts, so that it cannot stand inside a text. */
export function isCollection(value: Value): value is Collection {
  return typeof value === 'object' && value !== null && !(value instanceof RawScalar) && !(value instanceof Secret);
}

/** A value with parts, each of them changed; a list's have no names. */
export function mapCollection(value: Collection, change: (part: Value, name?: string) => Value): Collection {
  if (Array.isArray(value)) return value.map((part: Value) => change(part));
  const changed = Object.entries(value).map(([name, part]): [string, Value] => [name, change(part, name)]);
  return value instanceof HeaderMap ? new HeaderMap(changed) : Object.fromEntries(changed);
}

/** A scalar as it is sent: as it is written in its file, `null` as nothing. */
export function toText(value: Scalar): string | Secret {
  if (typeof value === 'string' || value instanceof Secret) return value;
  if (value instanceof RawScalar) return value.text;
  return value === null ? '' : String(value);
}

/** Nothing at all, or an empty text. */
export function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null || value === '' || (value instanceof Secret && value.length === 0);
}
