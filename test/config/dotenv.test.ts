import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnv } from '../../src/config/dotenv.ts';
import { Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyString } from '../support/arbitraries.ts';
import { failureOf } from '../support/errors.ts';
import { resolved, sources } from '../support/variables.ts';

const read = (text: string) => readEnv(text, '.env').map(({ name, value }) => [name, value]);

/** Returns the resolved value of the variable `a` of a file. */
function resolveA(text: string): unknown {
  return resolved(new Variables().add(readEnv(text, '.env'), sources.given), 'a', { env: { X: 'followed' } });
}

describe('A .env file', () => {
  it.each([
    ['a=b', 'b'],
    ['a=', ''],
    ['a=""', ''],
    ["a=''", ''],
    ['  a  =  b  ', 'b'],
    ['export a=b', 'b'],
    ['export\ta=b', 'b'],
    ['a=b c', 'b c'],
    ['a=b=c==', 'b=c=='],
    ['a="b c"', 'b c'],
    ["a='b c'", 'b c'],
    ['a=" b "', ' b '],
    ["a=' b '", ' b '],
    [`a="it's"`, "it's"],
    [`a='say "hi"'`, 'say "hi"'],
    [`a=say "hi" it's`, `say "hi" it's`],
    ['a=C:\\dir\\n', 'C:\\dir\\n'],
    ['a=https://example.com/#top', 'https://example.com/#top'],
    ['a=漢字 😀', '漢字 😀'],
    ['a=x\u2028y', 'x\u2028y'],
  ])('defines a variable: %s', (text, value) => {
    expect(read(text)).toEqual([['a', value]]);
  });

  it.each([
    ['a=b # comment', 'b'],
    ['a=b\t#comment', 'b'],
    ['a=b#c', 'b#c'],
    ['a=pass#word#', 'pass#word#'],
    ['a=#b', ''],
    ['a= # b', ''],
    ['a="b # c"', 'b # c'],
    ['a="b" # c', 'b'],
    ['a="b"# c', 'b'],
    ["a='b # c' # d", 'b # c'],
    [`a='b' # it's`, 'b'],
    [`a="b" # "c"`, 'b'],
  ])('may have a comment after a value: %s', (text, value) => {
    expect(read(text)).toEqual([['a', value]]);
  });

  it.each([
    ['a="x\\ny"', 'x\ny'],
    ['a="x\\r\\ty"', 'x\r\ty'],
    ['a="x\\"y"', 'x"y'],
    ['a="x\\\\y"', 'x\\y'],
    ['a="x\\\\ny"', 'x\\ny'],
    ['a="x\\`y"', 'x`y'],
    ['a="C:\\dir"', 'C:\\dir'],
    ['a="\\d+\\."', '\\d+\\.'],
    ['a="x\\\ny"', 'xy'],
    ["a='x\\ny\\'", 'x\\ny\\'],
  ])('has the escapes of a shell in double quotes: %j', (text, value) => {
    expect(read(text)).toEqual([['a', value]]);
  });

  it.each([
    ['a=${env:X}', 'followed'],
    ['a="<${env:X}>"', '<followed>'],
    ["a='${env:X}'", '${env:X}'],
    ["a='$${env:X}'", '$${env:X}'],
    ['a="\\${env:X}"', '${env:X}'],
    ['a="$\\${env:X}"', '$${env:X}'],
    ['a="\\$\\${env:X} ${env:X}"', '$${env:X} followed'],
    ['a="\\$X $Y"', '$X $Y'],
    ['a=$${env:X}', '${env:X}'],
    ['a=$X', '$X'],
  ])('has references outside single quotes, unless escaped: %s', (text, value) => {
    expect(resolveA(text)).toBe(value);
  });

  it('has quoted values of several lines', () => {
    const text = `a="one\n two\n\n# three\n"\nb='x\n y' # c\nc=3\n`;
    expect(readEnv(text, '.env').map(({ name, value, line }) => [name, value, line])).toEqual([
      ['a', 'one\n two\n\n# three\n', 1],
      ['b', 'x\n y', 6],
      ['c', '3', 8],
    ]);
  });

  it('may have empty lines, comments, Windows line ends and a byte order mark', () => {
    const text = '\ufeffa=1\r\n\r\n  # comment\r\n#b=2\r\nc="3\r\n4"\r\n   \r\nd=5';
    expect(readEnv(text, '.env').map(({ name, value, line }) => [name, value, line])).toEqual([
      ['a', '1', 1],
      ['c', '3\n4', 5],
      ['d', '5', 8],
    ]);
  });

  it('may have dots and dashes in names', () => {
    expect(read('graph.client_id=x\nGRAPH_ID-2=y\n_a=z')).toEqual([
      ['graph.client_id', 'x'],
      ['GRAPH_ID-2', 'y'],
      ['_a', 'z'],
    ]);
  });

  it.each(['', '\n\n', '# only a comment', '  \t', '\ufeff'])('may be empty: %j', (text) => {
    expect(read(text)).toEqual([]);
  });

  it.each([
    ['hunter2', 1],
    ['a=1\nhunter2\nb=2', 2],
    ['=hunter2', 1],
    ['1a=hunter2', 1],
    ['a b=hunter2', 1],
    ['export hunter2', 1],
    ['a=1\nb="hunter2', 2],
    ["a=1\n\nb='hunter2\nc=3\n", 3],
    ['a="hunter2" hunter2', 1],
    [`a="hunter2"hunter2"`, 1],
    [`a='hunter2''hunter2'`, 1],
    [`a='hunter2`, 1],
    ['a="hunter2\\"', 1],
  ])('is rejected with the line of an error, without quoting it: %j', (text, line) => {
    const { code, message, hint } = failureOf(() => readEnv(text, 'conf/.env'));
    expect(code).toBe('data_invalid');
    expect(message).toMatch(new RegExp(`^conf/\\.env:${line}: `));
    expect(message + hint).not.toContain('hunter2');
  });

  it('cannot define a name twice', () => {
    expect(failureOf(() => readEnv('a=1\nb=2\na=3', '.env')).message).toBe('.env:3: a is defined twice');
  });

  it('may not have an unclosed quote, however long', () => {
    expect(failureOf(() => readEnv(`a="${'x\\n\n'.repeat(100_000)}`, '.env')).message).toContain('.env:1:');
    expect(failureOf(() => readEnv(`a='${'x\n'.repeat(100_000)}`, '.env')).message).toContain('.env:1:');
  });
});

