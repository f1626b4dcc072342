import { describe, expect, it } from 'vitest';
import { type DataFile, type DataSources, loadVariables } from '../../src/config/load-variables.ts';
import type { Source } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { resolved } from '../support/resolving.ts';

function file(label: string, text: string, trust: Source['trust'] = 'given'): DataFile {
  return { text, source: { label, directory: '/work', trust } };
}

function load(sources: Partial<DataSources>) {
  return loadVariables({
    user: undefined,
    folder: undefined,
    given: [],
    settings: { entries: [], source: { label: '--set', directory: '', trust: 'given' } },
    ...sources,
  });
}

const yaml = 'a: {b: "from yaml"}';
const json = '{"a": {"b": "from json"}}';
const env = 'a.b="from env"';
const properties = 'a.b : from properties';

describe('a file of variables', () => {
  it.each([
    ['x.yaml', yaml, 'from yaml'],
    ['x.yml', yaml, 'from yaml'],
    ['X.YAML', yaml, 'from yaml'],
    ['.env.yaml', yaml, 'from yaml'],
    ['x.json', json, 'from json'],
    ['env.json', json, 'from json'],
    ['.env', env, 'from env'],
    ['env', env, 'from env'],
    ['dir/.env', env, 'from env'],
    ['dir\\.env', env, 'from env'],
    ['prod.env', env, 'from env'],
    ['.env.local', env, 'from env'],
    ['.env.production.local', env, 'from env'],
    ['x.properties', properties, 'from properties'],
    ['.env.properties', properties, 'from properties'],
    ['.env/x.properties', properties, 'from properties'],
  ])('%s is read by its name', async (label, text, value) => {
    const variables = await load({ given: [file(label, text)] });
    expect(variables.get('a.b')?.value).toBe(value);
  });

  it.each(['x', 'x.txt', 'x.toml', 'environment', 'x.yaml.bak', '.environment', 'dir.env/x', 'yaml', ''])(
    '%j is of no known format',
    async (label) => {
      await expect(load({ given: [file(label, '')] })).rejects.toMatchObject({
        code: 'data_invalid',
        message: `${label}: is of no known format`,
        hint: 'name it .yaml, .json, .env or .properties',
      });
    },
  );

  it.each(['x.yaml', 'x.json', '.env', 'x.properties'])('%s may begin with a byte order mark', async (label) => {
    const text = { 'x.yaml': yaml, 'x.json': json, '.env': env, 'x.properties': properties }[label];
    const variables = await load({ given: [file(label, `\ufeff${text}`)] });
    expect([...variables.names()]).toEqual(['a.b']);
  });

  it.each([
    ['x.yaml', 'a: "hunter2'],
    ['x.json', '{"a": hunter2}'],
    ['.env', 'hunter2'],
    ['x.properties', 'a=\\uhunter2'],
  ])('%s at fault is an error that names it and quotes nothing', async (label, text) => {
    const error = await load({ given: [file(label, text)] }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OAuthProfileError);
    expect((error as Error).message).toMatch(new RegExp(`^${label.replace('.', '\\.')}:1`));
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it.each(['x.yaml', 'x.json', '.env', 'x.properties'])('%s hides its secrets', async (label) => {
    const texts = {
      'x.yaml': 'x: {password: hidden}',
      'x.json': '{"x": {"password": "hidden"}}',
      '.env': 'x.password=hidden',
      'x.properties': 'x.password=hidden',
    };
    const variables = await load({ given: [file(label, texts[label as keyof typeof texts])] });
    expect(variables.get('x.password')?.value).toBeInstanceOf(Secret);
    expect(JSON.stringify([...variables])).not.toContain('hidden');
  });
});

describe('the sources', () => {
  it('win in their order: user, folder, given files one after the other, settings', async () => {
    const variables = await load({
      user: file('user.yaml', 'u: user\nf: user\ng1: user\ng2: user\ns: user', 'user'),
      folder: file('folder.yaml', 'f: folder\ng1: folder\ng2: folder\ns: folder', 'directory'),
      given: [file('1.env', 'g1=first\ng2=first\ns=first'), file('2.json', '{"g2": "second", "s": "second"}')],
      settings: {
        entries: [{ name: 's', value: 'setting' }],
        source: { label: '--set', directory: '', trust: 'given' },
      },
    });
    expect([...variables].map(({ name, value, source }) => [name, value, source.label])).toEqual([
      ['u', 'user', 'user.yaml'],
      ['f', 'directory', 'folder.yaml'],
      ['g1', 'first', '1.env'],
      ['g2', 'second', '2.json'],
      ['s', 'setting', '--set'],
    ]);
  });

  it('of a script win over the files that are found, and give way to those that are given', async () => {
    const script = {
      entries: ['a', 'b', 'c'].map((name) => ({ name, value: 'script' })),
      source: { label: 'script.yaml', directory: '/work', trust: 'directory' } as const,
    };
    const variables = await load({
      folder: file('folder.yaml', 'a: folder', 'directory'),
      script,
      given: [file('1.env', 'b=given')],
    });
    expect([...variables].map(({ name, value, source }) => [name, value, source.label])).toEqual([
      ['a', 'script', 'script.yaml'],
      ['b', 'given', '1.env'],
      ['c', 'script', 'script.yaml'],
    ]);
  });

  it('may all be missing', async () => {
    expect([...(await load({}))]).toEqual([]);
  });

  it("contest a profile that stands in both the user's and the folder's file", async () => {
    const variables = await load({
      user: file('/home/ada/profiles.yaml', 'graph: {type: microsoft}', 'user'),
      folder: file('oauth-profiles.yaml', 'graph: {url: "https://evil.example"}', 'directory'),
    });
    expect(variables.conflictingSources('graph')).toBe('/home/ada/profiles.yaml and oauth-profiles.yaml');
  });

  it('contest nothing between the folder and what the caller names', async () => {
    const variables = await load({
      folder: file('oauth-profiles.yaml', 'graph: {type: microsoft}', 'directory'),
      given: [file('x.yaml', 'graph: {type: google}')],
    });
    expect(variables.conflictingSources('graph')).toBeUndefined();
    expect(variables.get('graph.type')?.value).toBe('google');
  });

  it('keep a scalar as it is written until it is sent', async () => {
    const variables = await load({ given: [file('x.yaml', 'id: 0012\nx: "<${id}>"'), file('y.json', '{"y": 1.0}')] });
    expect(resolved(variables, 'x')).toBe('<0012>');
    const given = [file('x.yaml', 'id: 1234567890123456789'), file('y.json', '{"y": "${id}", "z": "<${id}>"}')];
    expect(resolved(await load({ given }), 'z')).toBe('<1234567890123456789>');
  });
});
