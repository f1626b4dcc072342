import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeReferences } from '../../src/config/reference.ts';
import { member, Resolver } from '../../src/config/resolver.ts';
import { RawScalar, type Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { onSecretCreated, Secret } from '../../src/redaction/secret.ts';
import { anyString } from '../support/arbitraries.ts';
import { failureOf } from '../support/errors.ts';
import { type External, resolved, resolverOf, shown, sources, variablesOf } from '../support/variables.ts';

type DataObject = Readonly<Record<string, unknown>>;

/** Resolves `x` among other variables. */
function resolveX(x: unknown, others: DataObject = {}, external?: External): unknown {
  return shown(resolved(variablesOf({ given: { ...others, x } }), 'x', external));
}

/** Returns the error of resolving `x`. */
function errorOf(
  x: unknown,
  others: DataObject = {},
  external?: External,
): { message: string; hint: string | undefined } {
  const { code, message, hint } = failureOf(() => resolveX(x, others, external));
  expect(code).toBe('data_invalid');
  return { message, hint };
}

it('Undefined references are compared with a limited number of names, whatever their number', () => {
  const count = 2_000;
  const data = Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, `\${nam${index}x}`]));
  const variables = variablesOf({ given: data });
  const resolver = resolverOf(variables);
  let visited = 0;
  const names = [...variables.names()];
  variables.names = function* () {
    for (const name of names) {
      visited++;
      yield name;
    }
  };
  const hints = [...variables].map((variable) => failureOf(() => resolver.resolve(variable)).hint);
  expect(hints[0]).toBe('did you mean name0?');
  expect(hints).toHaveLength(count);
  expect(visited).toBeLessThan(25_000);
});

describe('A reference', () => {
  it.each([
    ['${a}', { a: 'b' }, 'b'],
    ['<${a}>', { a: 'b' }, '<b>'],
    ['${a}${a} ${b}', { a: '1', b: '2' }, '11 2'],
    ['${graph.client_id}', { graph: { client_id: 'id' } }, 'id'],
    ['${graph.client_id}', { 'graph.client_id': 'id' }, 'id'],
    ['${list[1]}', { list: ['a', 'b'] }, 'b'],
    ['${list[0].name}', { list: [{ name: 'Ada' }] }, 'Ada'],
    ['${list[0]["odd key"]}', { list: [{ 'odd key': 'v' }] }, 'v'],
    ['${graph["odd key"]}', { graph: { 'odd key': 'v' } }, 'v'],
    ['${graph["odd.key"].x}', { graph: { 'odd.key': { x: 'v' } } }, 'v'],
    ['${matrix[1][0]}', { matrix: [[1], [2]] }, 2],
    ['$${a}', { a: 'b' }, '${a}'],
    ['$${a} ${a}', { a: 'b' }, '${a} b'],
    ['${a}', { a: '${b}', b: '${c}', c: 'end' }, 'end'],
    ['${a}', { a: 'x ${b} y', b: '${c}', c: 'end' }, 'x end y'],
  ])('%s is resolved', (text, others, expected) => {
    expect(resolveX(text, others)).toEqual(expected);
  });

  it.each([
    [7, 7],
    [true, true],
    [null, null],
    [new RawScalar('007', 7), new RawScalar('007', 7)],
    [
      ['a', 1],
      ['a', 1],
    ],
    [[{ a: [1] }], [{ a: [1] }]],
  ])('that is the whole value keeps the type of %j', (value, expected) => {
    expect(resolveX('${a}', { a: value })).toEqual(expected);
  });

  it.each([
    [7, '<7>'],
    [true, '<true>'],
    [null, '<>'],
    [new RawScalar('007', 7), '<007>'],
    [12345678901234567890n, '<12345678901234567890>'],
    ['', '<>'],
  ])('inside a string inserts %s as written', (value, expected) => {
    expect(resolveX('<${a}>', { a: value })).toBe(expected);
  });

  it('is resolved in lists, and in maps inside lists', () => {
    expect(resolveX(['${a}', { b: '<${a}>', c: ['${a}'] }, 7], { a: 'v' })).toEqual(['v', { b: '<v>', c: ['v'] }, 7]);
  });

  it('finds the longest defined name', () => {
    const others = { 'a.b.c': 'longest', 'a.b': [{ c: 'shorter' }], a: ['shortest'] };
    expect(resolveX('${a.b.c}', others)).toBe('longest');
    expect(resolveX('${a.b[0].c}', others)).toBe('shorter');
    expect(resolveX('${a[0]}', others)).toBe('shortest');
  });

  it('finds only the longest defined name, even if it lacks the member', () => {
    expect(errorOf('${a.b.c}', { 'a.b': 'text', a: [{ b: { c: 'not this' } }] }).message).toBe('a.b.c is not defined');
  });

  it('prefers a variable to a member of the same name', () => {
    const variables = new Variables().add(
      [
        { name: 'graph', value: { client_id: 'member' } },
        { name: 'graph.client_id', value: 'variable' },
        { name: 'x', value: '${graph.client_id}' },
      ],
      sources.given,
    );
    expect(resolved(variables, 'x')).toBe('variable');
  });

  it.each([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'list.constructor',
    'list.__proto__',
    'list.length',
    'list["length"]',
    'list[0].constructor',
    'list[0].__proto__',
    'text.length',
    'text[0]',
    'secret.reveal',
    'secret.length',
    'scalar.text',
    'list[1]',
    'list[0].a.b',
  ])('cannot refer to %s, which is not data', (path) => {
    const others = {
      list: [{ a: 1 }],
      text: 'text',
      secret: new Secret('hidden value'),
      scalar: new RawScalar('01', 1),
    };
    expect(errorOf(`\${${path}}`, others).message).toBe(`${path} is not defined`);
    expect(resolveX(`\${${path}:-default}`, others)).toBe('default');
  });

  it('can refer to a member that is named __proto__', () => {
    const list = [JSON.parse('{"__proto__": {"constructor": "data"}}')];
    expect(resolveX('${list[0].__proto__.constructor}', { list })).toBe('data');
  });
});

