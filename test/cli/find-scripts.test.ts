import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findScripts } from '../../src/cli/find-scripts.ts';

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
symlinkSync('../smoke', join(cwd, 'linked', 'to-folder'));
symlinkSync('nowhere.yaml', join(cwd, 'linked', 'to-nothing.yaml'));
symlinkSync('.', join(cwd, 'linked', 'circle'));

const below = ['smoke/a.yml', 'smoke/b.yaml', 'smoke/z/c.yaml', 'smoke/z/deep/d.flow.yaml'];

describe('scripts are found', () => {
  it.each<[what: string, args: string[], found: string[]]>([
    ['by their names, in the order given', ['smoke/b.yaml', 'smoke/a.yml'], ['smoke/b.yaml', 'smoke/a.yml']],
    ['even if there is no such file, which is said when it is read', ['none.yaml'], ['none.yaml']],
    ['whatever they are called', ['smoke/notes.md'], ['smoke/notes.md']],
    ['below a folder, other files and hidden ones left out', ['smoke'], below],
    ['below a folder with a slash', ['./smoke/'], below],
    [
      'once, however often they are named',
      ['smoke/b.yaml', './smoke/b.yaml', 'smoke', 'smoke/../smoke/b.yaml'],
      ['smoke/b.yaml', 'smoke/a.yml', 'smoke/z/c.yaml', 'smoke/z/deep/d.flow.yaml'],
    ],
    ['by a pattern in one folder', ['smoke/*.yaml'], ['smoke/b.yaml', 'smoke/profiles.yaml']],
    ['by a pattern for one character', ['smoke/?.y?ml'], ['smoke/b.yaml']],
    [
      'by a pattern over folders',
      ['smoke/**/*.yaml'],
      ['smoke/b.yaml', 'smoke/profiles.yaml', 'smoke/z/c.yaml', 'smoke/z/deep/d.flow.yaml'],
    ],
    ['by a pattern that begins anywhere', ['**/*.flow.yaml'], ['smoke/z/deep/d.flow.yaml']],
    ['by a pattern with a folder in the middle', ['smoke/*/deep/*'], ['smoke/z/deep/d.flow.yaml']],
    ['by a pattern that is written untidily', ['./smoke//z/../*.yaml'], ['smoke/b.yaml', 'smoke/profiles.yaml']],
    ['by a name that looks like a pattern', ['odd/star*.yaml'], ['odd/star*.yaml']],
    [
      'by a pattern beside signs that mean nothing in one',
      ['odd/[x].yam?', 'odd/a+b (?).yaml'],
      ['odd/[x].yaml', 'odd/a+b (1).yaml'],
    ],
    ['through a link to a file, and not through a link to a folder', ['linked'], ['linked/to-file.yaml']],
  ])('%s', (_, args, found) => {
    expect(findScripts(args, cwd)).toEqual(found);
  });

  it('by absolute paths and patterns', () => {
    expect(findScripts([join(cwd, 'smoke', 'z'), join(cwd, 'top.*')], '/')).toEqual([
      join(cwd, 'smoke/z/c.yaml'),
      join(cwd, 'smoke/z/deep/d.flow.yaml'),
      join(cwd, 'top.yaml'),
    ]);
  });

  it('above the working folder', () => {
    expect(findScripts(['../*.yaml', '..'], join(cwd, 'empty'))).toContain('../top.yaml');
  });
});

it('what holds no script is an error that names all of it, safely', () => {
  expect(() => findScripts(['smoke', 'empty', 'none/*', 'x\u001b[2J*'], cwd)).toThrow(
    'empty holds no script; none/* holds no script; x\\u001b[2J* holds no script',
  );
});
