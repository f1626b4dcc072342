import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { toValue } from '../../src/config/node.ts';
import { RawScalar, toText } from '../../src/config/value.ts';
import { parseYaml, readYaml } from '../../src/config/yaml.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyString } from '../support/arbitraries.ts';
import { failureOf } from '../support/errors.ts';

const read = (text: string) => readYaml(text, 'f.yaml').map(({ name, value }) => [name, value]);
/** Characters and tokens with a meaning in YAML. */
const yamlPiece = fc.constantFrom(
  ...[
    'a',
    'b',
    '7',
    ':',
    ' ',
    '  ',
    '\n',
    '\r\n',
    '- ',
    '? ',
    '&a ',
    '*a',
    '<<: ',
    '[',
    ']',
    '{',
    '}',
    '!x ',
    '|',
    '>-',
  ],
  ...[
    '"',
    "'",
    '#',
    '%',
    '\t',
    '---',
    '---\n',
    '...\n',
    ',',
    '\\',
    '~',
    '\ufeff',
    '|2',
    '>+',
    'é',
    '\u2028',
    '\n- "x"',
  ],
);
const messageOf = (text: string) => failureOf(() => readYaml(text, 'f.yaml')).message;

describe('YAML', () => {
  it('defines variables with nested or dotted names, each with its line', () => {
    const text = `# profiles
graph:
  type: microsoft
  options:
    timeout: 5s

mail.type: "google"
'odd key': {a b: x}
`;
    expect(readYaml(text, 'f.yaml')).toEqual([
      { name: 'graph.type', value: 'microsoft', line: 3 },
      { name: 'graph.options.timeout', value: '5s', line: 5 },
      { name: 'mail.type', value: 'google', line: 7 },
      { name: 'odd key.a b', value: 'x', line: 8 },
    ]);
  });

  it.each([
    '007',
    '1.0',
    '1234567890123456789',
    '1000000000000000000',
    '0x1F',
    '0o17',
    '1e3',
    '+1',
    '-0',
    '.5',
    '.inf',
  ])('keeps the spelling of the number %s', (text) => {
    expect(read(`x: ${text}`)).toEqual([['x', new RawScalar(text, expect.any(Number))]]);
  });

  it.each(['True', 'TRUE', 'False', 'FALSE'])('keeps the spelling of %s', (text) => {
    expect(read(`x: ${text}`)).toEqual([['x', new RawScalar(text, text.toLowerCase() === 'true')]]);
  });

  it.each([
    ['7', 7],
    ['-1.5', -1.5],
    ['true', true],
    ['"007"', '007'],
    ["'true'", 'true'],
    ['!!str 007', '007'],
    ['!!str', ''],
    ['!!int 7', 7],
    ['!!binary aGVsbG8=', 'aGVsbG8='],
    ['yes', 'yes'],
    ['no', 'no'],
    ['on', 'on'],
    ['2001-12-14', '2001-12-14'],
    ['12:30:45', '12:30:45'],
    ['1_000', '1_000'],
    ['1.2.3', '1.2.3'],
    ['"a\\tb\\u00e9"', 'a\tbé'],
    ["'it''s'", "it's"],
    ['a#b', 'a#b'],
    ['a #b', 'a'],
    ['http://x', 'http://x'],
    ['${env:X}', '${env:X}'],
    ['${a:-b c}', '${a:-b c}'],
    ['|\n  two\n  lines\n', 'two\nlines\n'],
    ['>-\n  folded\n  text\n', 'folded text'],
    ['~', null],
    ['null', null],
    ['', null],
    ['""', ''],
    ['[a, 01, [b]]', ['a', new RawScalar('01', 1), ['b']]],
    ['[{a: 1, b: {c: x}}]', [{ a: 1, b: { c: 'x' } }]],
    ['\n  - a\n  - b', ['a', 'b']],
    ['[]', []],
  ])('reads %s', (text, value) => {
    expect(read(`x: ${text}`)).toEqual([['x', value]]);
  });

  it('converts null to an empty string', () => {
    expect(read('x: ~').map(([, value]) => toText(value as null))).toEqual(['']);
  });

  it.each([
    ['1: a', '1'],
    ['007: a', '007'],
    ['1.0: a', '1.0'],
    ['true: a', 'true'],
    ['~: a', '~'],
    ['"a.b": a', 'a.b'],
    ['? a\n: a', 'a'],
    ['"<<": a', '<<'],
    ['!!str 01: a', '01'],
  ])('keeps the name in %j as written', (text, name) => {
    expect(read(text)).toEqual([[name, 'a']]);
  });

  it.each(['', '# comment', '---', '---\n...', '~', 'null', '{}', '\ufeff', '\n\n'])('may be empty: %j', (text) => {
    expect(read(text)).toEqual([]);
  });

  it('may have a byte order mark, Windows line ends and a document start marker', () => {
    expect(readYaml('\ufeff---\r\na: 1\r\nb:\r\n  c: x\r\n', 'f.yaml')).toEqual([
      { name: 'a', value: 1, line: 2 },
      { name: 'b.c', value: 'x', line: 4 },
    ]);
  });

  it('keeps spellings and supports merge keys with a YAML 1.1 directive', () => {
    expect(read('%YAML 1.1\n---\na: 2001-12-14\nb: &b {c: yes}\nd: {<<: *b, e: 012}')).toEqual([
      ['a', '2001-12-14'],
      ['b.c', new RawScalar('yes', true)],
      ['d.c', new RawScalar('yes', true)],
      ['d.e', new RawScalar('012', 10)],
    ]);
  });

  it('treats __proto__ as an ordinary name', () => {
    expect(read('__proto__: {x: 1}\nconstructor: {prototype: {y: 2}}\nl: [{__proto__: {z: 3}}]')).toEqual([
      ['__proto__.x', 1],
      ['constructor.prototype.y', 2],
      ['l', [JSON.parse('{"__proto__": {"z": 3}}')]],
    ]);
    expect({}).not.toHaveProperty('x');
  });
});