describe('A default', () => {
  it.each([
    ['${a:-b}', {}, 'b'],
    ['${a:-b}', { a: '' }, 'b'],
    ['${a:-b}', { a: null }, 'b'],
    ['${a:-b}', { a: new Secret('') }, 'b'],
    ['${a:-b}', { a: 'v' }, 'v'],
    ['${a:-b}', { a: 0 }, 0],
    ['${a:-b}', { a: false }, false],
    ['${a:-b}', { a: ' ' }, ' '],
    ['${a:-}', {}, ''],
    ['<${a:-}>', {}, '<>'],
    ['${a.b[0]:-b}', { a: 'text' }, 'b'],
    ['${a:-${b}}', { b: 'v' }, 'v'],
    ['${a:-${b}}', { b: 7 }, 7],
    ['${a:-<${b}>}', { b: 7 }, '<7>'],
    ['${a:-${b:-${c:-d}}}', {}, 'd'],
    ['${a:-${b:-${c:-d}}}', { b: '', c: 'v' }, 'v'],
    ['${env:A:-${a}}', { a: 'v' }, 'v'],
    ['${env:A:-b}', {}, 'b'],
    ['${file:f:-b}', {}, 'b'],
    ['${a:-$${b}', {}, '${b'],
  ])('in %s replaces a value that is undefined or empty: %j', (text, others, expected) => {
    expect(resolveX(text, others)).toEqual(expected);
  });

  it('replaces an empty environment variable and an empty file', () => {
    const external = { env: { A: '' }, files: { f: '\n' } };
    expect(resolveX('${env:A:-b}', {}, external)).toBe('b');
    expect(resolveX('${file:f:-b}', {}, external)).toBe('b');
  });

  it('is not resolved unless it is needed', () => {
    expect(resolveX('${a:-${undefined}}', { a: 'v' })).toBe('v');
  });

  it('that is undefined itself is named in the error', () => {
    expect(errorOf('${a:-${bee}}').message).toBe('bee is not defined');
  });

  it('does not replace a variable that cannot be resolved', () => {
    expect(errorOf('${a:-b}', { a: '${nowhere}' }).message).toBe('nowhere is not defined');
  });
});

