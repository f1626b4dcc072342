import { Secret } from '../secret/secret.ts';

/** What a variable can hold. */
export type Value = Scalar | Compound;

/** A value with parts. */
export type Compound = readonly Value[] | { readonly [member: string]: Value };

/** A value that can stand inside a text. */
export type Scalar = string | number | boolean | null | Written | Secret;

/** A number or boolean whose spelling matters: `007`, `1.0`, a 19-digit id, `True`. */
export class Written {
  constructor(
    readonly text: string,
    readonly value: number | boolean,
  ) {}

  toJSON(): number | boolean {
    return this.value;
  }
}

/** A number or boolean from a file, kept as it is written there. */
export function asWritten(text: string, value: number | boolean): number | boolean | Written {
  const exact = typeof value === 'boolean' || !Number.isInteger(value) || Number.isSafeInteger(value);
  return exact && String(value) === text ? value : new Written(text, value);
}

/** Whether a value has parts, so that it cannot stand inside a text. */
export function isCompound(value: Value): value is Compound {
  return typeof value === 'object' && value !== null && !(value instanceof Written) && !(value instanceof Secret);
}

/** A value with parts, each of them changed; a list's have no names. */
export function mapParts(value: Compound, change: (part: Value, name?: string) => Value): Compound {
  if (Array.isArray(value)) return value.map((part: Value) => change(part));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part, name)]));
}

/** A scalar as it is sent: as it is written in its file, `null` as nothing. */
export function textOf(value: Scalar): string | Secret {
  if (typeof value === 'string' || value instanceof Secret) return value;
  if (value instanceof Written) return value.text;
  return value === null ? '' : String(value);
}

/** Nothing at all, or an empty text. */
export function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null || value === '' || (value instanceof Secret && value.length === 0);
}
