import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { profileNames, untypedNames } from '../../src/profile/collect-fields.ts';
import { faultsOf, faultyIn, outsideWith, readAcme, readFromYaml, readProfile, seen } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const custom = { type: 'custom', url: 'https://id.example.com/token' };
const head = 'acme.type: custom\nacme.url: https://id.example.com/token\n';

describe('the variables of a profile', () => {
  it('R1.1 R2.2 are those named after it, dotted or nested', () => {
    const text = `${head}acme:\n  a: 1\nacme.b: 2\nacmes.c: 3\nacm.d: 4\nac.me.e: 5\n`;
    expect(seen(readFromYaml('acme', text)).form).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
  });

  it('D10 a field name with a dot belongs to another profile: not sent, and noted', () => {
    for (const sample of [samples.custom, samples.google]) {
      const profile = readAcme({ ...sample, prod: { client_secret: 'other-secret' }, 'eu.west': { a: '1' } });
      expect(seen(profile).form).toEqual(seen(readAcme(sample)).form);
      expect(profile.notes).toEqual([
        'acme.prod.client_secret belongs to profile acme.prod and is not sent',
        'acme.eu.west.a belongs to profile acme.eu.west and is not sent',
      ]);
    }
  });

  it.each(['client_secret', 'client_id', 'scope'])(
    'D10 a map in place of the field %s is a fault, told once',
    (field) => {
      expect(faultsOf(() => readFromYaml('acme', `${head}acme.${field}: {one: 1, two: {three: 3}}\n`))).toMatchObject([
        { variable: `acme.${field}`, message: 'is a map', where: 'profiles.yaml:3' },
      ]);
    },
  );

  it('D10 another profile may be called like a field', () => {
    const text = `${head}acme.resource: {type: custom, url: "https://c.example/"}\n`;
    expect(readFromYaml('acme', text).notes).toEqual([
      'acme.resource.type belongs to profile acme.resource and is not sent',
      'acme.resource.url belongs to profile acme.resource and is not sent',
    ]);
  });

  it('D10 what stands below option instead of options is noted with what was meant', () => {
    expect(readAcme({ ...custom, option: { timeout: '5s' } }).notes).toEqual([
      'acme.option.timeout belongs to profile acme.option and is not sent: did you mean acme.options?',
    ]);
  });

  it('D10 a dotted profile is a profile of its own', () => {
    const text = 'acme.prod.type: custom\nacme.prod.url: https://p.example/\nacme.prod.a: 1\nacme.b: 2\n';
    expect(seen(readFromYaml('acme.prod', text))).toMatchObject({ url: 'https://p.example/', form: [['a', '1']] });
  });

  it('D10 options are never sent', () => {
    for (const sample of Object.values(samples)) {
      const { form } = seen(
        readAcme({ ...sample, options: { timeout: '5s', refresh_token_reuse: 'allowed', audience: 'x' } }),
      );
      expect(form.map(([name]) => name).join()).not.toMatch(/timeout|replay|audience|options/);
    }
  });

  it('D10 options however deep are options, and unknown ones are issues', () => {
    expect(faultyIn({ ...custom, options: { client_auth: { way: 'basic' } } })).toEqual([
      'acme.options.client_auth.way',
    ]);
  });

  it.each(['options', 'basic'])('D10 %s with nothing below it is nothing, with a value it is a fault', (name) => {
    expect(seen(readFromYaml('acme', `${head}acme.${name}:\nacme.a: 1\n`)).form).toEqual([['a', '1']]);
    expect(faultyIn({ ...custom, [name]: 'x' })).toEqual([`acme.${name}`]);
    expect(faultyIn({ ...custom, [name]: ['x'] })).toEqual([`acme.${name}`]);
  });

  it('sends scalars as they are written', () => {
    const text = `${head}acme.a: 007\nacme.b: 1234567890123456789\nacme.c: 1.0\nacme.d: True\nacme.e: 1e3\nacme.f: '  x '\nacme.g: ~\nacme.h: 0x1F\nacme.i: no\n`;
    expect(seen(readFromYaml('acme', text)).form).toEqual([
      ['a', '007'],
      ['b', '1234567890123456789'],
      ['c', '1.0'],
      ['d', 'True'],
      ['e', '1e3'],
      ['f', '  x '],
      ['g', ''],
      ['h', '0x1F'],
      ['i', 'no'],
    ]);
    expect(seen(readAcme({ ...custom, n: 5, b: false, big: 12345678901234567890n })).form).toEqual([
      ['n', '5'],
      ['b', 'false'],
      ['big', '12345678901234567890'],
    ]);
  });

  it('a secret keeps its spelling too', () => {
    const profile = readFromYaml('acme', `${head}acme.client_secret: 00012345678\nacme.password: 1e100\n`);
    expect(seen(profile).form).toEqual([
      ['client_secret', '00012345678'],
      ['password', '1e100'],
    ]);
    expect(JSON.stringify(profile.fields)).not.toMatch(/12345678|1e100/);
  });

  it('a list is a fault', () => {
    for (const field of ['client_id', 'client_secret', 'audience', 'resource']) {
      expect(faultsOf(() => readAcme({ ...custom, [field]: ['a', 'b'] }))).toMatchObject([
        { variable: `acme.${field}`, message: 'is a list', hint: 'write one value' },
      ]);
    }
  });

  it.each([
    [['user.read', 'offline_access'], 'user.read offline_access'],
    [['one'], 'one'],
    [['a b', 'c'], 'a b c'],
    [['api', 7, true], 'api 7 true'],
    [['a', '', null, 'b'], 'a b'],
    [[], ''],
  ])('a scope may be a list: %j', (scope, text) => {
    expect(seen(readAcme({ ...custom, scope })).form).toEqual([['scope', text]]);
  });

  it('a scope in a list may be a reference, even to a secret', () => {
    const profile = readAcme(
      { ...custom, scope: ['a', '${env:S_TOKEN}'] },
      outsideWith({}, { S_TOKEN: 'hidden-scope' }),
    );
    expect(seen(profile).form).toEqual([['scope', 'a hidden-scope']]);
    expect(JSON.stringify(profile.fields)).not.toContain('hidden');
  });

  it('a scope of lists is a fault', () => {
    expect(faultsOf(() => readAcme({ ...custom, scope: [['a']] }))).toMatchObject([
      { variable: 'acme.scope', hint: 'list plain texts' },
    ]);
  });

  it.each(['client_id', 'password', 'scope', 'basic.user', 'basic.password'])(
    'ill-formed Unicode in %s is a fault',
    (field) => {
      const fields = { ...custom, 'basic.user': 'u', 'basic.password': 'p', [field]: 'a\ud800b' };
      expect(faultsOf(() => readAcme(fields))).toContainEqual(
        expect.objectContaining({ variable: `acme.${field}`, message: 'is not well-formed Unicode' }),
      );
    },
  );

  it('ill-formed Unicode in the name of a field is a fault', () => {
    expect(faultyIn({ ...custom, 'a\udc00': 'x' })).toEqual(['acme.a\udc00']);
  });

  it('R2.2 well-formed Unicode beyond the BMP is sent', () => {
    expect(seen(readAcme({ ...custom, 'naïve 😀': '𝒳\u0000é' })).form).toEqual([['naïve 😀', '𝒳\u0000é']]);
  });

  it('a field of a strange name does no harm', () => {
    const fields = JSON.parse('{"__proto__": "p", "constructor": "c", "hasOwnProperty": "h", "": "empty"}');
    const given = new Variables().add(
      [...flatten(custom, 'data'), ...flatten(fields, 'data')].map((entry) => ({
        ...entry,
        name: `acme.${entry.name}`,
      })),
      { label: 'data', directory: '', trust: 'given' },
    );
    expect(seen(readProfile('acme', given, outsideWith())).form).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['hasOwnProperty', 'h'],
      ['', 'empty'],
    ]);
  });

  it('escapes control characters in notes', () => {
    expect(readAcme({ ...custom, 'x\u001b[2J.y': 1 }).notes).toEqual([
      'acme.x\\u001b[2J.y belongs to profile acme.x\\u001b[2J and is not sent',
    ]);
  });
});

