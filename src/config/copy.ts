import { isMap } from './flatten.ts';

/** A copy of lists and plain maps, however deep; anything else cannot change and is the same. */
export function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)]));
}

/** Whether a value still is what its copy says, names in the same order. */
export function holdsSame(value: unknown, copy: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, copy);
  if (Array.isArray(value)) {
    return Array.isArray(copy) && value.length === copy.length && value.every((item, at) => holdsSame(item, copy[at]));
  }
  if (!isMap(value)) return value === copy;
  if (!isMap(copy)) return false;
  const names = Object.keys(value);
  const known = Object.keys(copy);
  return (
    names.length === known.length && names.every((name, at) => name === known[at] && holdsSame(value[name], copy[name]))
  );
}
