import { isCollection, RawScalar, toText, type Value } from '../config/value.ts';
import { Secret } from '../redaction/secret.ts';

/** Whether two values are equal to an assertion: scalars as text, so that `200` equals `"200"`; what has parts part by part. */
export function sameValue(one: Value, other: Value): boolean {
  return canonical(one) === canonical(other);
}

/** Whether a text contains a part of it, or a list an item. */
export function contains(whole: Value, part: Value): boolean {
  if (Array.isArray(whole)) return whole.some((item: Value) => sameValue(item, part));
  return withValues(textValue(whole), textValue(part), (text, substring) => text.includes(substring));
}

/** A value as a person is shown it: secrets masked, parts as JSON. */
export function display(value: Value): string {
  return isCollection(value) ? jsonOf(value, String) : String(toText(value));
}

/** A value as text that questions can be asked of; a secret within makes all of it one. */
export function textValue(value: Value): string | Secret {
  if (!isCollection(value)) return toText(value);
  let secret = false;
  const clear = jsonOf(value, (part) => {
    secret = true;
    return part.reveal();
  });
  return secret ? new Secret(clear) : clear;
}

/** Answers a question about a text, secret or not. */
export function withValue(text: string | Secret, question: (clear: string) => boolean): boolean {
  return typeof text === 'string' ? question(text) : text.test(question);
}

/** Answers a question about two texts. */
export function withValues(
  one: string | Secret,
  other: string | Secret,
  question: (one: string, other: string) => boolean,
): boolean {
  return withValue(one, (clear) => withValue(other, (otherClear) => question(clear, otherClear)));
}

/** A number as JSON has it: with the digits that it was written with, which `JSON.stringify` would round away. */
export function numeralOf({ text, value }: RawScalar): string {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? text : JSON.stringify(value);
}

function jsonOf(value: Value, show: (secret: Secret) => string): string {
  if (value instanceof Secret) return JSON.stringify(show(value));
  if (value instanceof RawScalar) return numeralOf(value);
  if (!isCollection(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((part: Value) => jsonOf(part, show)).join()}]`;
  return `{${Object.entries(value)
    .map(([name, part]) => `${JSON.stringify(name)}:${jsonOf(part, show)}`)
    .join()}}`;
}

/** One text for each value; members in the order of their names. */
function canonical(value: Value): string {
  if (value instanceof Secret) return value.reveal();
  if (!isCollection(value)) return String(toText(value));
  if (Array.isArray(value)) return `[${value.map((part: Value) => quoted(part)).join()}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${quoted(part)}`).join()}}`;
}

/** Inside of parts a number is not its text: `[1]` is not `["1"]`, but `[1.0]` is `[1]`. */
function quoted(value: Value): string {
  if (isCollection(value)) return canonical(value);
  if (value instanceof Secret) return JSON.stringify(value.reveal());
  if (value instanceof RawScalar) return shortest(Number.isFinite(Number(value.value)) ? numeralOf(value) : value.text);
  return typeof value === 'number' ? shortest(String(value)) : JSON.stringify(value);
}

/** One spelling for each number, whatever its zeros and its exponent, and without losing a digit. */
function shortest(numeral: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(numeral) ?? [];
  if (whole === '') return numeral;
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end === 0 ? '0' : `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
