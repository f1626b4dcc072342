import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { editCargoConfig } from '../../../src/cli/configure/cargo.ts';
import { editDockerConfig } from '../../../src/cli/configure/docker.ts';
import { applyEdit, describeEdit, planEdit } from '../../../src/cli/configure/file-edit.ts';
import { editKubeconfig } from '../../../src/cli/configure/kubectl.ts';
import { editNpmrc } from '../../../src/cli/configure/npmrc.ts';

type Edit = (text: string | undefined, undo: boolean) => string | undefined;

const docker: Edit = (text, undo) =>
  editDockerConfig(text, ['r.example.com', 'r.example.com:5000'], 'oauth-profile-lab', undo);
const npmrc: Edit = (text, undo) => editNpmrc(text, ['npm.example.com'], '/home/ada/.local/bin/helper', undo);
const cargo: Edit = (text, undo) =>
  editCargoConfig(text, ['https://*.example.com'], 'lab', ['oauth-profile', '--profile', 'lab'], undo);
const entry = { name: 'oauth-profile-lab', command: 'oauth-profile', args: ['credential', 'kubernetes', 'lab'] };
const kubectl: Edit = (text, undo) => editKubeconfig(text, entry, undo);

const registry = '[registries.corp]\nindex = "sparse+https://crates.example.com/index/"';
const user = '- name: ada\n  user:\n    token: secret # mine\n';

describe('an edit of a configuration file', () => {
  it.each<[string, Edit, string | undefined]>([
    ['docker: no file', docker, undefined],
    ['docker: other members, tabs', docker, '{\n\t"auths": {\n\t\t"x": {}\n\t}\n}'],
    ['docker: other helpers, spaces, a line end', docker, '{\n    "credHelpers": {\n        "x": "y"\n    }\n}\n'],
    ['pnpm: no file', npmrc, undefined],
    ['pnpm: comments and no line end', npmrc, '; mine\nregistry=https://x/\n//x/:_authToken=${TOKEN}'],
    ['pnpm: CRLF', npmrc, 'a=b\r\nc=d\r\n'],
    ['cargo: comments', cargo, `# mine\n[net]\nretry = 1\n\n${registry} # index\n\n[registries.other]\nindex = "x"\n`],
    ['cargo: quoted name, no line end', cargo, registry.replace('corp', '"corp"')],
    ['cargo: literal string', cargo, registry.replaceAll('"', "'")],
    ['kubectl: no file', kubectl, undefined],
    ['kubectl: kubectl style', kubectl, `apiVersion: v1\nusers:\n${user}# end\ncontexts: []`],
    [
      'kubectl: indented list',
      kubectl,
      `users:\n  # first\n${user.replace(/^/gm, '  ').trimEnd()}\n  - name: eve\n    user: {}\n`,
    ],
    ['kubectl: empty list', kubectl, 'apiVersion: v1\nusers: []\n'],
    ['kubectl: JSON-like scalars', kubectl, `kind: "Config"\nusers:\n${user}\n\npreferences: {}\n`],
  ])('is idempotent and can be undone exactly: %s', (_, edit, text) => {
    const once = edit(text, false);
    expect(once).not.toBe(text);
    expect(edit(once, false)).toBe(once);
    expect(edit(once, true)).toBe(text);
    expect(edit(text, true)).toBe(text);
  });

  it('adds entries that the tools find', () => {
    expect(JSON.parse(docker('{"credHelpers":{"x":"y"}}', false) ?? '')).toEqual({
      credHelpers: { x: 'y', 'r.example.com': 'oauth-profile-lab', 'r.example.com:5000': 'oauth-profile-lab' },
    });
    expect(cargo(`${registry}\n`, false)).toBe(
      `[registries.corp]\ncredential-provider = ["oauth-profile","--profile","lab"]\n${registry.split('\n')[1]}\n`,
    );
    const config = parse(kubectl(`users:\n${user}`, false) ?? '');
    expect(config.users).toEqual([
      {
        name: entry.name,
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: entry.command,
            args: entry.args,
            interactiveMode: 'Never',
            provideClusterInfo: true,
          },
        },
      },
      { name: 'ada', user: { token: 'secret' } },
    ]);
  });

  it('does not replace the entries of others', () => {
    expect(() => docker('{"credHelpers":{"r.example.com":"desktop"}}', false)).toThrow(/desktop/);
    expect(() => npmrc('//npm.example.com/:tokenHelper = /other', false)).toThrow(/npm.example.com/);
    expect(() => cargo(`${registry}\ncredential-provider = "cargo:token"\n`, false)).toThrow(/corp/);
    const foreign = '{"credHelpers":{"r.example.com":"desktop"}}';
    expect(docker(foreign, true)).toBe(foreign);
  });

  it.each<[Edit, string]>([
    [docker, '{'],
    [docker, '[]'],
    [kubectl, 'users: [1, 2'],
    [kubectl, 'users: text'],
    [kubectl, 'users: [{name: ada}]'],
    [cargo, '[registries.corp]\nindex = "sparse+https://evil.com/https://crates.example.com"'],
    [cargo, ''],
  ])('rejects a file that it cannot change', (edit, text) => {
    expect(() => edit(text, false)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('applyEdit()', () => {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-edit-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('keeps the mode and the link of a file, and leaves no temporary file', () => {
    const [file, link] = [join(directory, 'config'), join(directory, 'link')];
    writeFileSync(file, 'before');
    chmodSync(file, 0o640);
    symlinkSync(file, link);
    applyEdit(planEdit(link, () => 'after'));
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['after', 0o640]);
    expect(readdirSync(directory).sort()).toEqual(['config', 'link']);
  });

  it('creates directories and a file with the mode, and deletes it', () => {
    const path = join(directory, 'a', 'b', 'shim');
    applyEdit(planEdit(path, () => '#!/bin/sh\n', 0o755));
    expect(statSync(path).mode & 0o777).toBe(0o755);
    applyEdit(planEdit(path, () => undefined));
    expect(readdirSync(join(directory, 'a', 'b'))).toEqual([]);
  });

  it('reports a file that cannot be written', () => {
    const edit = planEdit('/proc/no-such-directory/file', () => 'x');
    expect(() => applyEdit(edit)).toThrow(expect.objectContaining({ code: 'data_invalid' }));
  });

  it('describes the changed lines only', () => {
    const edit = { path: 'f', before: 'secret\na\nz', after: 'secret\nb\nz', mode: 0 };
    expect(describeEdit(edit)).toBe('f\n  - a\n  + b\n');
  });
});
