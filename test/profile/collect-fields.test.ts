import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type DataObject, flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { missingProfileHint, untypedNames } from '../../src/profile/collect-fields.ts';
import {
  decodeRequest,
  invalidProfileError,
  invalidVariables,
  issuesOf,
  readAcme,
  readProfile,
  samples,
} from '../support/profiles.ts';
import { createSources, sources } from '../support/variables.ts';
import { readFromYaml } from './read-from-yaml.ts';

const custom = { type: 'custom', url: 'https://id.example.com/token' };
const head = 'acme.type: custom\nacme.url: https://id.example.com/token\n';

describe('collectFields()', () => {
  it('visits all variables once, whatever the number of profiles', () => {
    const profiles = Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { ...custom, client_id: `c${index}` }]);
    const variables = new Variables().add(flatten(Object.fromEntries(profiles), 'data'), sources.given);
    const visits = vi.spyOn(variables, Symbol.iterator);
    const names = vi.spyOn(variables, 'names');
    for (const name of variables.profileNames()) readProfile(name, variables, createSources());
    expect([visits.mock.calls.length, names.mock.calls.length]).toEqual([1, 1]);
  });

  it('R1.1 R2.2 collects the variables with the name of the profile, dotted or nested', () => {
    const text = `${head}acme:\n  a: 1\nacme.b: 2\nacmes.c: 3\nacm.d: 4\nac.me.e: 5\n`;
    expect(decodeRequest(readFromYaml('acme', text)).form).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
  });

  it('D10 does not send fields with a dot, which belong to another profile, and adds a note', () => {
    for (const sample of [samples.custom, samples.google]) {
      const profile = readAcme({ ...sample, prod: { client_secret: 'other-secret' }, 'eu.west': { a: '1' } });
      expect(decodeRequest(profile).form).toEqual(decodeRequest(readAcme(sample)).form);
      expect(profile.notes).toEqual([
        'acme.prod.client_secret belongs to profile acme.prod and is not sent',
        'acme.eu.west.a belongs to profile acme.eu.west and is not sent',
      ]);
    }
  });

  it.each(['client_secret', 'client_id', 'scope'])('D10 reports a map in the place of the field %s once', (field) => {
    expect(issuesOf(() => readFromYaml('acme', `${head}acme.${field}: {one: 1, two: {three: 3}}\n`))).toMatchObject([
      { variable: `acme.${field}`, message: 'is a map', where: 'profiles.yaml:3' },
    ]);
  });

  it('D10 accepts another profile with the name of a field', () => {
    const text = `${head}acme.resource: {type: custom, url: "https://c.example/"}\n`;
    expect(readFromYaml('acme', text).notes).toEqual([
      'acme.resource.type belongs to profile acme.resource and is not sent',
      'acme.resource.url belongs to profile acme.resource and is not sent',
    ]);
  });

  it('D10 suggests options for a field below option', () => {
    expect(readAcme({ ...custom, option: { timeout: '5s' } }).warnings).toEqual([
      'acme.option.timeout belongs to profile acme.option and is not sent: did you mean acme.options?',
    ]);
  });

  it('D10 collects the fields of a profile with a dotted name', () => {
    const text = 'acme.prod.type: custom\nacme.prod.url: https://p.example/\nacme.prod.a: 1\nacme.b: 2\n';
    expect(decodeRequest(readFromYaml('acme.prod', text))).toMatchObject({
      url: 'https://p.example/',
      form: [['a', '1']],
    });
  });

  it('D10 never sends options', () => {
    for (const sample of Object.values(samples)) {
      const { form } = decodeRequest(
        readAcme({ ...sample, options: { timeout: '5s', refresh_token_reuse: 'allowed', audience: 'x' } }),
      );
      expect(form.map(([name]) => name).join()).not.toMatch(/timeout|reuse|audience|options/);
    }
  });

  it('D10 rejects unknown options at any depth', () => {
    expect(invalidVariables({ ...custom, options: { client_auth: { method: 'basic' } } })).toEqual([
      'acme.options.client_auth.method',
    ]);
  });

  it.each(['options', 'basic'])('D10 accepts an empty %s and rejects one with a value', (name) => {
    expect(decodeRequest(readFromYaml('acme', `${head}acme.${name}:\nacme.a: 1\n`)).form).toEqual([['a', '1']]);
    expect(invalidVariables({ ...custom, [name]: 'x' })).toEqual([`acme.${name}`]);
    expect(invalidVariables({ ...custom, [name]: ['x'] })).toEqual([`acme.${name}`]);
  });

  it('sends scalars as written in the file', () => {
    const text = `${head}acme.a: 007\nacme.b: 1234567890123456789\nacme.c: 1.0\nacme.d: True\nacme.e: 1e3\nacme.f: '  x '\nacme.g: ~\nacme.h: 0x1F\nacme.i: no\n`;
    expect(decodeRequest(readFromYaml('acme', text)).form).toEqual([
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
    expect(decodeRequest(readAcme({ ...custom, n: 5, b: false, big: 12345678901234567890n })).form).toEqual([
      ['n', '5'],
      ['b', 'false'],
      ['big', '12345678901234567890'],
    ]);
  });

  it('sends secrets as written in the file', () => {
    const profile = readFromYaml('acme', `${head}acme.client_secret: 00012345678\nacme.password: 1e100\n`);
    expect(decodeRequest(profile).form).toEqual([
      ['client_secret', '00012345678'],
      ['password', '1e100'],
    ]);
    expect(JSON.stringify(profile.fields)).not.toMatch(/12345678|1e100/);
  });

  it('rejects a list', () => {
    for (const field of ['client_id', 'client_secret', 'claims']) {
      expect(issuesOf(() => readAcme({ ...custom, [field]: ['a', 'b'] }))).toMatchObject([
        { variable: `acme.${field}`, message: 'is a list' },
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
  ])('joins the scopes of the list %j', (scope, text) => {
    expect(decodeRequest(readAcme({ ...custom, scope })).form).toEqual([['scope', text]]);
  });

  it('resolves references in a list of scopes, also to secrets', () => {
    const profile = readAcme(
      { ...custom, scope: ['a', '${env:S_TOKEN}'] },
      createSources({}, { S_TOKEN: 'hidden-scope' }),
    );
    expect(decodeRequest(profile).form).toEqual([['scope', 'a hidden-scope']]);
    expect(JSON.stringify(profile.fields)).not.toContain('hidden');
  });

  it.each(['scope', 'resource', 'audience'])('rejects a list of lists: %s', (field) => {
    expect(invalidVariables({ ...custom, [field]: ['a', ['b']] })).toEqual([`acme.${field}`]);
  });

  it.each(['resource', 'audience'])('sends one parameter for each item of the list %s (RFC 8707 §2)', (field) => {
    const form = (value: unknown) => decodeRequest(readAcme({ ...custom, [field]: value, last: '1' } as never)).form;
    const last = ['last', '1'];
    expect(form(['https://a.example', 7, '', null, 'b'])).toEqual([
      [field, 'https://a.example'],
      [field, '7'],
      [field, 'b'],
      last,
    ]);
    expect(form(['a'])).toEqual([[field, 'a'], last]);
    expect(form([])).toEqual([[field, ''], last]);
  });

  it('resolves references in a list of resources, also to secrets', () => {
    const sources = createSources({}, { R_TOKEN: 'hidden-resource' });
    const profile = readAcme({ ...custom, resource: ['a', '${env:R_TOKEN}'] }, sources);
    expect(decodeRequest(profile).form).toEqual([
      ['resource', 'a'],
      ['resource', 'hidden-resource'],
    ]);
    expect(JSON.stringify(profile.fields)).not.toContain('hidden');
  });

  it.each(['client_id', 'password', 'scope', 'basic.user', 'basic.password'])(
    'rejects ill-formed Unicode in %s',
    (field) => {
      const fields = { ...custom, 'basic.user': 'u', 'basic.password': 'p', [field]: 'a\ud800b' };
      expect(issuesOf(() => readAcme(fields))).toContainEqual(
        expect.objectContaining({ variable: `acme.${field}`, message: 'is not well-formed Unicode' }),
      );
    },
  );

  it('rejects ill-formed Unicode in the name of a field', () => {
    expect(invalidVariables({ ...custom, 'a\udc00': 'x' })).toEqual(['acme.a\udc00']);
  });

  it('R2.2 sends characters outside the BMP', () => {
    expect(decodeRequest(readAcme({ ...custom, 'naïve 😀': '𝒳\u0000é' })).form).toEqual([['naïve 😀', '𝒳\u0000é']]);
  });

  it('sends fields with the names of Object.prototype', () => {
    const fields = JSON.parse('{"__proto__": "p", "constructor": "c", "hasOwnProperty": "h", "": "empty"}');
    const given = new Variables().add(
      [...flatten(custom, 'data'), ...flatten(fields, 'data')].map((entry) => ({
        ...entry,
        name: `acme.${entry.name}`,
      })),
      { label: 'data', directory: '', trust: 'given' },
    );
    expect(decodeRequest(readProfile('acme', given, createSources())).form).toEqual([
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

describe('a profile that is not defined', () => {
  const failure = (name: string, text: string): OAuthProfileError => {
    try {
      readFromYaml(name, text);
    } catch (error) {
      if (error instanceof OAuthProfileError) return error;
    }
    throw new Error('the profile is valid');
  };

  it('D16 causes profile_not_found with the most similar name', () => {
    const error = failure('graf', 'graph.type: google\ngitlab.type: gitlab\n');
    expect(error.code).toBe('profile_not_found');
    expect(error.message).toContain('graf');
    expect(error.hint).toBe('did you mean graph?');
  });

  it('D16 causes profile_not_found with the defined profiles', () => {
    expect(failure('zzz', 'graph.type: google\ngitlab.type: gitlab\n').hint).toMatch(/zzz\.type.*graph, gitlab/);
    expect(failure('zzz', 'x: 1\n').hint).toMatch(/zzz\.type.*no profiles/);
  });

  it.each(['', '.', 'graph.', 'graph.type', '__proto__'])('causes profile_not_found for the name %j', (name) => {
    expect(failure(name, 'graph.type: google\n').code).toBe('profile_not_found');
  });

  it('is found by untypedNames() if its type is misspelled', () => {
    const entries = flatten(
      { 'a.type': 'x', 'a.typ': 'x', 'b.c.typ': 'y', 'd.Type': 'z', 'e.url': 'w', typ: 'v', 'd.tpye': 'z' },
      'data',
    );
    const variables = new Variables().add(entries, { label: 'data', directory: '', trust: 'given' });
    expect(untypedNames(variables)).toEqual(['b.c', 'd']);
  });

  it('is found by untypedNames() without a type if there is no profile at all', () => {
    const names = (data: DataObject) => untypedNames(new Variables().add(flatten(data, 'data'), sources.given));
    expect(names({ 'a.client_id': 'x', 'b.c.url': 'y', 'd.other': 'z', url: 'w' })).toEqual(['a', 'b.c']);
    expect(names({ 'a.type:microsoft': null, 'a.other': 'x' })).toEqual(['a']);
    expect(names({ 'a.client_id': 'x', 'b.type': 'y' })).toEqual([]);
    expect(names({ 'a.client_id': 'x', 'b.typ': 'y' })).toEqual(['b']);
  });

  it('may lack the space after type:', () => {
    expect(failure('graph', 'graph:\n  type:microsoft\n').hint).toMatch(/space.*profiles\.yaml:1/);
    const issues = issuesOf(() => readFromYaml('graph', 'graph: {type:microsoft, client_id: x}\n'));
    expect(issues).toMatchObject([{ variable: 'graph.type', hint: expect.stringContaining('space') }]);
  });

  it('may not be indented: missingProfileHint() names the line', () => {
    const hint = (label: string, name: string) =>
      missingProfileHint(
        new Variables().add([{ name, value: 'x', line: 2 }], { label, directory: '', trust: 'given' }),
      );
    expect(hint('p.yaml', 'type')).toContain('p.yaml:2');
    expect(hint('P.YML', 'type')).toContain('P.YML:2');
    expect(hint('p.json', 'type')).toBeUndefined();
    expect(hint('p.yaml', 'graph.type')).toBeUndefined();
    expect(failure('graph', 'type: google\n').hint).toContain('profiles.yaml:1');
  });

  it('is not returned by profileNames()', () => {
    const entries = flatten({ 'a.type': 'x', 'b.c.type': 'y', 'd.typ': 'z', '.type': 'w', type: 'v' }, 'data');
    const variables = new Variables().add(entries, { label: 'data', directory: '', trust: 'given' });
    expect(variables.profileNames()).toEqual(['a', 'b.c']);
  });
});

describe('a profile in two files', () => {
  it('is an issue that names both', () => {
    const variables = new Variables()
      .define(flatten({ 'graph.type': 'google' }, 'u'), { label: '/home/u/p.yaml', directory: '', trust: 'user' })
      .define(flatten({ 'graph.url': 'https://evil.com' }, 'f'), {
        label: 'p.yaml',
        directory: '',
        trust: 'directory',
      });
    expect(issuesOf(() => readProfile('graph', variables, createSources()))).toMatchObject([
      { variable: 'graph', message: expect.stringMatching(/\/home\/u\/p\.yaml.*p\.yaml/) },
    ]);
  });

  it("never changes the user's profile, whatever the working directory's file contains", () => {
    const part = fc.constantFrom('graph', 'options', 'basic', 'type', 'url', 'timeout', 'user', 'a', 'Graph', '');
    const name = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));
    const user = { graph: { ...samples.google, options: { timeout: '5s' } } };
    const withDirectoryFile = (names: readonly string[]) =>
      new Variables().define(flatten(user, 'u'), { label: '/home/u/p.yaml', directory: '', trust: 'user' }).define(
        names.map((name) => ({ name, value: 'evil' })),
        { label: 'p.yaml', directory: '', trust: 'directory' },
      );
    const read = (variables: Variables) => readProfile('graph', variables, createSources());
    const alone = decodeRequest(read(withDirectoryFile([])));
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 4 }), (names) => {
        const variables = withDirectoryFile(names.map((one) => (one.startsWith('graph') ? one : `graph.${one}`)));
        if (variables.conflictingSources('graph') === undefined) expect(decodeRequest(read(variables))).toEqual(alone);
        else expect(issuesOf(() => read(variables))).toMatchObject([{ variable: 'graph' }]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a profile from a file given by the caller', () => {
  const directory = { label: 'p.yaml', directory: '', trust: 'directory' } as const;
  const given = (label: string) => ({ label, directory: '', trust: 'given' }) as const;
  const both = (label: string) =>
    new Variables()
      .define(flatten({ acme: { audience: 'evil', my_token: 'x' } }, 'f'), directory)
      .add(flatten({ acme: custom }, 'g'), given(label));

  it('is not changed by a file in the working directory', () => {
    const profile = readProfile('acme', both('own.yaml'), createSources());
    expect(decodeRequest(profile).form).toEqual([]);
    expect(profile.notes).toEqual([
      'acme.audience in p.yaml is ignored: the profile comes from own.yaml',
      'acme.my_token in p.yaml is ignored: the profile comes from own.yaml',
    ]);
  });

  it('comes from the working directory if only its type is set with --set', () => {
    const profile = readProfile('acme', both('--set'), createSources());
    expect(decodeRequest(profile).form).toEqual([
      ['audience', 'evil'],
      ['my_token', 'x'],
    ]);
    expect(profile.notes).toEqual([expect.stringMatching(/^acme\.my_token is written in /)]);
  });
});

describe('a variable that contains a response', () => {
  it('D3 has no fields of a profile of the same name', () => {
    const source = { label: 'step 1', directory: '', trust: 'given' } as const;
    const variables = new Variables().add(
      [{ name: 'graph', value: { type: 'custom', url: 'https://evil.example/token' } }],
      source,
    );
    expect(() => readProfile('graph', variables, createSources())).toThrow(
      expect.objectContaining({ code: 'profile_not_found' }),
    );
  });
});

describe('values with stray characters', () => {
  it('are pointed out in warnings that do not reveal them', () => {
    const profile = readAcme({
      ...samples.custom,
      client_id: ' me',
      client_secret: 'secret-value\n',
      basic: { user: '"basic-user"', password: "'basic-password'" },
      audience: 'fine',
    });
    expect(profile.warnings).toEqual([
      'acme.client_id starts or ends with whitespace',
      'acme.client_secret ends with a line break',
      'acme.basic.user is enclosed in quotes',
      'acme.basic.password is enclosed in quotes',
    ]);
  });

  it('are pointed out even if the profile has issues', () => {
    const { warnings } = invalidProfileError(() => readAcme({ type: 'google', client_id: 'x ' }));
    expect(warnings).toEqual(['acme.client_id starts or ends with whitespace']);
  });
});

describe('a value that looks like a reference', () => {
  it.each(['$SHOP_KEY', ' $S ', '{{shop_key}}', '{{ secrets.KEY }}'])('is sent with a warning: %j', (text) => {
    for (const field of ['client_secret', 'audience']) {
      const profile = readAcme({ ...samples.custom, [field]: text });
      expect(profile.warnings).toContainEqual(
        expect.stringMatching(new RegExp(`^acme\\.${field} .*\\$\\{env:NAME\\}`)),
      );
      expect(profile.warnings.join()).not.toContain('SHOP_KEY');
      expect(decodeRequest(profile).form).toContainEqual([field, text]);
    }
  });

  it.each(['$', '$1.00', 'a$b', '{x}', '${env:S}', '$${x}'])('is not %j', (text) => {
    const profile = readAcme({ ...samples.custom, audience: text }, createSources({}, { S: '$NAME' }));
    expect(profile.warnings).toEqual([]);
  });
});

describe('a secret that is written in a file', () => {
  const read = (trust: 'user' | 'directory' | 'given', client_secret: string) => {
    const source = { label: 'oauth-profiles.yaml', directory: '', trust } as const;
    const entries = flatten({ acme: { ...samples.twitter, client_secret } }, source.label);
    return readProfile('acme', new Variables().add(entries, source), createSources({}, { S: 'from-outside' }));
  };

  it('causes a note if the file is that of the directory', () => {
    const { notes, warnings } = read('directory', 'literal-secret');
    expect(notes).toEqual([expect.stringMatching(/^acme\.client_secret is written in oauth-profiles\.yaml/)]);
    expect(notes.join()).not.toContain('literal-secret');
    expect(warnings).toEqual([]);
  });

  it('causes no note in the file of the user, with --data, or as a reference', () => {
    for (const { notes } of [read('user', 's'), read('given', 's'), read('directory', '${env:S}')]) {
      expect(notes).toEqual([]);
    }
  });
});

describe('a reference to an environment variable', () => {
  const fields = { ...samples.custom, client_secret: '${env:SHOP_KEY}' };

  it.each([
    ['custom', fields],
    ['twitter', { ...samples.twitter, client_secret: '${env:SHOP_KEY}' }],
  ])('is an issue that names the variable if it is unset or empty: %s', (_, profile) => {
    for (const env of [{}, { SHOP_KEY: '' }] as Record<string, string>[]) {
      expect(issuesOf(() => readAcme(profile, createSources({}, env)))).toMatchObject([
        { variable: 'acme.client_secret', message: expect.stringContaining('SHOP_KEY') },
      ]);
    }
  });

  it('may have an empty default', () => {
    const profile = readAcme({ ...fields, client_secret: '${env:SHOP_KEY:-}' });
    expect(decodeRequest(profile).form).toContainEqual(['client_secret', '']);
  });
});