describe('An environment variable or a file', () => {
  it.each([
    ['content', 'content'],
    ['content\n', 'content'],
    ['content\r\n', 'content'],
    ['content\n\n', 'content\n'],
    ['\n\ncontent', '\n\ncontent'],
    ['two\nlines\n', 'two\nlines'],
    ['content \n', 'content '],
    ['content\r', 'content\r'],
    ['\n', ''],
    ['', ''],
  ])('loses one trailing line end, if a file: %j', (text, expected) => {
    expect(resolveX('${file:f}', {}, { files: { f: text } })).toBe(expected);
  });

  it('keeps its whitespace, if an environment variable', () => {
    expect(resolveX('<${env:A}>', {}, { env: { A: ' v\n' } })).toBe('< v\n>');
  });

  it('is read with the source of the reference', () => {
    const paths: unknown[] = [];
    const variables = variablesOf({
      user: { a: '${file:f}' },
      directory: { b: '${file:f}' },
      given: { c: '${a} ${b}' },
    });
    const resolver = new Resolver(variables, {
      env: () => undefined,
      readFileInside(path, source) {
        paths.push([path, source.trust]);
        return 'v';
      },
    });
    const variable = variables.get('c');
    expect(variable && resolver.resolve(variable)).toBe('v v');
    expect(paths).toEqual([
      ['f', 'user'],
      ['f', 'directory'],
    ]);
  });

  it.each([
    ['${env:NOPE}', 'environment variable NOPE is not set', 'set NOPE, or write ${env:NOPE:-default}'],
    ['${env:EMPTY}', 'environment variable EMPTY is empty', 'set EMPTY, or write ${env:EMPTY:-default}'],
    ['<${env:EMPTY}>', 'environment variable EMPTY is empty', 'set EMPTY, or write ${env:EMPTY:-default}'],
    ['${file:nope.txt}', 'file nope.txt does not exist', 'create it, or correct the path'],
  ])('is named in the error if it is missing: %s', (text, message, hint) => {
    expect(errorOf(text, {}, { env: { EMPTY: '' } })).toEqual({ message, hint });
  });

  it.each([
    ['config/.env.local', 'S is a variable of config/.env.local: write ${S}, or pass the file with --env-file'],
    ['a.yaml', 'S is a variable of a.yaml: write ${S}'],
  ])('is not set if it is only a variable of %s', (label, hint) => {
    const variables = new Variables().add([{ name: 'S', value: 'x' }], { ...sources.given, label });
    variables.add([{ name: 'x', value: '${env:S}' }], sources.given);
    expect(failureOf(() => resolved(variables, 'x')).hint).toBe(hint);
  });

  it('may be empty with an empty default', () => {
    expect(resolveX('${env:EMPTY:-}', {}, { env: { EMPTY: '' } })).toBe('');
  });

  it.each(['OAUTH_PROFILE_KEY', 'OAUTH_PROFILE_STORE', 'oauth_profile_key'])('cannot be %s', (name) => {
    for (const text of [`\${env:${name}}`, `x\${env:${name}:-default}`]) {
      const { message, hint } = errorOf(text, {}, { env: { [name]: 'hidden' } });
      expect(message).toContain(name);
      expect(message + hint).not.toContain('hidden');
    }
  });

  it.each([
    ['${env:CLIENT_SECRET}', true],
    ['${env:MY_TOKEN}', true],
    ['${env:USER}', false],
    ['${file:client_secret}', true],
    ['${file:client_secret.txt}', true],
    ['${file:./token.json}', true],
    ['${file:/run/secrets/db}', true],
    ['${file:/run/secrets/db.txt}', true],
    ['${file:name.txt}', false],
  ])('with the name of a secret is a secret: %s, %s', (text, secret) => {
    const name = text.slice(text.indexOf(':') + 1, -1);
    const external = { env: { [name]: 'value' }, files: { [name]: 'value' } };
    expect(resolveX(text, {}, external)).toEqual(secret ? { secret: 'value' } : 'value');
    expect(resolveX(`<${text}>`, {}, external)).toEqual(secret ? { secret: '<value>' } : '<value>');
  });
});

