import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Value } from '../../src/config/value.ts';
import { RawScalar } from '../../src/config/value.ts';
import { locationOf, ownerOf, profileNameOf, Variables, wrapSecret } from '../../src/config/variables.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { shown, sources, variablesOf } from '../support/variables.ts';

describe('Variables', () => {
  it('replace earlier ones of the same name', () => {
    const variables = variablesOf({ user: { a: 1, b: 1 }, directory: { c: 2 }, given: { b: 3, c: 3 } });
    expect([...variables].map(({ name, value, source }) => [name, value, source.trust])).toEqual([
      ['a', 1, 'user'],
      ['b', 3, 'given'],
      ['c', 3, 'given'],
    ]);
    expect([...variables.names()]).toEqual(['a', 'b', 'c']);
  });

  it.each(['__proto__', 'constructor', 'toString', 'a.__proto__.b'])(
    'are not found by the name of a property of Object: %s',
    (name) => {
      const variables = variablesOf({ user: { a: 1 }, directory: { b: 1 } });
      expect(variables.get(name)).toBeUndefined();
      expect(variables.conflictingSources(name)).toBeUndefined();
    },
  );

  it('can be deleted', () => {
    const variables = variablesOf({ given: { a: 1, b: 2 } });
    expect([variables.delete('a'), variables.delete('a')]).toEqual([true, false]);
    expect([...variables.names()]).toEqual(['b']);
  });

  it('may be named __proto__', () => {
    const variables = new Variables().add([{ name: '__proto__', value: 'v' }], sources.given);
    expect(variables.get('__proto__')?.value).toBe('v');
    expect([...variables.names()]).toEqual(['__proto__']);
  });
});

