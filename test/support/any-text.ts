import fc from 'fast-check';

const ascii = fc.integer({ min: 0, max: 0x7f }).map((point) => String.fromCodePoint(point));
const anyUnit = fc.oneof(
  ascii,
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  fc.integer({ min: 0x10000, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
);
const special = fc.constantFrom(
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

/** Any well-formed string, control characters and special characters included. */
export const anyText = fc
  .array(fc.oneof(ascii, special, anyUnit), { maxLength: 12 })
  .map((parts) => parts.join('').toWellFormed());

/** Any string, lone surrogates included. */
export const anyUnits = fc.array(anyUnit, { maxLength: 12 }).map((parts) => parts.join(''));