describe('Any value', () => {
  it('is unchanged in double quotes', () => {
    const quote = (text: string) => text.replace(/[\\"$`]/g, '\\$&').replaceAll('\r', '\\r');
    fc.assert(
      fc.property(anyString(), anyString(), (one, two) => {
        const text = `# first\na="${quote(one)}"\nexport b = "${quote(two)}" # last\n`;
        const variables = new Variables().add(readEnv(text, '.env'), sources.given);
        expect([resolved(variables, 'a'), resolved(variables, 'b')]).toEqual([one, two]);
      }),
      { numRuns: 500 },
    );
  });

  it('is unchanged in single quotes', () => {
    const without = anyString().map((text) => text.replace(/['\r]/g, ''));
    fc.assert(
      fc.property(without, (value) => {
        expect(resolveA(`a='${value}'`)).toBe(value);
      }),
    );
  });

  it('without quotes loses surrounding spaces and a comment', () => {
    const bare = fc.stringMatching(/^[!-~]{1,3}([ !-~]{0,20}[!-~])?$/).filter((text) => !/^["'#]|\s#|\$\{/.test(text));
    fc.assert(
      fc.property(bare, (value) => {
        expect(resolveA(`a= ${value}  # comment`)).toBe(value);
      }),
    );
  });

  it('or other text is read, or rejected with an OAuthProfileError', () => {
    fc.assert(
      fc.property(anyString(0, 80), fc.constantFrom('', 'a=', 'a="', "a='"), (text, start) => {
        try {
          readEnv(start + text, '.env');
        } catch (error) {
          expect(error).toBeInstanceOf(OAuthProfileError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
