import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readProperties } from '../../src/config/properties.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyString } from '../support/any-string.ts';
import { failureOf } from '../support/resolving.ts';

const read = (text: string) => readProperties(text, 'f.properties').map(({ name, value }) => [name, value]);

const unicode = 'write \\u00e9, or \\\\u for a backslash and a u';

describe('a properties file', () => {
  it.each([
    ['a=b', 'a', 'b'],
    ['a:b', 'a', 'b'],
    ['a b', 'a', 'b'],
    ['a\tb', 'a', 'b'],
    ['a = b', 'a', 'b'],
    ['a : b', 'a', 'b'],
    ['  a=b', 'a', 'b'],
    ['a=', 'a', ''],
    ['a', 'a', ''],
    ['a   ', 'a', ''],
    ['a=b=c:d', 'a', 'b=c:d'],
    ['a==b', 'a', '=b'],
    ['a: =b', 'a', '=b'],
    ['a=b  ', 'a', 'b  '],
    ['a=  b', 'a', 'b'],
    ['a=b # no comment', 'a', 'b # no comment'],
    ['a="b"', 'a', '"b"'],
    ['graph.client_id=x', 'graph.client_id', 'x'],
    ['a\\ b\\:c\\=d=e', 'a b:c=d', 'e'],
    ['\\#a=b', '#a', 'b'],
    ['a\u00a0b=c', 'a\u00a0b', 'c'],
    ['größe=漢字 😀', 'größe', '漢字 😀'],
    ['a=x\ufeffy', 'a', 'x\ufeffy'],
  ])('%j', (text, name, value) => {
    expect(read(text)).toEqual([[name, value]]);
  });

  it.each([
    ['a=\\ b', ' b'],
    ['a=x\\ny\\rz\\tt\\f', 'x\ny\rz\tt\f'],
    ['a=\\\\n', '\\n'],
    ['a=\\u00e9\\u6F22', 'é漢'],
    ['a=\\ud83d\\ude00', '😀'],
    ['a=\\\\u00e9', '\\u00e9'],
    ['a=\\q\\"\\#', 'q"#'],
    ['a=C:\\\\dir', 'C:\\dir'],
  ])('%j undoes escapes', (text, value) => {
    expect(read(text)).toEqual([['a', value]]);
  });

  it.each([
    ['a=b\\\nc', 'bc'],
    ['a=b\\\n   c', 'bc'],
    ['a=b\\\r\n\tc', 'bc'],
    ['a=b\\\rc', 'bc'],
    ['a=b\\\\\nc=d', 'b\\'],
    ['a=b\\\\\\\nc', 'b\\c'],
    ['a=b\\\n\\\n\\\nc', 'bc'],
    ['a=b\\\n# not a comment', 'b# not a comment'],
    ['a=b\\', 'b'],
    ['a\\\n=b', 'b'],
  ])('%j goes on in the next line, or not', (text, value) => {
    expect(read(text)[0]).toEqual(['a', value]);
  });

  it('has comments, blank lines, all line ends and a byte order mark', () => {
    const text = '\ufeffa=1\r\n# c=2\r!d=3\n\n   \n  # e\nf=4\\\n  5\ng=6';
    expect(readProperties(text, 'f').map(({ name, value, line }) => [name, value, line])).toEqual([
      ['a', '1', 1],
      ['f', '45', 7],
      ['g', '6', 9],
    ]);
  });

  it('that begins with a byte order mark may begin with a comment', () => {
    expect(read('\ufeff# comment\na=1')).toEqual([['a', '1']]);
  });

  it.each(['', '\n', '# x', '!', '\ufeff'])('may be empty: %j', (text) => {
    expect(read(text)).toEqual([]);
  });

  it.each([
    ['=hunter2', '1: has a value without a name', 'write name=value'],
    ['a=1\n: hunter2', '2: has a value without a name', 'write name=value'],
    ['a=hunter2\\u12', '1: \\u is not followed by four hex digits', unicode],
    ['a=1\nb=\\\n\\uhunter2', '2: \\u is not followed by four hex digits', unicode],
    ['a\\u=hunter2', '1: \\u is not followed by four hex digits', unicode],
    ['a=1\na=2', '2: a is defined twice', 'keep one of the two definitions of a'],
    ['a=1\n\\u0061=2', '2: a is defined twice', 'keep one of the two definitions of a'],
  ])('%j is refused with its line, and no value is quoted', (text, message, hint) => {
    const error = failureOf(() => readProperties(text, 'conf/f.properties'));
    expect(error.code).toBe('data_invalid');
    expect(error.message).toBe(`conf/f.properties:${message}`);
    expect(error.hint).toBe(hint);
  });

  // The whole of the largest file that is read; by the square of its lines it would take most of a minute.
  it('may go on over very many lines', () => {
    const count = 340_000;
    expect(read(`a=${'x\\\n'.repeat(count)}y`)).toEqual([['a', `${'x'.repeat(count)}y`]]);
  });
});

describe('any property', () => {
  /** As `java.util.Properties.store` writes it. */
  const written = (text: string, name: boolean) =>
    text
      .replace(/[\\=:#!]/g, '\\$&')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r')
      .replaceAll('\t', '\\t')
      .replaceAll('\f', '\\f')
      .replace(name ? / /g : /^ /, '\\ ');
  const ascii = (text: string) =>
    text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

  it('comes back as it was, in UTF-8 and in ASCII', () => {
    fc.assert(
      fc.property(anyString(1, 20), anyString(), (name, value) => {
        const line = `${written(name, true)}=${written(value, false)}`;
        expect(read(`# head\n${line}\n`)).toEqual([[name, value]]);
        expect(read(`${ascii(line)}\r\n`)).toEqual([[name, value]]);
      }),
      { numRuns: 500 },
    );
  });

  it('and any text at all is read or refused with an error of our own', () => {
    fc.assert(
      fc.property(anyString(0, 80), (text) => {
        try {
          readProperties(text, 'f');
        } catch (error) {
          expect(error).toBeInstanceOf(OAuthProfileError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
