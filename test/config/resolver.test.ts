import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { escapeReferences } from '../../src/config/reference.ts';
import { member, Resolver } from '../../src/config/resolver.ts';
import { RawScalar, type Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { onSecretCreated, Secret } from '../../src/redaction/secret.ts';
import { anyString } from '../support/any-string.ts';
import { failureOf, resolved, resolverOf, shown, sources, variablesOf, type World } from '../support/resolving.ts';

/** What `x` resolves to among other variables. */
function look(x: unknown, others: DataObject = {}, world?: World): unknown {
  return shown(resolved(variablesOf({ given: { ...others, x } }), 'x', world));
}

/** Why `x` cannot be resolved. */
function fault(x: unknown, others: DataObject = {}, world?: World): { message: string; hint: string | undefined } {
  const { code, message, hint } = failureOf(() => look(x, others, world));
  expect(code).toBe('data_invalid');
  return { message, hint };
}

describe('a reference', () => {
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
  ])('%s is looked up', (text, others, expected) => {
    expect(look(text, others)).toEqual(expected);
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
    expect(look('${a}', { a: value })).toEqual(expected);
  });

  it.each([
    [7, '<7>'],
    [true, '<true>'],
    [null, '<>'],
    [new RawScalar('007', 7), '<007>'],
    [12345678901234567890n, '<12345678901234567890>'],
    ['', '<>'],
  ])('inside a text writes %s as it is written in its file', (value, expected) => {
    expect(look('<${a}>', { a: value })).toBe(expected);
  });

  it('is followed in lists, and in maps inside lists', () => {
    expect(look(['${a}', { b: '<${a}>', c: ['${a}'] }, 7], { a: 'v' })).toEqual(['v', { b: '<v>', c: ['v'] }, 7]);
  });

  it('finds the longest defined name', () => {
    const others = { 'a.b.c': 'longest', 'a.b': [{ c: 'shorter' }], a: ['shortest'] };
    expect(look('${a.b.c}', others)).toBe('longest');
    expect(look('${a.b[0].c}', others)).toBe('shorter');
    expect(look('${a[0]}', others)).toBe('shortest');
  });

  it('finds the longest defined name and no other when the rest is not in it', () => {
    expect(fault('${a.b.c}', { 'a.b': 'text', a: [{ b: { c: 'not this' } }] }).message).toBe('a.b.c is not defined');
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
    'written.text',
    'list[1]',
    'list[0].a.b',
  ])('never reaches %s, which is no data', (path) => {
    const others = {
      list: [{ a: 1 }],
      text: 'text',
      secret: new Secret('hidden value'),
      written: new RawScalar('01', 1),
    };
    expect(fault(`\${${path}}`, others).message).toBe(`${path} is not defined`);
    expect(look(`\${${path}:-default}`, others)).toBe('default');
  });

  it('reaches a member that is really named __proto__', () => {
    const list = [JSON.parse('{"__proto__": {"constructor": "data"}}')];
    expect(look('${list[0].__proto__.constructor}', { list })).toBe('data');
  });
});

describe('a default', () => {
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
  ])('in %s serves for what is undefined or empty: %j', (text, others, expected) => {
    expect(look(text, others)).toEqual(expected);
  });

  it('serves for an environment variable and a file that are empty', () => {
    const world = { env: { A: '' }, files: { f: '\n' } };
    expect(look('${env:A:-b}', {}, world)).toBe('b');
    expect(look('${file:f:-b}', {}, world)).toBe('b');
  });

  it('is not looked at where it is not needed', () => {
    expect(look('${a:-${undefined}}', { a: 'v' })).toBe('v');
  });

  it('that is needed and undefined itself is the fault', () => {
    expect(fault('${a:-${bee}}').message).toBe('bee is not defined');
  });

  it('does not serve for a variable that is there but wrong', () => {
    expect(fault('${a:-b}', { a: '${nowhere}' }).message).toBe('nowhere is not defined');
  });
});