describe('A value from an external source', () => {
  const tempting = '${a} ${env:A} $${b} ${';

  it.each([
    ['an environment variable', '${env:E}', {}],
    ['a file', '${file:f}', {}],
    ['a secret of the environment', '${env:E_TOKEN}', {}],
    ['a secret that a program gives', '${s}', { s: new Secret(tempting) }],
    ['a secret in a list that a program gives', '${l[0]}', { l: [new Secret(tempting), '${a}'] }],
    ['a secret in a map that a program gives', '${l[0].s}', { l: [{ s: new Secret(tempting) }, '${a}'] }],
    ['a variable of such a value', '${b}', { b: '${env:E}' }],
  ])('is not evaluated: %s', (_, text, others) => {
    const external = { env: { E: tempting, E_TOKEN: tempting, A: 'wrong' }, files: { f: tempting } };
    const value = resolveX(text, { a: 'wrong', ...others }, external);
    const clear = typeof value === 'object' ? (value as { secret: string }).secret : value;
    expect(clear).toBe(tempting);
    expect(resolveX(`<${text}>`, { a: 'wrong', ...others }, external)).toEqual(
      typeof value === 'object' ? { secret: `<${tempting}>` } : `<${tempting}>`,
    );
  });

  it('is not evaluated if an entry is literal', () => {
    const variables = new Variables().add(
      [
        { name: 'a', value: 'wrong' },
        { name: 'literal', value: tempting, literal: true },
        { name: 'password', value: tempting, literal: true },
        { name: 'x', value: '<${literal}>' },
        { name: 'y', value: '${password}' },
      ],
      sources.given,
    );
    expect(resolved(variables, 'literal')).toBe(tempting);
    expect(resolved(variables, 'x')).toBe(`<${tempting}>`);
    expect(shown(resolved(variables, 'y'))).toEqual({ secret: tempting });
  });

  it('is never evaluated, whatever its content', () => {
    fc.assert(
      fc.property(fc.oneof(anyString(1), fc.constantFrom('${a}', '$${a}', '${env:A}', '${', '$')), (text) => {
        const external = { env: { A: 'wrong', E: text }, files: { f: text } };
        const others = { a: 'wrong' };
        expect(resolveX('<${env:E}>', others, external)).toBe(`<${text}>`);
        expect(resolveX('<${file:f}>', others, external)).toBe(`<${text.replace(/\r?\n$/, '')}>`);
        expect(resolveX('<${s}>', { ...others, s: new Secret(text) }, external)).toEqual({ secret: `<${text}>` });
        expect(resolveX(escapeReferences(text), others, external)).toBe(text);
      }),
    );
  });
});

describe('A secret', () => {
  it('stays secret where a reference inserts it', () => {
    const others = { graph: { client_secret: 'hidden' } };
    expect(resolveX('${graph.client_secret}', others)).toEqual({ secret: 'hidden' });
    expect(resolveX('Bearer ${graph.client_secret}', others)).toEqual({ secret: 'Bearer hidden' });
    expect(resolveX('${a}', { ...others, a: '${b}', b: '<${graph.client_secret}>' })).toEqual({ secret: '<hidden>' });
    expect(resolveX('${a:-${graph.client_secret}}', others)).toEqual({ secret: 'hidden' });
  });

  it.each([
    ['a string', 'v', { secret: 'v' }],
    ['a number', 12345678, { secret: '12345678' }],
    ['a number with a spelling of its own', new RawScalar('0012', 12), { secret: '0012' }],
    ['true', true, { secret: 'true' }],
    ['a list', ['a', 1], [{ secret: 'a' }, { secret: '1' }]],
    ['a list of maps', [{ a: ['v'] }], [{ a: [{ secret: 'v' }] }]],
  ])('wraps %s that its value refers to', (_, value, expected) => {
    expect(shown(resolved(variablesOf({ given: { password: '${a}', a: value } }), 'password'))).toEqual(expected);
  });

  it('may contain references', () => {
    const variables = variablesOf({ given: { password: '<${env:P}> $${x}' } });
    expect(shown(resolved(variables, 'password', { env: { P: 'v' } }))).toEqual({ secret: '<v> ${x}' });
  });

  it('is wrapped in lists and in maps inside lists', () => {
    const accounts = [{ name: 'Ada', password: 'p-${a}', nested: { api_key: 7 } }];
    const variables = variablesOf({ given: { a: 'v', accounts, passwords: ['one', '${a}'] } });
    expect(shown(resolved(variables, 'accounts'))).toEqual([
      { name: 'Ada', password: { secret: 'p-v' }, nested: { api_key: { secret: '7' } } },
    ]);
    expect(shown(resolved(variables, 'passwords'))).toEqual([{ secret: 'one' }, { secret: 'v' }]);
  });

  it('is announced before it can be printed', () => {
    const seen: string[] = [];
    const stop = onSecretCreated((secret) => seen.push(secret.reveal()));
    resolveX('Bearer ${env:T_TOKEN}', {}, { env: { T_TOKEN: 'abc' } });
    stop();
    expect(seen).toEqual(['abc', 'Bearer abc']);
  });

  it('that contains an invalid reference is not quoted in the error', () => {
    for (const password of [
      '${hunter2}hunter2',
      'hunter2${hunter2}',
      '${hunter2',
      'a${hunter2.x}',
      '${a:-${hunter2}}',
      'x${env:hunter2}',
    ]) {
      const { code, message, hint } = failureOf(() => resolved(variablesOf({ given: { password } }), 'password'));
      expect(code).toBe('data_invalid');
      expect(`${message} ${hint}`).not.toContain('hunter2');
    }
  });

  it('that is only a reference is named in the error', () => {
    const variables = variablesOf({ given: { password: '${env:MY_PASSWORD}' } });
    expect(failureOf(() => resolved(variables, 'password')).message).toBe(
      'environment variable MY_PASSWORD is not set',
    );
  });
});

