import { describe, expect, test } from 'vitest';
import { compileWords, findWords } from '../../tools/words.js';
import config from '../../tools/words.json' with { type: 'json' };

const words = compileWords(config.words as Parameters<typeof compileWords>[0]);
const find = (path: string, source: string): string[] =>
  findWords(path, source, words).map(({ line, word }) => `${line}: ${word}`);

describe('check-words', () => {
  test('every entry names a replacement and compiles', () => {
    for (const { find: pattern, use } of config.words) {
      expect(use, pattern).not.toBe('');
      expect(() => new RegExp(pattern)).not.toThrow();
    }
  });

  test('words are found in comments, strings, templates and declared names', () => {
    const source = [
      '// A kept token.',
      'const isKeptToken = 1;',
      "const message = 'the refusal';",
      'const template = `a ${message} in vain`;',
      'interface Options { fullWish: string }',
      'function f(KEPT_TOKEN: string) { return KEPT_TOKEN; }',
      'const b = 1; // for whoever',
      '',
    ].join('\n');
    expect(find('src/sample.ts', source)).toEqual([
      '1: kept',
      '2: kept',
      '3: refusal',
      '4: in vain',
      '5: wish',
      '6: kept',
      '7: whoever',
    ]);
  });

  test('the line of a word inside a long comment or string is its own', () => {
    expect(find('src/sample.ts', '/**\n * One line,\n * then nobody.\n */\nexport const a = `x\nadvice`;\n')).toEqual([
      '3: nobody',
      '6: advice',
    ]);
  });

  test('comments at the end of a block are read', () => {
    expect(find('src/sample.ts', 'if (a) {\n  b();\n  // in vain\n}\n')).toEqual(['3: in vain']);
  });

  test('names of libraries are not reported where they are only used', () => {
    const source = "import { sealed } from 'library';\nsealed.kept();\nconst { anew } = sealed;\nexport { anew };\n";
    expect(find('src/sample.ts', source)).toEqual([]);
  });

  test('only the start of a comment is checked for openings', () => {
    expect(find('src/sample.ts', '// What it does.\n// What follows.\n\n/** Of interest. */\nlet a;\n')).toEqual([
      '1: What',
      '4: Of',
    ]);
  });

  test('file names are checked', () => {
    expect(find('src/kept-record.ts', '')).toEqual(['1: kept']);
  });

  test.each([
    'connection refused',
    'ECONNREFUSED',
    'the code is proxy_refused',
    'an email address',
    'the IP address of the host',
    'listen EADDRINUSE: address already in use',
    'a certificate chain',
    'the claim "aud"',
    'the keychain',
    'this is no longer needed',
    'the equals sign',
    'send it as text/html',
    'wait for requests in flight',
    'a blank line',
  ])('technical use is allowed: %s', (text) => {
    expect(find('README.md', `${text}\n`)).toEqual([]);
  });

  test.each([
    ['the provider refused', 'refused'],
    ['the address of the provider', 'address'],
    ['the chain of this login', 'chain'],
    ['--min-ttl is no time', 'is no'],
    ['ends with a sign', 'a sign'],
    ['such a text', 'a text'],
    ['the provider is asked for a token', 'is asked'],
    ['client_auth: basic_raw', 'client_auth: basic_raw'],
    ['use --fresh', '--fresh'],
  ])('private use is reported: %s', (text, word) => {
    expect(find('README.md', `${text}\n`)).toEqual([`1: ${word}`]);
  });

  test('a server that returns an address object may name it so', () => {
    expect(find('src/sample.ts', 'const address = server.address();\n')).toEqual([]);
    expect(find('src/sample.ts', 'const address = readUrl();\n')).toEqual(['1: address']);
  });

  test('"fault" is allowed in the emulator only', () => {
    expect(find('src/emulator/faults.ts', 'const fault = 1;\n')).toEqual([]);
    expect(find('src/profile/check.ts', 'const fault = 1;\n')).toEqual(['1: fault']);
  });

  test('"folder" is allowed in documents, not in code', () => {
    expect(find('docs/start.md', 'your folder\n')).toEqual([]);
    expect(find('src/sample.ts', 'const folder = 1;\n')).toEqual(['1: folder']);
  });
});
