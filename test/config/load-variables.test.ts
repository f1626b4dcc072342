import { describe, expect, it } from 'vitest';
import { type DataFile, type DataSources, loadVariables } from '../../src/config/load-variables.ts';
import type { Source } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { resolved } from '../support/variables.ts';

function file(label: string, text: string, trust: Source['trust'] = 'given'): DataFile {
  return { text, source: { label, directory: '/work', trust } };
}

function load(sources: Partial<DataSources>) {
  return loadVariables({
    user: undefined,
    directory: undefined,
    given: [],
    settings: { entries: [], source: { label: '--set', directory: '', trust: 'given' } },
    ...sources,
  });
}

const yaml = 'a: {b: "from yaml"}';
const json = '{"a": {"b": "from json"}}';
const env = 'a.b="from env"';
const properties = 'a.b : from properties';

describe('A file of variables', () => {
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
  ])('is parsed in the format of its extension: %s', async (label, text, value) => {
    const variables = await load({ given: [file(label, text)] });
    expect(variables.get('a.b')?.value).toBe(value);
  });

  it.each(['x', 'x.txt', 'x.toml', 'environment', 'x.yaml.bak', '.environment', 'dir.env/x', 'yaml', ''])(
    'needs a known extension: %j',
    async (label) => {
      await expect(load({ given: [file(label, '')] })).rejects.toMatchObject({
        code: 'data_invalid',
        message: `${label}: unsupported file format`,
      });
    },
  );

  it.each(['x.yaml', 'x.json', '.env', 'x.properties'])('may start with a byte order mark: %s', async (label) => {
    const text = { 'x.yaml': yaml, 'x.json': json, '.env': env, 'x.properties': properties }[label];
    const variables = await load({ given: [file(label, `\ufeff${text}`)] });
    expect([...variables.names()]).toEqual(['a.b']);
  });

  it.each([
    ['x.yaml', 'a: "hunter2'],
    ['x.json', '{"a": hunter2}'],
    ['.env', 'hunter2'],
    ['x.properties', 'a=\\uhunter2'],
  ])('is named with a line in the error, and not quoted: %s', async (label, text) => {
    const error = await load({ given: [file(label, text)] }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OAuthProfileError);
    expect((error as Error).message).toMatch(new RegExp(`^${label.replace('.', '\\.')}:1`));
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it.each(['x.yaml', 'x.json', '.env', 'x.properties'])('wraps its secrets: %s', async (label) => {
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

describe('Sources', () => {
  it('override each other in the order user, directory, given files, settings', async () => {
    const variables = await load({
      user: file('user.yaml', 'u: user\nf: user\ng1: user\ng2: user\ns: user', 'user'),
      directory: file('directory.yaml', 'f: directory\ng1: directory\ng2: directory\ns: directory', 'directory'),
      given: [file('1.env', 'g1=first\ng2=first\ns=first'), file('2.json', '{"g2": "second", "s": "second"}')],
      settings: {
        entries: [{ name: 's', value: 'setting' }],
        source: { label: '--set', directory: '', trust: 'given' },
      },
    });
    expect([...variables].map(({ name, value, source }) => [name, value, source.label])).toEqual([
      ['u', 'user', 'user.yaml'],
      ['f', 'directory', 'directory.yaml'],
      ['g1', 'first', '1.env'],
      ['g2', 'second', '2.json'],
      ['s', 'setting', '--set'],
    ]);
  });

  it('of a script override plain variables of the profile files, and are overridden by given files', async () => {
    const script = {
      entries: ['a', 'b', 'c'].map((name) => ({ name, value: 'script' })),
      source: { label: 'script.yaml', directory: '/work', trust: 'given' } as const,
    };
    const variables = await load({
      directory: file('directory.yaml', 'a: directory', 'directory'),
      script,
      given: [file('1.env', 'b=given')],
    });
    expect([...variables].map(({ name, value, source }) => [name, value, source.label])).toEqual([
      ['a', 'script', 'script.yaml'],
      ['b', 'given', '1.env'],
      ['c', 'script', 'script.yaml'],
    ]);
  });

  it('may all be absent', async () => {
    expect([...(await load({}))]).toEqual([]);
  });

  it("conflict if a profile is defined in the user's file and in the directory's file", async () => {
    const variables = await load({
      user: file('/home/ada/profiles.yaml', 'graph: {type: microsoft}', 'user'),
      directory: file('oauth-profiles.yaml', 'graph: {url: "https://evil.example"}', 'directory'),
    });
    expect(variables.conflictingSources('graph')).toBe('/home/ada/profiles.yaml and oauth-profiles.yaml');
  });

  it.each(['user', 'directory'] as const)(
    'conflict if a profile is defined in the %s file and in a script',
    async (trust) => {
      const variables = await load({
        [trust]: file('oauth-profiles.yaml', 'graph: {type: microsoft}', trust),
        script: {
          entries: [{ name: 'graph.url', value: 'https://evil.example' }],
          source: { label: 'me.yaml', directory: '/work', trust: 'given' },
        },
      });
      expect(variables.conflictingSources('graph')).toBe('oauth-profiles.yaml and me.yaml');
    },
  );

  it('do not conflict if the caller overrides a field of a profile', async () => {
    const variables = await load({
      directory: file('oauth-profiles.yaml', 'graph: {type: microsoft}', 'directory'),
      given: [file('x.yaml', 'graph: {type: google}')],
    });
    expect(variables.conflictingSources('graph')).toBeUndefined();
    expect(variables.get('graph.type')?.value).toBe('google');
  });

  it('keep the spelling of a scalar', async () => {
    const variables = await load({ given: [file('x.yaml', 'id: 0012\nx: "<${id}>"'), file('y.json', '{"y": 1.0}')] });
    expect(resolved(variables, 'x')).toBe('<0012>');
    const given = [file('x.yaml', 'id: 1234567890123456789'), file('y.json', '{"y": "${id}", "z": "<${id}>"}')];
    expect(resolved(await load({ given }), 'z')).toBe('<1234567890123456789>');
  });
});