describe('An undefined name', () => {
  it.each([
    ['${graph.clientid}', { graph: { client_id: '1', type: 'x' } }, 'graph.clientid', 'did you mean graph.client_id?'],
    ['${Graph.Client_Id}', { graph: { client_id: '1' } }, 'Graph.Client_Id', 'did you mean graph.client_id?'],
    ['${graf.type}', { graph: { type: 'x' } }, 'graf.type', 'did you mean graph.type?'],
    ['${list[0].nmae}', { list: [{ name: 'Ada', age: 1 }] }, 'list[0].nmae', 'did you mean list.0.name?'],
    ['${other}', { graph: { type: 'x' } }, 'other', 'define other, or write ${other:-default}'],
  ])('is reported with the nearest name: %s', (text, others, name, hint) => {
    expect(errorOf(text, others)).toEqual({ message: `${name} is not defined`, hint });
  });

  it.each([
    ['${GRAPH_SECRET}', 'GRAPH_SECRET', 'did you mean ${env:GRAPH_SECRET}?'],
    ['${env.GRAPH_SECRET}', 'env.GRAPH_SECRET', 'did you mean ${env:GRAPH_SECRET}?'],
    ['${NOPE}', 'NOPE', 'define NOPE, or write ${NOPE:-default}'],
    ['${OAUTH_PROFILE_KEY}', 'OAUTH_PROFILE_KEY', 'define OAUTH_PROFILE_KEY, or write ${OAUTH_PROFILE_KEY:-default}'],
  ])('is compared with the environment variables: %s', (text, name, hint) => {
    const env = { GRAPH_SECRET: 'hunter2hunter2', OAUTH_PROFILE_KEY: 'k' };
    expect(errorOf(text, {}, { env })).toEqual({ message: `${name} is not defined`, hint });
  });

  it('is compared with the members of the variable that it refers into', () => {
    const variables = new Variables().add(
      [
        { name: 'token', value: { access_token: 'a', token_type: 'b', data: { id: 1 } } },
        { name: 'x', value: '${token.acces_token}' },
        { name: 'y', value: '${token.data.ids}' },
      ],
      sources.given,
    );
    expect(failureOf(() => resolved(variables, 'x')).hint).toBe('did you mean token.access_token?');
    expect(failureOf(() => resolved(variables, 'y')).hint).toBe('did you mean token.data.id?');
  });

  it.each([
    ['${a.b}', { a: 'text' }, 'a.b'],
    ['${list[5]}', { list: ['v', 'w'] }, 'list[5]'],
  ])('is not compared with the characters of a string or the items of a list: %s', (text, others, name) => {
    expect(errorOf(text, others).hint).toBe(`define ${name}, or write \${${name}:-default}`);
  });

  it.each(['${graph}', '<${graph}>'])('is reported with the members if it is a map: %s', (text) => {
    expect(errorOf(text, { graph: { type: 'x', client_id: 'y' } })).toMatchObject({
      hint: expect.stringContaining('graph.type, graph.client_id'),
    });
  });
});

describe('A collection inside a string', () => {
  const object = (value: object) =>
    new Variables().add(
      [
        { name: 'token', value: value as never },
        { name: 'x', value: 'a ${token}' },
      ],
      sources.given,
    );

  it('is an error that names its fields', () => {
    expect(failureOf(() => resolved(object({ access_token: 'hidden', expires_in: 1 }), 'x'))).toMatchObject({
      message: expect.stringContaining('token'),
      hint: expect.stringContaining('access_token, expires_in'),
    });
  });

  it('is an error that names its items', () => {
    expect(errorOf('<${a}>', { a: ['v', 'w'] }).hint).toContain('[0], [1]');
  });

  it('is an error even if it is empty, and at most 12 of its members are listed', () => {
    expect(errorOf('<${a}>', { a: [] }).hint).toContain('empty');
    expect(errorOf('<${a}>', { a: Array(1000).fill('v') }).hint).toMatch(/\[10\], \[11\], …$/);
    expect(errorOf('<${a}>', { a: Array(12).fill('v') }).hint).toMatch(/\[10\], \[11\]$/);
  });
});