describe('the outside', () => {
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
  ])('%j of a file loses one line end', (text, expected) => {
    expect(look('${file:f}', {}, { files: { f: text } })).toBe(expected);
  });

  it('gives an environment variable as it is', () => {
    expect(look('<${env:A}>', {}, { env: { A: ' v\n' } })).toBe('< v\n>');
  });

  it('is asked for a file with the source that refers to it', () => {
    const asked: unknown[] = [];
    const variables = variablesOf({ user: { a: '${file:f}' }, folder: { b: '${file:f}' }, given: { c: '${a} ${b}' } });
    const resolver = new Resolver(variables, {
      env: () => undefined,
      readFileInside(path, source) {
        asked.push([path, source.trust]);
        return 'v';
      },
    });
    const variable = variables.get('c');
    expect(variable && resolver.resolve(variable)).toBe('v v');
    expect(asked).toEqual([
      ['f', 'user'],
      ['f', 'directory'],
    ]);
  });

  it.each([
    ['${env:NOPE}', 'environment variable NOPE is not set', 'set NOPE, or write ${env:NOPE:-default}'],
    ['${file:nope.txt}', 'file nope.txt does not exist', 'create it, or correct the path in ${file:nope.txt}'],
  ])('%s that is not there is named', (text, message, hint) => {
    expect(fault(text)).toEqual({ message, hint });
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
  ])('%s is secret by its name: %s', (text, secret) => {
    const name = text.slice(text.indexOf(':') + 1, -1);
    const world = { env: { [name]: 'value' }, files: { [name]: 'value' } };
    expect(look(text, {}, world)).toEqual(secret ? { secret: 'value' } : 'value');
    expect(look(`<${text}>`, {}, world)).toEqual(secret ? { secret: '<value>' } : '<value>');
  });
});

describe('what came from outside', () => {
  const tempting = '${a} ${env:A} $${b} ${';

  it.each([
    ['an environment variable', '${env:E}', {}],
    ['a file', '${file:f}', {}],
    ['a secret of the environment', '${env:E_TOKEN}', {}],
    ['a secret that a program gives', '${s}', { s: new Secret(tempting) }],
    ['a secret in a list that a program gives', '${l[0]}', { l: [new Secret(tempting), '${a}'] }],
    ['a secret in a map that a program gives', '${l[0].s}', { l: [{ s: new Secret(tempting) }, '${a}'] }],
    ['a variable of such a value', '${b}', { b: '${env:E}' }],
  ])('is taken as it is: %s', (_, text, others) => {
    const world = { env: { E: tempting, E_TOKEN: tempting, A: 'wrong' }, files: { f: tempting } };
    const value = look(text, { a: 'wrong', ...others }, world);
    const clear = typeof value === 'object' ? (value as { secret: string }).secret : value;
    expect(clear).toBe(tempting);
    expect(look(`<${text}>`, { a: 'wrong', ...others }, world)).toEqual(
      typeof value === 'object' ? { secret: `<${tempting}>` } : `<${tempting}>`,
    );
  });

  it('is taken as it is when an entry is literal', () => {
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

  it('is never evaluated, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(anyString(), fc.constantFrom('${a}', '$${a}', '${env:A}', '${', '$')), (text) => {
        const world = { env: { A: 'wrong', E: text }, files: { f: text } };
        const others = { a: 'wrong' };
        expect(look('<${env:E}>', others, world)).toBe(`<${text}>`);
        expect(look('<${file:f}>', others, world)).toBe(`<${text.replace(/\r?\n$/, '')}>`);
        expect(look('<${s}>', { ...others, s: new Secret(text) }, world)).toEqual({ secret: `<${text}>` });
        expect(look(escapeReferences(text), others, world)).toBe(text);
      }),
    );
  });
});

