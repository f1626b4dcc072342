import { isCompound, textOf, type Value, Written } from '../data/value.ts';
import { Secret } from '../secret/secret.ts';

/** Whether two values are equal to an assertion: scalars as text, so that `200` equals `"200"`; what has parts part by part. */
export function sameValue(one: Value, other: Value): boolean {
  return canonical(one) === canonical(other);
}

/** A value as a person is shown it: secrets masked, parts as JSON. */
export function display(value: Value): string {
  return isCompound(value) ? JSON.stringify(value) : String(textOf(value));
}

/** A value as text that questions can be asked of; a secret within makes all of it one. */
export function textValue(value: Value): string | Secret {
  if (!isCompound(value)) return textOf(value);
  const clear = JSON.stringify(value, revealed);
  return clear === JSON.stringify(value) ? clear : new Secret(clear);
}

/** Answers a question about a text, secret or not. */
export function ask(text: string | Secret, question: (clear: string) => boolean): boolean {
  return typeof text === 'string' ? question(text) : text.test(question);
}

/** Answers a question about two texts. */
export function askBoth(
  one: string | Secret,
  other: string | Secret,
  question: (one: string, other: string) => boolean,
): boolean {
  return ask(one, (clear) => ask(other, (otherClear) => question(clear, otherClear)));
}

/** `toJSON` masks a secret before a replacer sees it, so the holder is asked. */
function revealed(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  return original instanceof Secret ? original.reveal() : value;
}

/** One text for each value; members in the order of their names. */
function canonical(value: Value): string {
  if (value instanceof Secret) return value.reveal();
  if (!isCompound(value)) return String(textOf(value));
  if (Array.isArray(value)) return `[${value.map((part: Value) => quoted(part)).join()}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${quoted(part)}`).join()}}`;
}

/** Inside of parts a number is not its text: `[1]` is not `["1"]`. */
function quoted(value: Value): string {
  if (isCompound(value)) return canonical(value);
  if (value instanceof Secret) return JSON.stringify(value.reveal());
  if (!(value instanceof Written)) return JSON.stringify(value);
  // Of a number that lost digits the spelling tells more.
  return Number.isInteger(value.value) && !Number.isSafeInteger(value.value) ? value.text : String(value.value);
}
