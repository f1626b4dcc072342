import { isPlainObject } from './flatten.ts';

/** A copy of lists and plain maps, however deep; anything else cannot change and is the same. */
export function deepCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deepCopy);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, deepCopy(part)]));
}

/** Whether a value still is what its copy says, names in the same order. */
export function deepEqual(value: unknown, copy: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, copy);
  if (Array.isArray(value)) {
    return Array.isArray(copy) && value.length === copy.length && value.every((item, at) => deepEqual(item, copy[at]));
  }
  if (!isPlainObject(value)) return value === copy;
  if (!isPlainObject(copy)) return false;
  const names = Object.keys(value);
  const known = Object.keys(copy);
  return (
    names.length === known.length && names.every((name, at) => name === known[at] && deepEqual(value[name], copy[name]))
  );
}