describe('An anchor', () => {
  it.each([
    ['graph:\n  client_secret: &hunter2+%=ü\n  scope: x', '2:18'],
    ['a: [&hunter2, 1]', '1:5'],
    ['a: &hunter2\nb: *hunter2', '1:4'],
  ])('without a value is an error that suggests quotes: %j', (text, position) => {
    const { message, hint } = failureOf(() => readYaml(text, 'f.yaml'));
    expect(message).toMatch(new RegExp(`^f\\.yaml:${position}: .*anchor`));
    expect(hint).toContain('quotes');
    expect(message + hint).not.toContain('hunter2');
  });

  it('may be that of an empty string, of null, or of a value on the next line', () => {
    expect(read('a: &x ""\nb: &y ~\nc: &z\n  d: 1\ne: &w\n  - 2')).toEqual([
      ['a', ''],
      ['b', null],
      ['c.d', 1],
      ['e', [2]],
    ]);
  });
});

describe('An alias', () => {
  it('repeats the value of its anchor', () => {
    expect(read('a: &x v\nb: *x\nc: &m {d: 1}\ne: *m\nf: [*x, *m]')).toEqual([
      ['a', 'v'],
      ['b', 'v'],
      ['c.d', 1],
      ['e.d', 1],
      ['f', ['v', { d: 1 }]],
    ]);
  });

  it('refers to the last anchor of its name before it', () => {
    expect(read('a: &x 1\nb: *x\nc: &x 2\nd: *x')).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 2],
      ['d', 2],
    ]);
  });

  it('refers to the anchor that was in effect where it is written', () => {
    expect(read('a: &x 1\nb: &y [*x]\nc: &x 2\nd: *y\ne: *x')).toEqual([
      ['a', 1],
      ['b', [1]],
      ['c', 2],
      ['d', [1]],
      ['e', 2],
    ]);
  });

  it.each([
    ['graph:\n  password: *hunter2', '2:13'],
    ['b: *x\na: &x 1', '1:4'],
    ['a: [*nope]', '1:5'],
  ])('without an anchor is an error, not an empty value: %j', (text, position) => {
    expect(messageOf(text)).toMatch(new RegExp(`^f\\.yaml:${position}: .*anchor`));
  });

  it.each([
    ['a: &a [*a]'],
    ['a: &a\n  b: *a'],
    ['&a a: &b {c: &c [*b]}'],
    ['a: &a\n  <<: *a'],
    ['a: &a {b: 1, <<: [*a]}'],
  ])('inside its own anchor is an error: %j', (text) => {
    expect(messageOf(text)).toMatch(/^f\.yaml:\d+:\d+: more than 20000 values or 64 levels$/);
  });

  it('cannot multiply values beyond the limit, in lists, maps or merge keys', () => {
    const names = 'abcdefghi'.split('');
    const bomb = (first: string, next: (alias: string) => string) =>
      names.map((name, i) => `${name}: &${name} ${i === 0 ? first : next(`*${names[i - 1]}`)}`).join('\n');
    const nine = (item: string) => Array(9).fill(item).join(', ');
    expect(messageOf(bomb(`[${nine('x')}]`, (alias) => `[${nine(alias)}]`))).toContain('more than 20000 values');
    const members = (alias: string) => names.map((name) => `${name}: ${alias}`).join(', ');
    expect(messageOf(bomb('{x: y}', (alias) => `{${members(alias)}}`))).toContain('more than 20000 values');
    const many = Array.from({ length: 200 }, (_, i) => `k${i}: 1`).join(', ');
    expect(messageOf(`a: &a {${many}}\nb: {<<: [${Array(200).fill('*a').join(', ')}]}`)).toContain(
      'more than 20000 values',
    );
  });

  it('may be used 3,000 times', () => {
    const text = `a: &a v\nb: [${Array(3000).fill('*a').join(', ')}]`;
    expect(read(text)[1]).toEqual(['b', Array(3000).fill('v')]);
  });
});