describe('Circular references', () => {
  it.each([
    ['x', { x: '${x}' }, 'x → x'],
    ['x', { x: '<${x}>' }, 'x → x'],
    ['x', { x: '${a}', a: '${b}', b: '${a}' }, 'a → b → a'],
    ['x', { x: ['${x[0]}'] }, 'x → x'],
    ['x', { x: '${nothing:-${x}}' }, 'x → x'],
  ])('are reported: %s', (name, given, circle) => {
    expect(failureOf(() => resolved(variablesOf({ given }), name))).toMatchObject({
      code: 'data_invalid',
      message: `circular reference: ${circle}`,
      hint: expect.stringContaining(`set ${circle.slice(0, 1)} `),
    });
  });

  it('are reported in secrets', () => {
    const variables = variablesOf({ given: { password: '${token}', token: '${password}' } });
    expect(failureOf(() => resolved(variables, 'password')).message).toContain('circular reference');
  });

  it('do not affect other variables', () => {
    const variables = variablesOf({ given: { a: '${b}', b: '${a}', c: 'fine ${d}', d: 'too' } });
    const resolver = resolverOf(variables);
    const [a, c] = [variables.get('a'), variables.get('c')];
    if (a === undefined || c === undefined) throw new TypeError('not defined');
    expect(failureOf(() => resolver.resolve(a)).message).toContain('a → b → a');
    expect(resolver.resolve(c)).toBe('fine too');
    expect(failureOf(() => resolver.resolve(a)).message).toContain('a → b → a');
  });

  it('are limited to 100 in a row, which cannot overflow the stack', () => {
    const given: Record<string, string> = { v20000: 'end' };
    for (let index = 0; index < 20_000; index++) given[`v${index}`] = `\${v${index + 1}}`;
    expect(failureOf(() => resolved(variablesOf({ given }), 'v0'))).toMatchObject({
      code: 'data_invalid',
      message: 'more than 100 nested references',
      hint: expect.stringContaining('v100'),
    });
    expect(resolved(variablesOf({ given }), 'v19900')).toBe('end');
    expect(failureOf(() => resolved(variablesOf({ given }), 'v19899')).message).toContain('100 nested references');
    expect(resolved(variablesOf({ given }), 'v19950')).toBe('end');
  });
});

describe('References that multiply', () => {
  const doubling = (write: (name: string) => unknown, first: unknown): DataObject => {
    const data: Record<string, unknown> = { v0: first };
    for (let index = 1; index <= 60; index++) data[`v${index}`] = write(`\${v${index - 1}}`);
    return data;
  };

  it.each([
    ['strings', doubling((v) => `${v}${v}`, 'ten chars.')],
    ['secrets', doubling((v) => `${v}${v}`, new Secret('ten chars.'))],
    ['lists', doubling((v) => [v, v], ['a', 'b'])],
    ['maps in lists', doubling((v) => [{ a: v, b: [v] }], 'a')],
    ['defaults', doubling((v) => `\${no:-${v}${v}}`, 'ten chars.')],
  ])('are rejected: %s', (_, given) => {
    expect(failureOf(() => resolved(variablesOf({ given }), 'v60'))).toMatchObject({
      code: 'data_invalid',
      message: 'the value is longer than 1048576 characters',
    });
  });

  it('are rejected in one long list', () => {
    const given = { big: 'x'.repeat(500_000), list: Array(100_000).fill('${big}${big}') };
    expect(failureOf(() => resolved(variablesOf({ given }), 'list')).message).toMatch(/is longer than/);
  });

  it('are rejected in many variables', () => {
    const given: Record<string, string> = { big: 'x'.repeat(900_000) };
    for (let index = 0; index < 1000; index++) given[`v${index}`] = '<${big}>';
    const variables = variablesOf({ given });
    const resolver = resolverOf(variables);
    expect(failureOf(() => [...variables].map((variable) => resolver.resolve(variable))).message).toMatch(
      /is longer than/,
    );
  });

  it('are resolved up to the limit', () => {
    const given = { half: 'x'.repeat(524_288), x: '${half}${half}', y: '${half}${half}.' };
    expect(resolved(variablesOf({ given }), 'x')).toHaveLength(1_048_576);
    expect(failureOf(() => resolved(variablesOf({ given }), 'y')).message).toMatch(/is longer than/);
  });

  it('are resolved if the result is small', () => {
    const given = doubling((v) => [v, v], 'a');
    expect(JSON.stringify(resolved(variablesOf({ given }), 'v3'))).toBe(
      '[[["a","a"],["a","a"]],[["a","a"],["a","a"]]]',
    );
  });
});