describe('a secret', () => {
  it('stays secret where it is referred to', () => {
    const others = { graph: { client_secret: 'hidden' } };
    expect(look('${graph.client_secret}', others)).toEqual({ secret: 'hidden' });
    expect(look('Bearer ${graph.client_secret}', others)).toEqual({ secret: 'Bearer hidden' });
    expect(look('${a}', { ...others, a: '${b}', b: '<${graph.client_secret}>' })).toEqual({ secret: '<hidden>' });
    expect(look('${a:-${graph.client_secret}}', others)).toEqual({ secret: 'hidden' });
  });

  it.each([
    ['a text', 'v', { secret: 'v' }],
    ['a number', 12345678, { secret: '12345678' }],
    ['a number as it is written', new RawScalar('0012', 12), { secret: '0012' }],
    ['true', true, { secret: 'true' }],
    ['a list', ['a', 1], [{ secret: 'a' }, { secret: '1' }]],
    ['a list of maps', [{ a: ['v'] }], [{ a: [{ secret: 'v' }] }]],
  ])('is made of %s that its value refers to', (_, value, expected) => {
    expect(shown(resolved(variablesOf({ given: { password: '${a}', a: value } }), 'password'))).toEqual(expected);
  });

  it('may hold references', () => {
    const variables = variablesOf({ given: { password: '<${env:P}> $${x}' } });
    expect(shown(resolved(variables, 'password', { env: { P: 'v' } }))).toEqual({ secret: '<v> ${x}' });
  });

  it('is hidden in lists and in maps inside lists', () => {
    const accounts = [{ name: 'Ada', password: 'p-${a}', nested: { api_key: 7 } }];
    const variables = variablesOf({ given: { a: 'v', accounts, passwords: ['one', '${a}'] } });
    expect(shown(resolved(variables, 'accounts'))).toEqual([
      { name: 'Ada', password: { secret: 'p-v' }, nested: { api_key: { secret: '7' } } },
    ]);
    expect(shown(resolved(variables, 'passwords'))).toEqual([{ secret: 'one' }, { secret: 'v' }]);
  });

  it('is told of before anybody can print it', () => {
    const seen: string[] = [];
    const stop = onSecretCreated((secret) => seen.push(secret.reveal()));
    look('Bearer ${env:T_TOKEN}', {}, { env: { T_TOKEN: 'abc' } });
    stop();
    expect(seen).toEqual(['abc', 'Bearer abc']);
  });

  it('with something like a reference in it is not quoted in an error', () => {
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
      expect(message).toBe('a reference inside it cannot be followed');
      expect(hint).toBe('correct the ${…} in it; a literal ${ is written $${');
    }
  });

  it('that is a reference to nothing names it', () => {
    const variables = variablesOf({ given: { password: '${env:MY_PASSWORD}' } });
    expect(failureOf(() => resolved(variables, 'password')).message).toBe(
      'environment variable MY_PASSWORD is not set',
    );
  });
});

describe('what is not defined', () => {
  it.each([
    ['${graph.clientid}', { graph: { client_id: '1', type: 'x' } }, 'graph.clientid', 'did you mean graph.client_id?'],
    ['${Graph.Client_Id}', { graph: { client_id: '1' } }, 'Graph.Client_Id', 'did you mean graph.client_id?'],
    ['${graf.type}', { graph: { type: 'x' } }, 'graf.type', 'did you mean graph.type?'],
    ['${list[0].nmae}', { list: [{ name: 'Ada', age: 1 }] }, 'list[0].nmae', 'did you mean list.0.name?'],
    ['${other}', { graph: { type: 'x' } }, 'other', 'define other, or write ${other:-default}'],
  ])('%s is named, with the nearest name', (text, others, name, hint) => {
    expect(fault(text, others)).toEqual({ message: `${name} is not defined`, hint });
  });

  it('is compared with the members of the variable that it reaches into', () => {
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
  ])('%s is not compared with the letters of a text or the items of a list', (text, others, name) => {
    expect(fault(text, others).hint).toBe(`define ${name}, or write \${${name}:-default}`);
  });

  it.each(['${graph}', '<${graph}>'])('%s of a map names its parts', (text) => {
    expect(fault(text, { graph: { type: 'x', client_id: 'y' } })).toEqual({
      message: 'graph has parts and is no value of its own',
      hint: 'name one of its parts: graph.type, graph.client_id',
    });
  });
});

