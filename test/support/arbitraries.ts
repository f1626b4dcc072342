import fc from 'fast-check';

const from = (min: number, max: number) => fc.integer({ min, max }).map((point) => String.fromCodePoint(point));

/** Any character; those with a meaning in a syntax are more frequent. */
export const anyCharacter = fc.oneof(
  from(0, 0x7f),
  from(0x20, 0x7e),
  fc.constantFrom(...'${}[]:-."\'\\%&#=!*\r\n\t \0'),
  from(0x80, 0xd7ff),
  from(0xe000, 0xffff),
  from(0x10000, 0x10ffff),
);

/** Any well-formed string with this number of characters. */
export function anyString(minLength = 0, maxLength = 40): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, minLength, maxLength });
}

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
