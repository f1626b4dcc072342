import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readProperties } from '../../src/config/properties.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyString } from '../support/arbitraries.ts';
import { failureOf } from '../support/errors.ts';

const read = (text: string) => readProperties(text, 'f.properties').map(({ name, value }) => [name, value]);

describe('A .properties file', () => {
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
  ])('defines a variable: %j', (text, name, value) => {
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
  ])('has escapes: %j', (text, value) => {
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
  ])('may continue a value on the next line: %j', (text, value) => {
    expect(read(text)[0]).toEqual(['a', value]);
  });

  it('may have comments, empty lines, any line ends and a byte order mark', () => {
    const text = '\ufeffa=1\r\n# c=2\r!d=3\n\n   \n  # e\nf=4\\\n  5\ng=6';
    expect(readProperties(text, 'f').map(({ name, value, line }) => [name, value, line])).toEqual([
      ['a', '1', 1],
      ['f', '45', 7],
      ['g', '6', 9],
    ]);
  });

  it('may have a comment after a byte order mark', () => {
    expect(read('\ufeff# comment\na=1')).toEqual([['a', '1']]);
  });

  it.each(['', '\n', '# x', '!', '\ufeff'])('may be empty: %j', (text) => {
    expect(read(text)).toEqual([]);
  });

  it.each([
    ['=hunter2', 1],
    ['a=1\n: hunter2', 2],
    ['a=hunter2\\u12', 1],
    ['a=1\nb=\\\n\\uhunter2', 2],
    ['a\\u=hunter2', 1],
    ['a=1\na=hunter2', 2],
    ['a=1\n\\u0061=hunter2', 2],
  ])('is rejected with the line of an error, without quoting it: %j', (text, line) => {
    const { code, message, hint } = failureOf(() => readProperties(text, 'conf/f.properties'));
    expect(code).toBe('data_invalid');
    expect(message).toMatch(new RegExp(`^conf/f\\.properties:${line}: `));
    expect(message + hint).not.toContain('hunter2');
  });

  // As many lines as the largest file has; a quadratic parser would need most of a minute.
  it('may continue a value over very many lines', () => {
    const count = 340_000;
    expect(read(`a=${'x\\\n'.repeat(count)}y`)).toEqual([['a', `${'x'.repeat(count)}y`]]);
  });
});

describe('Any property', () => {
  /** Escapes a name or value as `java.util.Properties.store` does. */
  const toJava = (text: string, name: boolean) =>
    text
      .replace(/[\\=:#!]/g, '\\$&')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r')
      .replaceAll('\t', '\\t')
      .replaceAll('\f', '\\f')
      .replace(name ? / /g : /^ /, '\\ ');
  const ascii = (text: string) =>
    text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

  it('is unchanged when written by Java, in UTF-8 and in ASCII', () => {
    fc.assert(
      fc.property(anyString(1, 20), anyString(), (name, value) => {
        const line = `${toJava(name, true)}=${toJava(value, false)}`;
        expect(read(`# head\n${line}\n`)).toEqual([[name, value]]);
        expect(read(`${ascii(line)}\r\n`)).toEqual([[name, value]]);
      }),
      { numRuns: 500 },
    );
  });

  it('or other text is read, or rejected with an OAuthProfileError', () => {
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