describe('a value with parts inside a text', () => {
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
      message: '${token} has parts and cannot stand inside a text',
      hint: 'name one of its parts: access_token, expires_in',
    });
  });

  it('is an error that names its items', () => {
    expect(fault('<${a}>', { a: ['v', 'w'] }).hint).toBe('name one of its parts: [0], [1]');
  });

  it('is an error even when it is empty, and short when it is long', () => {
    expect(fault('<${a}>', { a: [] }).hint).toBe('it is empty: give it a value, or remove the reference');
    expect(fault('<${a}>', { a: Array(1000).fill('v') }).hint).toMatch(/\[10\], \[11\], …$/);
    expect(fault('<${a}>', { a: Array(12).fill('v') }).hint).toMatch(/\[10\], \[11\]$/);
  });
});

describe('references that lead nowhere', () => {
  it.each([
    ['x', { x: '${x}' }, 'x → x'],
    ['x', { x: '<${x}>' }, 'x → x'],
    ['x', { x: '${a}', a: '${b}', b: '${a}' }, 'a → b → a'],
    ['x', { x: ['${x[0]}'] }, 'x → x'],
    ['x', { x: '${nothing:-${x}}' }, 'x → x'],
  ])('are shown as a circle', (name, given, circle) => {
    expect(failureOf(() => resolved(variablesOf({ given }), name))).toMatchObject({
      code: 'data_invalid',
      message: `refers to itself: ${circle}`,
      hint: `give ${circle.slice(0, 1)} a value of its own`,
    });
  });

  it('are found in secrets', () => {
    const variables = variablesOf({ given: { password: '${token}', token: '${password}' } });
    expect(failureOf(() => resolved(variables, 'password')).message).toContain('refers to itself');
  });

  it('spoil only who uses them, and every time', () => {
    const variables = variablesOf({ given: { a: '${b}', b: '${a}', c: 'fine ${d}', d: 'too' } });
    const resolver = resolverOf(variables);
    const [a, c] = [variables.get('a'), variables.get('c')];
    if (a === undefined || c === undefined) throw new TypeError('not defined');
    expect(failureOf(() => resolver.resolve(a)).message).toContain('a → b → a');
    expect(resolver.resolve(c)).toBe('fine too');
    expect(failureOf(() => resolver.resolve(a)).message).toContain('a → b → a');
  });

  it('are refused when the chain is long, not found by a stack that overflows', () => {
    const given: Record<string, string> = { v20000: 'end' };
    for (let index = 0; index < 20_000; index++) given[`v${index}`] = `\${v${index + 1}}`;
    expect(failureOf(() => resolved(variablesOf({ given }), 'v0'))).toMatchObject({
      code: 'data_invalid',
      message: 'refers to others over more than 100 steps',
      hint: 'give v100 a value of its own',
    });
    expect(resolved(variablesOf({ given }), 'v19900')).toBe('end');
    expect(failureOf(() => resolved(variablesOf({ given }), 'v19899')).message).toContain('100 steps');
    expect(resolved(variablesOf({ given }), 'v19950')).toBe('end');
  });
});

