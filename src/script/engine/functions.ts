import { createHash, createHmac, randomInt, randomUUID } from 'node:crypto';
import type { CallFunction } from '../../config/resolver.ts';
import { isCollection, type Value } from '../../config/value.ts';
import type { Clock } from '../../ports.ts';
import { parseDuration } from '../../profile/options/options.ts';
import { Secret } from '../../redaction/secret.ts';
import { stringifyValue } from '../compare.ts';
import { toNumber } from '../parameter-kinds.ts';
import { assertStep, StepFailure } from '../step-context.ts';

const DAY_MS = 86_400_000;

/** Creates the functions of references. The caller wraps the result if an argument is a secret. */
export function createFunctions(clock: Clock): CallFunction {
  const time = (offset: Value | undefined): Date =>
    new Date(clock.now() + (offset === undefined ? 0 : parseOffset(offset)));
  const implementations: Readonly<Record<string, (...args: Value[]) => Value>> = {
    uuid: () => randomUUID(),
    now: (offset) => time(offset).toISOString(),
    date: (format, offset) => formatDate(time(offset), revealText(format)),
    random: (min, max) => randomBetween(min, max),
    base64: (value) => Buffer.from(revealText(value)).toString('base64'),
    base64url: (value) => Buffer.from(revealText(value)).toString('base64url'),
    urlencode: (value) => encodeURIComponent(revealText(value).toWellFormed()),
    sha256: (value) => createHash('sha256').update(revealText(value)).digest('hex'),
    hmacSha256: (key, value) => createHmac('sha256', revealText(key)).update(revealText(value)).digest('hex'),
    json: (value) => revealText(typeof value === 'string' ? JSON.stringify(value) : value),
    lower: (value) => revealText(value).toLowerCase(),
    upper: (value) => revealText(value).toUpperCase(),
    trim: (value) => revealText(value).trim(),
    length: (value = '') => (isCollection(value) ? Object.keys(value).length : [...revealText(value)].length),
  };
  return (name, args) => implementations[name]?.(...args) ?? '';
}

function revealText(value: Value = ''): string {
  const text = stringifyValue(value);
  return text instanceof Secret ? text.reveal() : text;
}

/** Parses `+1h`, `-30d`; days in addition to the units of durations. */
function parseOffset(offset: Value): number {
  const [, sign, amount = '', unit] = /^([+-]?)(\d+(?:\.\d+)?)([a-z]+)$/.exec(revealText(offset)) ?? [];
  const ms = unit === 'd' ? Number(amount) * DAY_MS : parseDuration(`${amount}${unit}`);
  if (ms === undefined) throw new StepFailure('the offset of a time must be a duration such as "+1h", "-30m" or "+7d"');
  return sign === '-' ? -ms : ms;
}

function formatDate(date: Date, format: string): string {
  const pad = (number: number, length = 2): string => String(number).padStart(length, '0');
  const parts: Readonly<Record<string, () => string>> = {
    yyyy: () => pad(date.getUTCFullYear(), 4),
    MM: () => pad(date.getUTCMonth() + 1),
    dd: () => pad(date.getUTCDate()),
    HH: () => pad(date.getUTCHours()),
    mm: () => pad(date.getUTCMinutes()),
    ss: () => pad(date.getUTCSeconds()),
    SSS: () => pad(date.getUTCMilliseconds(), 3),
  };
  return format.replace(/yyyy|MM|dd|HH|mm|SSS|ss/g, (part) => parts[part]?.() ?? part);
}

function randomBetween(min: Value = '', max: Value = ''): number {
  const [from, to] = [toNumber(min) ?? Number.NaN, toNumber(max) ?? Number.NaN];
  const areIntegers = Number.isSafeInteger(from) && Number.isSafeInteger(to);
  // `randomInt` supports ranges of less than 2^48.
  const isRange = areIntegers && from <= to && to - from < 2 ** 48 - 1;
  assertStep(isRange, 'random expects two integers, the smaller one first');
  return randomInt(from, to + 1);
}
