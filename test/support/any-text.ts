import fc from 'fast-check';

const ascii = fc.integer({ min: 0, max: 0x7f }).map((point) => String.fromCodePoint(point));
const anyUnit = fc.oneof(
  ascii,
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  fc.integer({ min: 0x10000, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
);
const telling = fc.constantFrom(
  '%20',
  '%',
  '+',
  ' ',
  '&',
  '=',
  ':',
  '\r\n',
  '\0',
  '%2B',
  'ü',
  '€',
  '😀',
  '~',
  '\u2028',
  '"',
);

/** Any text that UTF-8 can carry, controls and signs with a meaning of their own included. */
export const anyText = fc
  .array(fc.oneof(ascii, telling, anyUnit), { maxLength: 12 })
  .map((parts) => parts.join('').toWellFormed());

/** Any sequence of UTF-16 units, halves of surrogate pairs included. */
export const anyUnits = fc.array(anyUnit, { maxLength: 12 }).map((parts) => parts.join(''));