describe('a profile that is not there', () => {
  const failure = (name: string, text: string): OAuthProfileError => {
    try {
      readFromYaml(name, text);
    } catch (error) {
      if (error instanceof OAuthProfileError) return error;
    }
    throw new Error('the profile was read');
  };

  it('D16 is an error that suggests the nearest', () => {
    const error = failure('graf', 'graph.type: google\ngitlab.type: gitlab\n');
    expect(error.code).toBe('profile_not_found');
    expect(error.message).toBe('there is no profile graf');
    expect(error.hint).toBe('did you mean graph?');
  });

  it('D16 is an error that lists those that are', () => {
    const define = 'define zzz.type and its fields in oauth-profiles.yaml, or in a file given with --data';
    expect(failure('zzz', 'graph.type: google\ngitlab.type: gitlab\n').hint).toBe(
      `${define} (profiles are graph, gitlab)`,
    );
    expect(failure('zzz', 'x: 1\n').hint).toBe(`${define} (no profile is defined)`);
  });

  it.each(['', '.', 'graph.', 'graph.type', '__proto__'])('%j is none', (name) => {
    expect(failure(name, 'graph.type: google\n').code).toBe('profile_not_found');
  });

  it('may be one whose type is misspelt', () => {
    const entries = flatten(
      { 'a.type': 'x', 'a.typ': 'x', 'b.c.typ': 'y', 'd.Type': 'z', 'e.url': 'w', typ: 'v', 'd.tpye': 'z' },
      'data',
    );
    const variables = new Variables().add(entries, { label: 'data', directory: '', trust: 'given' });
    expect(untypedNames(variables)).toEqual(['b.c', 'd']);
  });

  it('lists profiles by their type', () => {
    const entries = flatten({ 'a.type': 'x', 'b.c.type': 'y', 'd.typ': 'z', '.type': 'w', type: 'v' }, 'data');
    const variables = new Variables().add(entries, { label: 'data', directory: '', trust: 'given' });
    expect(profileNames(variables)).toEqual(['a', 'b.c']);
  });
});