describe("The user's file and the directory's", () => {
  it("are separate: a reference in the user's file cannot use a variable of the directory's", () => {
    const variables = variablesOf({ user: { 'graph.url': 'https://${host}/' }, directory: { host: 'evil.example' } });
    expect(failureOf(() => resolved(variables, 'graph.url')).message).toContain('host in oauth-profiles.yaml');
  });

  it("are separate from a script: a reference in the user's file cannot use a variable of a script", () => {
    const variables = variablesOf({ user: { 'graph.url': 'https://${host}/' }, script: { host: 'evil.example' } });
    expect(failureOf(() => resolved(variables, 'graph.url')).message).toContain('host in me.yaml');
  });

  it("are separate even if the user's reference has a default", () => {
    const variables = variablesOf({ user: { x: '${host:-good.example}' }, directory: { host: 'evil.example' } });
    expect(failureOf(() => resolved(variables, 'x')).message).toContain('cannot refer to host');
  });

  it("are separate even if the directory's file defines a longer name than the user's", () => {
    const variables = variablesOf({
      user: { servers: [{ host: 'good.example' }], x: '${servers[0].host}' },
      directory: { 'servers.0.host': 'evil.example' },
    });
    expect(failureOf(() => resolved(variables, 'x')).message).toContain('cannot refer to servers.0.host');
  });

  it.each([
    ['a secret', { client_secret: 'hidden' }, '${client_secret}'],
    ['a string around a secret', { client_secret: 'hidden', header: 'Basic ${client_secret}' }, '${header}'],
    ['an alias of a secret', { client_secret: 'hidden', a: '${b}', b: '${client_secret}' }, '<${a}>'],
    ['an item of a list of secrets', { tokens: ['hidden'] }, '${tokens[0]}'],
    ['a list of secrets', { tokens: ['hidden'] }, '${tokens}'],
    ['a member of a map in a list', { all: [{ password: 'hidden' }] }, '${all[0].password}'],
    ['a list that contains a secret', { all: [{ a: [{ password: 'hidden' }] }] }, '${all}'],
    ['a secret of the environment', { a: '${env:T_TOKEN}' }, '${a}'],
    ['a secret with a default', { client_secret: 'hidden' }, '${client_secret:-x}'],
    ['a secret as a default', { client_secret: 'hidden' }, '${x:-${client_secret}}'],
  ])("are separate: a reference in the directory's file cannot use %s of the user's", (_, user, text) => {
    const variables = variablesOf({ user, directory: { 'evil.field': text } });
    const { message, hint } = failureOf(() => resolved(variables, 'evil.field', { env: { T_TOKEN: 'hidden' } }));
    expect(message).toContain('must not read your secrets');
    expect(`${message} ${hint}`).not.toContain('hidden');
  });

  it("are separate: a reference in the directory's file cannot use a collection that contains a secret of the user's", () => {
    const variables = variablesOf({
      user: { all: ['Ada', { password: 'hidden', name: 'Ada' }] },
      directory: { 'evil.field': '${all}', 'evil.other': '${all[1]}' },
    });
    for (const name of ['evil.field', 'evil.other']) {
      expect(failureOf(() => resolved(variables, name))).toMatchObject({
        code: 'data_invalid',
        message: expect.stringContaining('must not read your secrets'),
      });
    }
  });

  it("share values that are not secret: the directory's file may refer to them", () => {
    const variables = variablesOf({
      user: { tenant: 'contoso', all: [{ name: 'Ada', password: 'hidden' }] },
      directory: { 'x.tenant_id': '${tenant}', 'x.username': '${all[0].name}' },
    });
    expect([resolved(variables, 'x.tenant_id'), resolved(variables, 'x.username')]).toEqual(['contoso', 'Ada']);
  });

  it('share variables with given files', () => {
    const variables = variablesOf({
      user: { client_secret: 'hidden', u: '${g}' },
      directory: { host: 'directory.example', f: '${g} ${g_secret}' },
      given: { g: 'given', g_secret: 'given too', both: '${host} ${client_secret}' },
    });
    expect(shown(resolved(variables, 'both'))).toEqual({ secret: 'directory.example hidden' });
    expect(resolved(variables, 'u')).toBe('given');
    expect(shown(resolved(variables, 'f'))).toEqual({ secret: 'given given too' });
  });

  it('may refer to their own variables', () => {
    const variables = variablesOf({
      user: { a: '${a_token}', a_token: 'user' },
      directory: { b: '${b_token}', b_token: 'directory' },
    });
    expect(shown(resolved(variables, 'a'))).toEqual({ secret: 'user' });
    expect(shown(resolved(variables, 'b'))).toEqual({ secret: 'directory' });
  });

  it('cannot both define a variable that is used', () => {
    const variables = variablesOf({ user: { host: 'good', u: '${host}' }, directory: { host: 'evil', f: '${host}' } });
    for (const name of ['u', 'f']) {
      expect(failureOf(() => resolved(variables, name))).toMatchObject({
        code: 'data_invalid',
        message: `host is defined in both ${sources.user.label} and oauth-profiles.yaml`,
      });
    }
  });

  it('may both define a variable that a given file overrides', () => {
    const variables = variablesOf({
      user: { host: 'good', u: '${host}' },
      directory: { host: 'evil', f: '${host}' },
      given: { host: 'given' },
    });
    expect([resolved(variables, 'u'), resolved(variables, 'f')]).toEqual(['given', 'given']);
  });
});

