import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CaseFile, fileLanguages, type Part, parseCase, serializeCase } from './case-file.ts';

/** A case file from lines; `'''` is a fence. */
const lines = (...all: string[]): string => `${all.join('\n').replaceAll("'''", '```')}\n`;
const command = ["'''console", '$ oauth-profile', "'''"];

describe('parseCase', () => {
  it('reads the example in the README', () => {
    const readme = readFileSync(join(import.meta.dirname, 'cases', 'README.md'), 'utf8');
    const example = /^````markdown\n(.*?)^````$/ms.exec(readme)?.[1] ?? '';
    const { title, parts } = parseCase(example);
    expect(title).toBe('The token command prints a cached token without a second request');
    expect(parts.map(({ kind }) => kind)).toEqual(
      'prose file response command request command command stderr'.split(' '),
    );
    expect(parts.at(-2)).toEqual({ kind: 'command', line: 'echo "not found" >&2; exit 1', stdout: '', exit: 1 });
    expect(serializeCase({ title, parts })).toBe(example);
  });

  it('reads a command of several lines and its output', () => {
    const { parts } = parseCase(
      lines('# A', '', "'''console", '$ for a in b; do', '>   c', '> done', 'd', '> e', "'''"),
    );
    expect(parts).toEqual([{ kind: 'command', line: 'for a in b; do\n  c\ndone', stdout: 'd\n> e\n', exit: 0 }]);
  });

  it('reads escaped bytes, backslashes and a missing final newline', () => {
    const { parts } = parseCase(
      lines('# A', '', "'''text my data.txt {escaped}", 'a\\x09\\xff\\\\n', 'é\\', "'''", '', ...command),
    );
    const content = Buffer.concat([Buffer.from('a\t'), Buffer.from([0xff]), Buffer.from('\\n\né')]);
    expect(parts[0]).toEqual({ kind: 'file', language: 'text', path: 'my data.txt', content });
  });

  it.each<[string, string[], RegExp]>([
    ['no heading', command, /^line 1: expected a heading/],
    ['a second heading', ['# A', '', '# B', ...command], /^line 3: duplicate heading/],
    ['no command', ['# A', '', 'words'], /expected a console block/],
    ['an empty console block', ['# A', "'''console", "'''"], /^line 2: expected "\$ " and a command/],
    ['a block that is not closed', ['# A', ...command, "'''text stderr", 'a'], /^line 5: the block is not closed/],
    ['a block without a kind', ['# A', "'''", "'''", ...command], /^line 2: unknown kind/],
    ['a file without a path', ['# A', "'''yaml", "'''", ...command], /^line 2: unknown kind/],
    ['an unknown language', ['# A', "'''toml a.toml", "'''", ...command], /^line 2: unknown kind/],
    ['a misspelled kind', ['# A', ...command, "'''text stdrr", 'a', "'''"], /^line 5: unknown kind/],
    ['a misspelled message', ['# A', "'''http reponse", "'''", ...command], /^line 2: unknown kind/],
    ['an explicit exit status 0', ['# A', "'''console exit 0", '$ a', "'''"], /^line 2: unknown kind/],
    ['an unknown escape', ['# A', "'''text a.txt {escaped}", '\\t', "'''", ...command], /^line 2: expected \\xNN/],
    ['a duplicate file', ['# A', ..."'''json a.json|'''|'''json a.json|'''".split('|'), ...command], /duplicate file/],
    ['a file after a command', ['# A', ...command, "'''json a.json", "'''", ...command], /^line 5: files come before/],
    ['a response without a command', ['# A', ...command, "'''http response", "'''"], /expected a console block/],
    ['a stderr block without a command', ['# A', "'''text stderr", 'a', "'''", ...command], /^line 2: expected a cons/],
    [
      'a duplicate stderr block',
      ['# A', ...command, ..."'''text stderr|a|'''|'''text stderr|b|'''".split('|')],
      /one st/,
    ],
    ['an empty stderr block', ['# A', ...command, "'''text stderr", "'''"], /^line 5: remove the empty block/],
    ['a request before its command', ['# A', "'''http request", 'a', "'''", ...command], /^line 2: expected a console/],
  ])('rejects a case with %s', (_, text, message) => {
    expect(() => parseCase(lines(...text))).toThrow(message);
  });
});

describe('serializeCase', () => {
  const word = fc.stringMatching(/^[a-z$>#\\]{1,6}$/);
  const output = fc.oneof(
    fc.array(fc.constantFrom('a', ' ', '\n', '\\', '`', '```', '\t', '\r', '\u001b', 'é', '😀', '\u2028', '> ', '$ ')),
    fc.array(fc.string({ unit: 'grapheme' })),
  );
  const text = output.map((pieces) => pieces.join(''));
  const bytes = fc.oneof(
    text.map((all) => Buffer.from(all)),
    fc.uint8Array().map(Buffer.from),
  );
  const prose = fc
    .array(word, { minLength: 1 })
    .map((words): Part => ({ kind: 'prose', text: `See ${words.join('\n')}`.replace(/^# /gm, '#') }));
  const files = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...fileLanguages), word, bytes), { selector: ([, name]) => name })
    .map((all) =>
      all.map(([language, name, content]): Part => ({ kind: 'file', language, path: `a b/${name}.x`, content })),
    );
  const step = fc
    .record({
      before: fc.option(prose),
      responses: fc.array(bytes),
      command: fc.array(word, { minLength: 1 }),
      stdout: text,
      exit: fc.nat(255),
      stderr: text,
      requests: fc.array(text.filter((message) => message !== '')),
    })
    .map(({ before, responses, command: commandLines, stdout, exit, stderr, requests }): Part[] => [
      ...(before ? [before] : []),
      ...responses.map((message): Part => ({ kind: 'response', message })),
      { kind: 'command', line: commandLines.join('\n'), stdout, exit },
      ...(stderr === '' ? [] : [{ kind: 'stderr', text: stderr } as const]),
      ...requests.map((message): Part => ({ kind: 'request', message })),
    ]);
  const caseFile = fc
    .tuple(word, files, fc.array(step, { minLength: 1 }))
    .map(([title, inputs, steps]): CaseFile => ({ title, parts: [...inputs, ...steps.flat()] }));

  it('writes what parseCase reads back', () => {
    fc.assert(
      fc.property(caseFile, (file) => {
        expect(parseCase(serializeCase(file))).toEqual(file);
      }),
    );
  });

  it('writes no character that a reader cannot see', () => {
    fc.assert(
      fc.property(caseFile, (file) => {
        expect(serializeCase(file)).not.toMatch(/(?!\n)\p{Cc}|\p{Zl}|\p{Zp}| $/mu);
      }),
    );
  });
});