describe('A variable with the name of a secret', () => {
  it('is wrapped when it is added', () => {
    const given = {
      graph: { client_secret: 'hidden', refresh_token: 'hidden', client_id: 'seen', 'basic.password': 'hidden' },
    };
    const variables = variablesOf({ given });
    expect(inspect([...variables], { depth: null, showHidden: true })).not.toContain('hidden');
    expect(JSON.stringify([...variables])).not.toContain('hidden');
    expect(variables.get('graph.client_id')?.value).toBe('seen');
  });

  it.each<[string, Value, unknown]>([
    ['string', 'v', { secret: 'v' }],
    ['number', 7, { secret: '7' }],
    ['number with a spelling of its own', new RawScalar('007', 7), { secret: '007' }],
    ['boolean', false, { secret: 'false' }],
    ['list', ['a', ['b']], [{ secret: 'a' }, [{ secret: 'b' }]]],
    ['map', { a: { b: 'c' } }, { a: { b: { secret: 'c' } } }],
    ['empty string', '', ''],
    ['null', null, null],
  ])('wraps a %s', (_, value, expected) => {
    expect(shown(wrapSecret(value))).toEqual(expected);
    const variables = new Variables().add([{ name: 'x.token', value }], sources.given);
    expect(shown(variables.get('x.token')?.value ?? null)).toEqual(expected);
  });

  it('and a response as its value wraps the members with names of secrets only', () => {
    const response = { access_token: 'hidden', expires_in: 3600, nested: { id_token: 'hidden', scope: 'seen' } };
    const value = new Variables().add([{ name: 'token', value: response }], sources.given).get('token')?.value;
    expect(shown(value ?? null)).toEqual({
      access_token: { secret: 'hidden' },
      expires_in: 3600,
      nested: { id_token: { secret: 'hidden' }, scope: 'seen' },
    });
  });

  it('keeps a secret as it is', () => {
    const secret = new Secret('v', 'Basic ••••');
    expect(wrapSecret(secret)).toBe(secret);
    expect(variablesOf({ given: { password: secret } }).get('password')?.value).toBe(secret);
  });

  it('may be a member of a map', () => {
    const value = {
      name: 'seen',
      password: 'hidden',
      list: [{ api_key: 'hidden', id: 'seen' }],
      tokens: { a: 'hidden' },
    };
    const variables = new Variables().add([{ name: 'x', value }], sources.given);
    expect(shown(variables.get('x')?.value ?? null)).toEqual({
      name: 'seen',
      password: { secret: 'hidden' },
      list: [{ api_key: { secret: 'hidden' }, id: 'seen' }],
      tokens: { a: { secret: 'hidden' } },
    });
  });

  it('may be a member of a map that is named __proto__', () => {
    const value = JSON.parse('{"__proto__": {"password": "hidden"}, "constructor": 1}') as Value;
    const found = new Variables().add([{ name: 'x', value }], sources.given).get('x')?.value as object;
    expect(Object.keys(found)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(JSON.stringify(found)).toBe('{"__proto__":{"password":"••••"},"constructor":1}');
  });
});

describe('A variable', () => {
  it.each([
    ['graph.type', 'graph'],
    ['graph.options.timeout', 'graph'],
    ['graph.basic.user', 'graph'],
    ['acme.prod.client_secret', 'acme.prod'],
    ['acme.prod.options.timeout', 'acme.prod'],
    ['options.timeout', 'options'],
    ['basic.password', 'basic'],
    ['a.b.', 'a.b'],
  ])('%s belongs to the profile %s', (name, profile) => {
    expect(profileNameOf(name)).toBe(profile);
    expect(ownerOf(name)).toBe(profile);
  });

  it.each(['host', '', '.type'])('%j belongs to no profile', (name) => {
    expect(profileNameOf(name)).toBeUndefined();
    expect(ownerOf(name)).toBe(name);
  });
});

describe('A profile that is defined twice', () => {
  const both = `${sources.user.label} and ${sources.directory.label}`;

  it.each([
    ['the same field', { 'graph.type': 'a' }, { 'graph.type': 'b' }],
    ['different fields', { 'graph.type': 'a' }, { 'graph.url': 'https://evil.example' }],
    ['an option', { 'graph.type': 'a' }, { 'graph.options.allow_http': true }],
    ['half a Basic pair', { 'graph.type': 'a' }, { 'graph.basic.user': 'evil' }],
    ['a nested map', { graph: { type: 'a' } }, { graph: { scope: 'b' } }],
    ['options however deep', { 'graph.type': 'a' }, { 'graph.options.a.b': 1 }],
    ['options of options', { 'graph.type': 'a' }, { graph: { options: { options: { basic: { user: 'x' } } } } }],
    ['a Basic pair however deep', { 'graph.type': 'a' }, { 'graph.basic.user.name': 'evil' }],
    ['deep options of the user', { 'graph.options.a.b': 1 }, { 'graph.type': 'a' }],
    ['a whole profile below its options', { 'graph.type': 'a' }, { 'graph.options.prod.type': 'b' }],
    ['options in both', { 'graph.options.timeout': 'a' }, { 'graph.options.timeout': 'b' }],
  ])("is a conflict between the user's and the directory's file: %s", (_, user, directory) => {
    expect(variablesOf({ user, directory }).conflictingSources('graph')).toBe(both);
  });

  it('is a conflict even if the caller overrides its fields', () => {
    const variables = variablesOf({
      user: { 'g.type': 1 },
      directory: { 'g.url': 2 },
      given: { 'g.type': 3, 'g.url': 3 },
    });
    expect(variables.conflictingSources('g')).toBe(both);
  });

  it.each([
    ['another profile', { 'graph.type': 'a' }, { 'mail.type': 'b' }],
    ['a profile with a longer name', { 'acme.type': 'a' }, { 'acme.prod.type': 'b' }],
    ['a name that begins alike', { 'graph.type': 'a' }, { 'graph2.type': 'b' }],
    ['a profile that is called options', { 'graph.type': 'a' }, { 'options.graph.type': 'b', 'options.a.b.c': 1 }],
    ['options of a profile with a longer name', { 'acme.type': 'a' }, { 'acme.prod.options.a.b': 1 }],
    ['another spelling', { 'graph.type': 'a' }, { 'Graph.type': 'b' }],
  ])('is not a conflict with %s', (_, user, directory) => {
    const variables = variablesOf({ user, directory });
    for (const name of variables.names()) expect(variables.conflictingSources(ownerOf(name))).toBeUndefined();
    expect(variables.conflictingSources(ownerOf(Object.keys(user)[0] ?? ''))).toBeUndefined();
  });

  it('is not a conflict if the caller overrides it', () => {
    const variables = variablesOf({ user: { 'graph.type': 'a' }, given: { 'graph.type': 'b' } });
    expect(variables.conflictingSources('graph')).toBeUndefined();
  });

  it('may be a plain variable in both files', () => {
    const variables = variablesOf({ user: { host: 'a', own: 1 }, directory: { host: 'b' } });
    expect(variables.conflictingSources('host')).toBe(both);
    expect(variables.conflictingSources('own')).toBeUndefined();
  });
});

describe('The names of variables', () => {
  it('are found below a prefix in the order of definition, also after a change', () => {
    const variables = variablesOf({ given: { 'a.b': 1, 'ab.c': 2, 'a.c.d': 3, a: 4, '.x': 5 } });
    const below = (prefix: string) => variables.below(prefix).map(({ name }) => name);
    expect([below('a'), below('a.c'), below('a.b'), below('')]).toEqual([['a.b', 'a.c.d'], ['a.c.d'], [], ['.x']]);
    variables.add([{ name: 'a.e', value: 6 }], sources.given);
    variables.delete('a.b');
    expect(below('a')).toEqual(['a.c.d', 'a.e']);
  });

  it('of profiles are those with a type, also after a change', () => {
    const variables = variablesOf({ given: { 'a.type': 1, '.type': 2, type: 3, 'b.c.type': 4, 'd.types': 5 } });
    expect(variables.profileNames()).toEqual(['a', 'b.c']);
    variables.add([{ name: 'd.type', value: 6 }], sources.given);
    expect(variables.profileNames()).toEqual(['a', 'b.c', 'd']);
  });

  it('are compared with a limited number of misspelled names, over all suggestions', () => {
    const variables = variablesOf({ given: { scope: 'x' } });
    let visited = 0;
    function* candidates(): Generator<string> {
      for (let index = 0; index < 100; index++, visited++) yield `scope${index}`;
    }
    expect(variables.suggest('scopes', candidates())).toBe('scope0');
    for (let count = 0; count < 9_000; count++) variables.suggest('scopes', candidates());
    expect(visited).toBeLessThanOrEqual(20_000);
    expect(variables.suggest('scopes')).toBeUndefined();
  });
});

describe('The location of a variable', () => {
  it('is its file and line', () => {
    const source = sources.directory;
    expect(locationOf({ name: 'a', value: 1, line: 4, source })).toBe('oauth-profiles.yaml:4');
    expect(locationOf({ name: 'a', value: 1, source })).toBe('oauth-profiles.yaml');
  });
});

it('The profile of a variable is its name up to the last dot, or up to options or basic', () => {
  const part = fc.constantFrom('.', '..', 'options', 'basic', 'a', 'options.x', '\n', '');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const name = parts.join('');
      const end = name.search(/\.(?:(?:options|basic)\.)?[^.]*$/);
      expect(profileNameOf(name)).toBe(end > 0 ? name.slice(0, end) : undefined);
    }),
    { numRuns: 2000 },
  );
});
