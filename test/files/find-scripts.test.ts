import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findScripts } from '../../src/files/find-scripts.ts';
import { failureOf } from '../support/errors.ts';

const cwd = mkdtempSync(join(tmpdir(), 'oauth-profile-find-'));
afterAll(() => rmSync(cwd, { recursive: true }));

const script = 'name: x\nsteps:\n  - base.verbose: hello\n';
const files: Record<string, string> = {
  'smoke/b.yaml': script,
  'smoke/a.yml': `"steps" : []\n${script}`,
  'smoke/z/c.yaml': script,
  'smoke/z/deep/d.flow.yaml': script,
  'smoke/profiles.yaml': 'graph:\n  steps: none of this\n',
  'smoke/notes.md': script,
  'smoke/B.YAML': script,
  'smoke/.draft.yaml': script,
  'smoke/.git/x.yaml': script,
  'smoke/node_modules/x.yaml': script,
  'odd/[x].yaml': script,
  'odd/a+b (1).yaml': script,
  'odd/star*.yaml': script,
  'empty/profiles.yaml': 'a: 1\n',
  'top.yaml': script,
};
for (const [name, text] of Object.entries(files)) {
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
}
mkdirSync(join(cwd, 'linked'));
symlinkSync('../top.yaml', join(cwd, 'linked', 'to-file.yaml'));
symlinkSync('../smoke', join(cwd, 'linked', 'to-directory'));
symlinkSync('nowhere.yaml', join(cwd, 'linked', 'to-nothing.yaml'));
symlinkSync('.', join(cwd, 'linked', 'cycle'));

const below = ['smoke/a.yml', 'smoke/b.yaml', 'smoke/z/c.yaml', 'smoke/z/deep/d.flow.yaml'];

describe('findScripts()', () => {
  it.each<[what: string, args: string[], found: string[]]>([
    ['returns files in the order given', ['smoke/b.yaml', 'smoke/a.yml'], ['smoke/b.yaml', 'smoke/a.yml']],
    ['returns a file that does not exist: reading it reports the error', ['none.yaml'], ['none.yaml']],
    ['returns a file with any extension', ['smoke/notes.md'], ['smoke/notes.md']],
    ['returns the scripts below a directory, without other and hidden files', ['smoke'], below],
    ['accepts a directory with a trailing slash', ['./smoke/'], below],
    [
      'returns each script once',
      ['smoke/b.yaml', './smoke/b.yaml', 'smoke', 'smoke/../smoke/b.yaml'],
      ['smoke/b.yaml', 'smoke/a.yml', 'smoke/z/c.yaml', 'smoke/z/deep/d.flow.yaml'],
    ],
    ['matches * within one directory', ['smoke/*.yaml'], ['smoke/b.yaml', 'smoke/profiles.yaml']],
    ['matches ? with one character', ['smoke/?.y?ml'], ['smoke/b.yaml']],
    [
      'matches ** across directories',
      ['smoke/**/*.yaml'],
      ['smoke/b.yaml', 'smoke/profiles.yaml', 'smoke/z/c.yaml', 'smoke/z/deep/d.flow.yaml'],
    ],
    ['matches a leading **', ['**/*.flow.yaml'], ['smoke/z/deep/d.flow.yaml']],
    ['matches * as a directory', ['smoke/*/deep/*'], ['smoke/z/deep/d.flow.yaml']],
    ['normalizes a pattern', ['./smoke//z/../*.yaml'], ['smoke/b.yaml', 'smoke/profiles.yaml']],
    ['prefers a file whose name looks like a pattern', ['odd/star*.yaml'], ['odd/star*.yaml']],
    [
      'takes other characters of a pattern literally',
      ['odd/[x].yam?', 'odd/a+b (?).yaml'],
      ['odd/[x].yaml', 'odd/a+b (1).yaml'],
    ],
    ['follows a link to a file, but not a link to a directory', ['linked'], ['linked/to-file.yaml']],
  ])('%s', (_, args, found) => {
    expect(findScripts(args, cwd)).toEqual(found);
  });

  it.each([
    'steps: none',
    'step:\n  - base.verbose: x',
    'name: x\n"data": {a: 1}',
    'setup:\n  - x',
    '- ws.get: x',
    'ws.get: x',
    '  - base.verbose: x',
    '- xml.storeValue: []',
  ])('in a directory, %j is meant as a script', (text) => {
    mkdirSync(join(cwd, 'meant'), { recursive: true });
    writeFileSync(join(cwd, 'meant', 'x.yaml'), text);
    expect(findScripts(['meant'], cwd)).toEqual(['meant/x.yaml']);
  });

  it('lists other YAML files of a directory as skipped', () => {
    const skipped: string[] = [];
    findScripts(['smoke'], cwd, skipped);
    expect(skipped).toEqual(['smoke/profiles.yaml']);
  });

  it('accepts absolute paths and patterns', () => {
    expect(findScripts([join(cwd, 'smoke', 'z'), join(cwd, 'top.*')], '/')).toEqual([
      join(cwd, 'smoke/z/c.yaml'),
      join(cwd, 'smoke/z/deep/d.flow.yaml'),
      join(cwd, 'top.yaml'),
    ]);
  });

  it('searches parents of the working directory', () => {
    expect(findScripts(['../*.yaml', '..'], join(cwd, 'empty'))).toContain('../top.yaml');
  });

  it('reports all arguments without a script in one error, with control characters escaped', () => {
    const { code, message } = failureOf(() => findScripts(['smoke', 'empty', 'none/*', 'x\u001b[2J*'], cwd));
    expect(code).toBe('usage');
    for (const shown of ['empty', 'none/*', 'x\\u001b[2J*']) expect(message).toContain(shown);
    expect(message).not.toContain('smoke');
  });
});