describe('a profile in two files', () => {
  it('is an error that names both', () => {
    const variables = new Variables()
      .add(flatten({ 'graph.type': 'google' }, 'u'), { label: '/home/u/p.yaml', directory: '', trust: 'user' })
      .addDirectoryFile(flatten({ 'graph.url': 'https://evil.com' }, 'f'), {
        label: 'p.yaml',
        directory: '',
        trust: 'directory',
      });
    expect(faultsOf(() => readProfile('graph', variables, outsideWith()))).toMatchObject([
      {
        variable: 'graph',
        message: 'stands in both /home/u/p.yaml and p.yaml',
        hint: 'rename one of the two profiles, or remove one: a working folder must not change a profile of yours',
      },
    ]);
  });

  it("whatever a folder's file holds, the user's profile is as it was or stands in both", () => {
    const part = fc.constantFrom('graph', 'options', 'basic', 'type', 'url', 'timeout', 'user', 'a', 'Graph', '');
    const name = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));
    const user = { graph: { ...samples.google, options: { timeout: '5s' } } };
    const withFolder = (names: readonly string[]) =>
      new Variables()
        .add(flatten(user, 'u'), { label: '/home/u/p.yaml', directory: '', trust: 'user' })
        .addDirectoryFile(
          names.map((name) => ({ name, value: 'evil' })),
          { label: 'p.yaml', directory: '', trust: 'directory' },
        );
    const read = (variables: Variables) => readProfile('graph', variables, outsideWith());
    const alone = seen(read(withFolder([])));
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 4 }), (names) => {
        const variables = withFolder(names.map((one) => (one.startsWith('graph') ? one : `graph.${one}`)));
        if (variables.conflictingSources('graph') === undefined) expect(seen(read(variables))).toEqual(alone);
        else expect(faultsOf(() => read(variables))).toMatchObject([{ message: expect.stringMatching(/^stands in/) }]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a profile that the caller brought along', () => {
  const folder = { label: 'p.yaml', directory: '', trust: 'directory' } as const;
  const given = (label: string) => ({ label, directory: '', trust: 'given' }) as const;
  const both = (label: string) =>
    new Variables()
      .addDirectoryFile(flatten({ acme: { audience: 'evil', my_token: 'x' } }, 'f'), folder)
      .add(flatten({ acme: custom }, 'g'), given(label));

  it('is not bent by the file of a working folder', () => {
    const profile = readProfile('acme', both('own.yaml'), outsideWith());
    expect(seen(profile).form).toEqual([]);
    expect(profile.notes).toEqual([
      'acme.audience of p.yaml is not used: the profile comes from own.yaml',
      'acme.my_token of p.yaml is not used: the profile comes from own.yaml',
    ]);
  });

  it('is the one of the folder where only its type was set for this call', () => {
    const profile = readProfile('acme', both('--set'), outsideWith());
    expect(seen(profile).form).toEqual([
      ['audience', 'evil'],
      ['my_token', 'x'],
    ]);
    expect(profile.notes).toEqual([]);
  });
});

describe('a variable that holds a response', () => {
  it('D3 lends none of its members to a profile of the same name', () => {
    const source = { label: 'step 1', directory: '', trust: 'given' } as const;
    const variables = new Variables().add(
      [{ name: 'graph', value: { type: 'custom', url: 'https://evil.example/token' } }],
      source,
    );
    const outside = { env: () => undefined, readOptionFile: () => undefined, readFileInside: () => undefined };
    expect(() => readProfile('graph', variables, outside)).toThrow('there is no profile graph');
  });
});