describe('references that multiply', () => {
  const doubling = (write: (name: string) => unknown, first: unknown): DataObject => {
    const data: Record<string, unknown> = { v0: first };
    for (let index = 1; index <= 60; index++) data[`v${index}`] = write(`\${v${index - 1}}`);
    return data;
  };

  it.each([
    ['texts', doubling((v) => `${v}${v}`, 'ten chars.')],
    ['secrets', doubling((v) => `${v}${v}`, new Secret('ten chars.'))],
    ['lists', doubling((v) => [v, v], ['a', 'b'])],
    ['maps in lists', doubling((v) => [{ a: v, b: [v] }], 'a')],
    ['defaults', doubling((v) => `\${no:-${v}${v}}`, 'ten chars.')],
  ])('are stopped: %s', (_, given) => {
    expect(failureOf(() => resolved(variablesOf({ given }), 'v60'))).toMatchObject({
      code: 'data_invalid',
      message: 'grows beyond 1048576 characters',
      hint: 'look for references that multiply each other',
    });
  });

  it('are stopped in one long list', () => {
    const given = { big: 'x'.repeat(500_000), list: Array(100_000).fill('${big}${big}') };
    expect(failureOf(() => resolved(variablesOf({ given }), 'list')).message).toMatch(/^grows beyond/);
  });

  it('are stopped in many variables', () => {
    const given: Record<string, string> = { big: 'x'.repeat(900_000) };
    for (let index = 0; index < 1000; index++) given[`v${index}`] = '<${big}>';
    const variables = variablesOf({ given });
    const resolver = resolverOf(variables);
    expect(failureOf(() => [...variables].map((variable) => resolver.resolve(variable))).message).toMatch(/^grows/);
  });

  it('are not stopped at the limit itself', () => {
    const given = { half: 'x'.repeat(524_288), x: '${half}${half}', y: '${half}${half}.' };
    expect(resolved(variablesOf({ given }), 'x')).toHaveLength(1_048_576);
    expect(failureOf(() => resolved(variablesOf({ given }), 'y')).message).toMatch(/^grows beyond/);
  });

  it('are not stopped while they are small', () => {
    const given = doubling((v) => [v, v], 'a');
    expect(JSON.stringify(resolved(variablesOf({ given }), 'v3'))).toBe(
      '[[["a","a"],["a","a"]],[["a","a"],["a","a"]]]',
    );
  });
});

