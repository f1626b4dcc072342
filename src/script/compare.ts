import { isCollection, RawScalar, toText, type Value } from '../config/value.ts';
import { truncate } from '../redaction/sanitize.ts';
import { joinStrings, Secret } from '../redaction/secret.ts';

/** Compares two values as assertions do: scalars as strings, so that `200` equals `"200"`; lists and maps by value. */
export function isSameValue(one: Value, other: Value): boolean {
  return canonicalize(one) === canonicalize(other);
}

/** Returns whether a string contains a substring, or a list an item. */
export function contains(whole: Value, part: Value): boolean {
  if (Array.isArray(whole)) return whole.some((item: Value) => isSameValue(item, part));
  return testStrings(stringifyValue(whole), stringifyValue(part), (text, substring) => text.includes(substring));
}

/** Formats a value for output: secrets masked, lists and maps as JSON. */
export function displayValue(value: Value): string {
  return isCollection(value) ? toJson(value).join('') : String(toText(value));
}

/** Redacting a longer string would take longer than the step itself. */
export const MAX_REDACTED = 1_048_576;

/** Masks the secrets in a string, then truncates it. Of a string that is too long to search, only its length is shown. */
export function displayText(text: string, length: number, redact: (text: string) => string): string {
  if (text.length > MAX_REDACTED) return `<${text.length} characters>`;
  const safe = redact(text);
  const shown = safe.length <= length ? safe : truncate(safe, length);
  return shown === safe ? safe : `${shown}… (${safe.length - shown.length} more characters)`;
}

/** Converts a value to a string, lists and maps to JSON; a secret in the value makes the whole string a secret. */
export function stringifyValue(value: Value): string | Secret {
  return isCollection(value) ? joinStrings(toJson(value)) : toText(value);
}

/** Applies a predicate to a string, secret or not. */
export function testString(text: string | Secret, predicate: (clear: string) => boolean): boolean {
  return typeof text === 'string' ? predicate(text) : text.test(predicate);
}

/** Applies a predicate to two strings, secret or not. */
export function testStrings(
  one: string | Secret,
  other: string | Secret,
  predicate: (one: string, other: string) => boolean,
): boolean {
  return testString(one, (clear) => testString(other, (otherClear) => predicate(clear, otherClear)));
}

/** Serializes a value as JSON in pieces: numbers with all of their digits, which `JSON.stringify` would round, and secrets wrapped. */
export function toJson(value: Value): (string | Secret)[] {
  if (value instanceof Secret) return ['"', value.map((clear) => JSON.stringify(clear).slice(1, -1)), '"'];
  if (value instanceof RawScalar) return [numberToJson(value)];
  if (!isCollection(value)) return [JSON.stringify(value)];
  const isList = Array.isArray(value);
  const parts = Object.entries(value).flatMap(([name, part], index) => [
    `${index === 0 ? '' : ','}${isList ? '' : `${JSON.stringify(name)}:`}`,
    ...toJson(part),
  ]);
  return isList ? ['[', ...parts, ']'] : ['{', ...parts, '}'];
}

/** A number that is not valid JSON, such as `007`, is a string: an identifier must not lose its zeros. */
function numberToJson({ text, value }: RawScalar): string {
  if (typeof value === 'boolean') return String(value);
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? text : JSON.stringify(text);
}

/** Returns the same string for equal values; the members of a map are sorted by name. */
function canonicalize(value: Value): string {
  if (value instanceof Secret) return value.reveal();
  if (!isCollection(value)) return String(toText(value));
  if (Array.isArray(value)) return `[${value.map((part: Value) => canonicalizeInside(part)).join()}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${canonicalizeInside(part)}`).join()}}`;
}

/** Inside lists and maps a number differs from a string: `[1]` is not `["1"]`, but `[1.0]` is `[1]`. */
function canonicalizeInside(value: Value): string {
  if (isCollection(value)) return canonicalize(value);
  if (value instanceof Secret) return JSON.stringify(value.reveal());
  if (value instanceof RawScalar)
    return canonicalizeNumber(Number.isFinite(Number(value.value)) ? numberToJson(value) : value.text);
  return typeof value === 'number' ? canonicalizeNumber(String(value)) : JSON.stringify(value);
}

/** Returns one notation for each number, regardless of zeros and exponent, without losing a digit. */
function canonicalizeNumber(numeral: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(numeral) ?? [];
  if (whole === '') return numeral;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/(?<!0)0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
