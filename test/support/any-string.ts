import fc from 'fast-check';

const from = (min: number, max: number) => fc.integer({ min, max }).map((point) => String.fromCodePoint(point));

/** Any character, signs with a meaning of their own more often than others. */
export const anyCharacter = fc.oneof(
  from(0, 0x7f),
  from(0x20, 0x7e),
  fc.constantFrom(...'${}[]:-."\'\\%&#=!*\r\n\t \0'),
  from(0x80, 0xd7ff),
  from(0xe000, 0xffff),
  from(0x10000, 0x10ffff),
);

/** Any well-formed text of so many characters. */
export function anyString(minLength = 0, maxLength = 40): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, minLength, maxLength });
}