describe('A merge key', () => {
  it('adds the names that the map does not define', () => {
    const text = 'base: &base {type: microsoft, scope: a}\ngraph:\n  <<: *base\n  scope: b\n  client_id: c';
    expect(read(text).slice(2)).toEqual([
      ['graph.type', 'microsoft'],
      ['graph.scope', 'b'],
      ['graph.client_id', 'c'],
    ]);
  });

  it('merges several maps, of which the first takes precedence', () => {
    const text = 'a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], z: 3}';
    expect(Object.fromEntries(read(text))).toMatchObject({ 'c.x': 1, 'c.y': 1, 'c.z': 3 });
  });

  it('merges maps that merge others, also in a list', () => {
    const text = 'a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: [{<<: *b, z: 3}]';
    expect(read(text).at(-1)).toEqual(['c', [{ x: 1, y: 2, z: 3 }]]);
  });

  it.each([
    ['a: &a [1]\nb: {<<: *a}', '1:8'],
    ['b: {<<: text}', '1:9'],
    ['b: {<<: [{a: 1}, text]}', '1:18'],
    ['b: {<<: }', '1:9'],
  ])('must merge a map: %j', (text, position) => {
    expect(messageOf(text)).toMatch(new RegExp(`^f\\.yaml:${position}: .*<<`));
  });
});