describe("the user's file and the folder's", () => {
  const hand = 'or hand it over with --data, --set or ${env:…}';

  it("a user file's reference may not use a folder file's variable", () => {
    const variables = variablesOf({ user: { 'graph.url': 'https://${host}/' }, folder: { host: 'evil.example' } });
    const { message, hint } = failureOf(() => resolved(variables, 'graph.url'));
    expect(message).toBe(
      `${sources.user.label} may not use host of oauth-profiles.yaml: a working folder must not change your own profiles`,
    );
    expect(hint).toBe(`define it in ${sources.user.label}, ${hand}`);
  });

  it("nor does a default hide that the folder's variable is there", () => {
    const variables = variablesOf({ user: { x: '${host:-good.example}' }, folder: { host: 'evil.example' } });
    expect(failureOf(() => resolved(variables, 'x')).message).toContain('may not use host');
  });

  it("nor does a longer name of the folder's replace a member of the user's", () => {
    const variables = variablesOf({
      user: { servers: [{ host: 'good.example' }], x: '${servers[0].host}' },
      folder: { 'servers.0.host': 'evil.example' },
    });
    expect(failureOf(() => resolved(variables, 'x')).message).toContain('may not use servers.0.host');
  });

  it.each([
    ['a secret', { client_secret: 'hidden' }, '${client_secret}'],
    ['a text around a secret', { client_secret: 'hidden', header: 'Basic ${client_secret}' }, '${header}'],
    ['an alias of a secret', { client_secret: 'hidden', a: '${b}', b: '${client_secret}' }, '<${a}>'],
    ['an item of a list of secrets', { tokens: ['hidden'] }, '${tokens[0]}'],
    ['a list of secrets', { tokens: ['hidden'] }, '${tokens}'],
    ['a member of a map in a list', { all: [{ password: 'hidden' }] }, '${all[0].password}'],
    ['a list that holds a secret somewhere', { all: [{ a: [{ password: 'hidden' }] }] }, '${all}'],
    ['a secret of the environment', { a: '${env:T_TOKEN}' }, '${a}'],
    ['a secret with a default', { client_secret: 'hidden' }, '${client_secret:-x}'],
    ['a secret as a default', { client_secret: 'hidden' }, '${x:-${client_secret}}'],
  ])("a folder file's reference may not take %s of the user's file", (_, user, text) => {
    const variables = variablesOf({ user, folder: { 'evil.field': text } });
    const { message, hint } = failureOf(() => resolved(variables, 'evil.field', { env: { T_TOKEN: 'hidden' } }));
    expect(message).toContain('a working folder must not take your secrets');
    expect(`${message} ${hint}`).not.toContain('hidden');
  });

  it("a folder file's reference may not take what holds a secret among other things", () => {
    const variables = variablesOf({
      user: { all: ['Ada', { password: 'hidden', name: 'Ada' }] },
      folder: { 'evil.field': '${all}', 'evil.other': '${all[1]}' },
    });
    for (const name of ['evil.field', 'evil.other']) {
      expect(failureOf(() => resolved(variables, name))).toMatchObject({
        code: 'data_invalid',
        message: expect.stringContaining('a working folder must not take your secrets'),
      });
    }
  });

  it("a folder file's reference may use what is not secret", () => {
    const variables = variablesOf({
      user: { tenant: 'contoso', all: [{ name: 'Ada', password: 'hidden' }] },
      folder: { 'x.tenant_id': '${tenant}', 'x.username': '${all[0].name}' },
    });
    expect([resolved(variables, 'x.tenant_id'), resolved(variables, 'x.username')]).toEqual(['contoso', 'Ada']);
  });

  it('a file that the caller named may use both, and be used by both', () => {
    const variables = variablesOf({
      user: { client_secret: 'hidden', u: '${g}' },
      folder: { host: 'folder.example', f: '${g} ${g_secret}' },
      given: { g: 'given', g_secret: 'given too', both: '${host} ${client_secret}' },
    });
    expect(shown(resolved(variables, 'both'))).toEqual({ secret: 'folder.example hidden' });
    expect(resolved(variables, 'u')).toBe('given');
    expect(shown(resolved(variables, 'f'))).toEqual({ secret: 'given given too' });
  });

  it('each uses its own', () => {
    const variables = variablesOf({
      user: { a: '${a_token}', a_token: 'user' },
      folder: { b: '${b_token}', b_token: 'directory' },
    });
    expect(shown(resolved(variables, 'a'))).toEqual({ secret: 'user' });
    expect(shown(resolved(variables, 'b'))).toEqual({ secret: 'directory' });
  });

  it('a variable that stands in both is used by nobody', () => {
    const variables = variablesOf({ user: { host: 'good', u: '${host}' }, folder: { host: 'evil', f: '${host}' } });
    for (const name of ['u', 'f']) {
      expect(failureOf(() => resolved(variables, name))).toMatchObject({
        code: 'data_invalid',
        message: `host stands in both ${sources.user.label} and oauth-profiles.yaml`,
        hint: 'rename one of the two, or give host with --data or --set',
      });
    }
  });

  it('a variable that stands in both is used when the caller gives it', () => {
    const variables = variablesOf({
      user: { host: 'good', u: '${host}' },
      folder: { host: 'evil', f: '${host}' },
      given: { host: 'given' },
    });
    expect([resolved(variables, 'u'), resolved(variables, 'f')]).toEqual(['given', 'given']);
  });
});

describe('a member', () => {
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
  ])('at %j is found only where the data has one', (path, expected) => {
    expect(member(value, path)).toEqual(expected);
  });
});

describe('a value that is no variable', () => {
  const variables = variablesOf({ user: { own: 'u' }, given: { a: 'v', my_token: 'hidden' } });
  const follow = (value: Value, source: Source = sources.given) =>
    shown(resolverOf(variables, { files: { 'x.txt': 'text\n' } }).follow(value, source));

  it('is followed as if it stood in its source', () => {
    expect(follow({ list: ['<${a}>', 7], t: '${my_token}', f: '${file:x.txt}' })).toEqual({
      list: ['<v>', 7],
      t: { secret: 'hidden' },
      f: 'text',
    });
  });

  it('stays the same where it refers to nothing', () => {
    const value = { a: ['$', 1] };
    expect(resolverOf(variables).follow(value, sources.given)).toBe(value);
  });

  it('is refused where its reference cannot be read', () => {
    expect(failureOf(() => follow('${}')).message).toContain('lacks a name');
  });
});