describe('An external value', () => {
  const variables = variablesOf({
    given: {
      plain: 'v',
      env: '${env:A}',
      inside: 'x ${env:A} y',
      file: ['${file:f}'],
      indirect: '<${inside}>',
      literal: '${plain}',
      unset: '${env:NOPE:-v}',
      used: '${env:A:-v}',
    },
  });
  const resolver = resolverOf(variables, { env: { A: 'a' }, files: { f: 'b' } });
  const isExternal = (name: string) => {
    const variable = variables.get(name);
    return variable && resolver.isExternal(variable);
  };

  it.each(['env', 'inside', 'file', 'indirect', 'used'])('is detected: %s', (name) => {
    expect(isExternal(name)).toBe(true);
  });

  it.each(['plain', 'literal', 'unset'])('is not every reference: %s', (name) => {
    expect(isExternal(name)).toBe(false);
  });

  it('is detected if the other variable was resolved before', () => {
    expect([isExternal('inside'), isExternal('indirect')]).toEqual([true, true]);
  });
});

describe('A member', () => {
  const value = { a: [{ b: 'c' }], text: 'abc' };

  it.each([
    [[], value],
    [['a', 0, 'b'], 'c'],
    [['a', '0', 'b'], 'c'],
    [['a', 1], undefined],
    [['a', -1], undefined],
    [['a', 'length'], undefined],
    [['text', 0], undefined],
    [['text', 'length'], undefined],
    [['constructor'], undefined],
    [['__proto__'], undefined],
    [['a', 'map'], undefined],
  ])('is found only if the data has one: %j', (path, expected) => {
    expect(member(value, path)).toEqual(expected);
  });
});

describe('A value that is not a variable', () => {
  const variables = variablesOf({ user: { own: 'u' }, given: { a: 'v', my_token: 'hidden' } });
  const follow = (value: Value, source: Source = sources.given) =>
    shown(resolverOf(variables, { files: { 'x.txt': 'text\n' } }).follow(value, source));

  it('is resolved as if its source defined it', () => {
    expect(follow({ list: ['<${a}>', 7], t: '${my_token}', f: '${file:x.txt}' })).toEqual({
      list: ['<v>', 7],
      t: { secret: 'hidden' },
      f: 'text',
    });
  });

  it('is returned unchanged if it has no references', () => {
    const value = { a: ['$', 1] };
    expect(resolverOf(variables).follow(value, sources.given)).toBe(value);
  });

  it('is rejected if a reference is invalid', () => {
    expect(failureOf(() => follow('${}')).message).toContain('has no name');
  });
});