describe('Invalid YAML', () => {
  it.each([
    ['a: 1\nb: "hunter2', '2:4', /quote/],
    ["a: 'x'\nb: 'hunter2\n  y", '2:4', /quote/],
    ['a:\n\t- hunter2', '2:1', /tab/],
    ['a: hunter2: hunter2', '1:4', /same line/],
    ['a: @hunter2', '1:4', /start with/],
    ['a: [hunter2', '1:12', /not closed/],
    ['a: hunter2\n b: c', '2:2', /indentation/],
    ['a: !hunter2', '1:4', /tag/],
    ['a: !hunter2 x', '1:4', /tag/],
    ['a: !!int hunter2', '1:4', /tag/],
    ['a: hunter2\n---\nb: hunter2', '2:1', /second YAML document/],
    ['a: hunter2\n...\nb: 1', '3:1', /second YAML document/],
    ['hunter2', '1:1', /expected a map/],
    ['7', '1:1', /expected a map/],
    ['- hunter2', '1:1', /expected a map/],
    ['? [hunter2]\n: 1', '1:3', /name/],
    ['? {hunter2: 1}\n: 1', '1:3', /name/],
    ['x: [{[hunter2]: 1}]', '1:6', /name/],
  ])('%j is reported with its position, without quoting it', (text, position, explanation) => {
    const error = failureOf(() => readYaml(text, 'conf/f.yaml'));
    expect(error.code).toBe('data_invalid');
    expect(error.message).toMatch(new RegExp(`^conf/f\\.yaml:${position}: `));
    expect(error.message).toMatch(explanation);
    expect(error.hint).toMatch(/\w/);
    expect(`${error.hint} ${error.cause} ${error.stack}`).not.toContain('hunter2');
  });

  it.each([
    ['a: hunter2: hunter2', /quotes/],
    ['a: hunter2\n  more\n b: c', /indent/],
    ['a: 1\na: 2', /remove one/],
    ['a: *hunter2', /starts with \*/],
    ['- hunter2', /graph\.type: microsoft/],
  ])('%j has a hint', (text, hint) => {
    expect(failureOf(() => readYaml(text, 'f.yaml')).hint).toMatch(hint);
  });

  it.each([
    ['a: 1\na: 2', 'f.yaml:2:1: a is defined twice'],
    ['x:\n  a: 1\n  "a": 2', 'f.yaml:3:3: a is defined twice'],
    ['x: [{a: 1, a: 2}]', 'f.yaml:1:12: a is defined twice'],
    ['1: a\n"1": b', 'f.yaml:2:1: 1 is defined twice'],
    ['a.b: 1\na: {b: 2}', 'f.yaml:2: a.b is defined twice'],
    ['a: {b.c: 1, b: {c: 2}}', 'f.yaml:1: a.b.c is defined twice'],
  ])('%j defines a name twice', (text, message) => {
    expect(messageOf(text)).toBe(message);
  });

  it.each([
    ['lists', '['.repeat(50_000)],
    ['lists over lines', '[\n'.repeat(50_000)],
    ['maps', '{a: '.repeat(50_000)],
    ['block lists', '- '.repeat(50_000)],
    ['names', '? '.repeat(50_000)],
    ['indentation', Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['65 levels', `a: ${'['.repeat(65)}1${']'.repeat(65)}`],
  ])('nested too deep is an error, not a stack overflow: %s', (_, text) => {
    expect(messageOf(text)).toMatch(/^f\.yaml:\d+:\d+: more than 20000 values or 64 levels$/);
  });

  it('does not include a list nested 60 levels deep', () => {
    expect(JSON.stringify(read(`a: ${'['.repeat(60)}1${']'.repeat(60)}`))).toContain('[[[[1]]]]');
  });

  it('includes a file with more than 20,000 values', () => {
    expect(messageOf(`a: [${'1,'.repeat(20_100)}]`)).toContain('more than 20000 values');
  });

  it('includes a file with more than 262,144 characters', () => {
    expect(messageOf(`a: 1 #${'#'.repeat(262_144)}`)).toBe('f.yaml: longer than 262144 characters');
    expect(read(`a: 1 #${'#'.repeat(262_138)}`)).toEqual([['a', 1]]);
  });

  it('is reported with its first error only', () => {
    expect(messageOf('"\n'.repeat(5000))).toMatch(/^f\.yaml:3:1: unexpected content/);
    expect(messageOf(`a: 1\n${'b: !x y\n'.repeat(5000)}`)).toMatch(/^f\.yaml:2:4: unknown tag/);
  });

  it('does not include a file of 6,000 values with a comment after each', () => {
    const text = Array.from({ length: 6000 }, (_, i) => `k${i}: "v ${i}" # what it is for`).join('\n');
    expect(read(text)).toHaveLength(6000);
  });
});

describe('A parsed document', () => {
  const parse = (text: string, maxValues = 100) => {
    const { root, issues } = parseYaml(text, maxValues);
    return { value: root && toValue(root), issues };
  };

  it('contains the span of every node', () => {
    expect(parseYaml('a: [x, 12]\nb:\n', 100).root).toEqual({
      kind: 'map',
      at: { start: 0, end: 13 },
      members: [
        {
          name: 'a',
          at: { start: 0, end: 1 },
          node: {
            kind: 'list',
            at: { start: 3, end: 10 },
            items: [
              { kind: 'scalar', at: { start: 4, end: 5 }, value: 'x' },
              { kind: 'scalar', at: { start: 7, end: 9 }, value: 12 },
            ],
          },
        },
        { name: 'b', at: { start: 11, end: 12 }, node: { kind: 'scalar', at: { start: 13, end: 13 }, value: null } },
      ],
    });
  });

  it('counts lines and columns from 1', () => {
    const { positionOf } = parseYaml('a: 1\nbc: 2\n', 100);
    expect([0, 3, 5, 9].map(positionOf)).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 4 },
      { line: 2, column: 1 },
      { line: 2, column: 5 },
    ]);
  });

  it('may start with an unknown directive', () => {
    expect(parse('%FOO bar\n---\na: 1')).toEqual({ value: { a: 1 }, issues: [] });
  });

  it('has no root if the text is not valid', () => {
    expect(parse('a: "x\nb: y')).toMatchObject({ value: undefined, issues: [{ offset: 3 }] });
    expect(parse("a: 'x'\nb: 'y")).toMatchObject({ value: undefined, issues: [{ offset: 10 }] });
    expect(parse('a: "x"\nb: @y')).toMatchObject({ value: undefined, issues: [{ offset: 10 }] });
  });

  it('reports at most 50 syntax errors', () => {
    expect(parse('a: !x y\n'.repeat(49), 10_000).issues).toHaveLength(49);
    expect(parse('a: !x y\n'.repeat(51), 10_000).issues).toHaveLength(50);
  });

  it('has at most the given number of values', () => {
    expect(parse('[1, 2, 3]', 4)).toEqual({ value: [1, 2, 3], issues: [] });
    expect(parse('[1, 2, 3, 4]', 4)).toMatchObject({ value: undefined, issues: [{ offset: 10 }] });
  });

  it('reports all issues of its maps', () => {
    const { issues } = parse('a: 1\na: 2\n? [b]\n: 3\n<<: 4\nc: *none\n');
    expect(issues.map(({ offset }) => offset)).toEqual([5, 12, 24, 29]);
  });

  it('has the same positions as the text, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: yamlPiece, maxLength: 40 }), (text) => {
        const { root, issues, positionOf } = parseYaml(text, 1000);
        const check = (offset: number) => {
          const before = text.slice(0, offset).split('\n');
          expect(positionOf(offset)).toEqual({ line: before.length, column: (before.at(-1)?.length ?? 0) + 1 });
        };
        for (const { offset } of issues) check(offset);
        if (root?.kind === 'map') for (const { at } of root.members) check(at.start);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('Any YAML', () => {
  const tree = fc.letrec<{ value: unknown; map: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      anyString(0, 15),
      fc.integer(),
      fc.boolean(),
      fc.array(tie('map'), { maxLength: 2 }),
    ),
    map: fc.dictionary(anyString(1, 8), tie('value'), { maxKeys: 4 }),
  })).map;

  it('that the library writes is read back unchanged', () => {
    fc.assert(
      fc.property(tree, (data) => {
        const names = Object.keys(data).filter((name) => name !== '<<');
        const wanted = names.map((name) => [name, data[name]]);
        const text = stringify(Object.fromEntries(wanted));
        expect(Object.fromEntries(read(text))).toEqual(Object.fromEntries(wanted));
      }),
    );
  });

  it('or other text is read, or rejected with a position', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: yamlPiece, maxLength: 25 }), anyString(0, 40)), (text) => {
        try {
          readYaml(text, 'f.yaml');
        } catch (error) {
          expect(error).toBeInstanceOf(OAuthProfileError);
          expect((error as Error).message).toMatch(/^f\.yaml:\d+/);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
