import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readCarefulYaml } from '../../src/config/careful-yaml.ts';
import { RawScalar, toText } from '../../src/config/value.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { anyString } from '../support/any-string.ts';
import { failureOf } from '../support/resolving.ts';

const readYaml = (text: string, label: string) => readCarefulYaml(text, label, 20_000);
const read = (text: string) => readYaml(text, 'f.yaml').map(({ name, value }) => [name, value]);
const fault = (text: string) => failureOf(() => readYaml(text, 'f.yaml')).message;

describe('a YAML file', () => {
  it('holds variables, nested or dotted, with their lines', () => {
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

  it('sends a null as nothing', () => {
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
  ])('keeps the name in %j as it is written', (text, name) => {
    expect(read(text)).toEqual([[name, 'a']]);
  });

  it.each(['', '# comment', '---', '---\n...', '~', 'null', '{}', '\ufeff', '\n\n'])('may be empty: %j', (text) => {
    expect(read(text)).toEqual([]);
  });

  it('may have a byte order mark, line ends of Windows and a document mark', () => {
    expect(readYaml('\ufeff---\r\na: 1\r\nb:\r\n  c: x\r\n', 'f.yaml')).toEqual([
      { name: 'a', value: 1, line: 2 },
      { name: 'b.c', value: 'x', line: 4 },
    ]);
  });

  it('keeps spellings and merges also where it says to be YAML 1.1', () => {
    expect(read('%YAML 1.1\n---\na: 2001-12-14\nb: &b {c: yes}\nd: {<<: *b, e: 012}')).toEqual([
      ['a', '2001-12-14'],
      ['b.c', new RawScalar('yes', true)],
      ['d.c', new RawScalar('yes', true)],
      ['d.e', new RawScalar('012', 10)],
    ]);
  });

  it('has names like __proto__, which are only names', () => {
    expect(read('__proto__: {x: 1}\nconstructor: {prototype: {y: 2}}\nl: [{__proto__: {z: 3}}]')).toEqual([
      ['__proto__.x', 1],
      ['constructor.prototype.y', 2],
      ['l', [JSON.parse('{"__proto__": {"z": 3}}')]],
    ]);
    expect({}).not.toHaveProperty('x');
  });
});

describe('anchors and aliases', () => {
  it('repeat what was written before', () => {
    expect(read('a: &x v\nb: *x\nc: &m {d: 1}\ne: *m\nf: [*x, *m]')).toEqual([
      ['a', 'v'],
      ['b', 'v'],
      ['c.d', 1],
      ['e.d', 1],
      ['f', ['v', { d: 1 }]],
    ]);
  });

  it('mean the last anchor of that name before them', () => {
    expect(read('a: &x 1\nb: *x\nc: &x 2\nd: *x')).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 2],
      ['d', 2],
    ]);
  });

  it.each([
    ['graph:\n  password: *hunter2', 'f.yaml:2:13: has an alias (*) of nothing'],
    ['b: *x\na: &x 1', 'f.yaml:1:4: has an alias (*) of nothing'],
    ['a: [*nope]', 'f.yaml:1:5: has an alias (*) of nothing'],
  ])('that mean nothing are refused, not read as nothing: %j', (text, message) => {
    expect(fault(text)).toBe(message);
  });

  it.each([
    ['a: &a [*a]'],
    ['a: &a\n  b: *a'],
    ['&a a: &b {c: &c [*b]}'],
    ['a: &a\n  <<: *a'],
    ['a: &a {b: 1, <<: [*a]}'],
  ])('that contain themselves are refused: %j', (text) => {
    expect(fault(text)).toMatch(/^f\.yaml:\d+:\d+: unfolds to more than 20000 values or 64 levels$/);
  });

  it('that multiply are refused: lists, maps and merges', () => {
    const names = 'abcdefghi'.split('');
    const bomb = (first: string, next: (alias: string) => string) =>
      names.map((name, i) => `${name}: &${name} ${i === 0 ? first : next(`*${names[i - 1]}`)}`).join('\n');
    const nine = (item: string) => Array(9).fill(item).join(', ');
    expect(fault(bomb(`[${nine('x')}]`, (alias) => `[${nine(alias)}]`))).toContain('unfolds to more');
    const members = (alias: string) => names.map((name) => `${name}: ${alias}`).join(', ');
    expect(fault(bomb('{x: y}', (alias) => `{${members(alias)}}`))).toContain('unfolds to more');
    const many = Array.from({ length: 200 }, (_, i) => `k${i}: 1`).join(', ');
    expect(fault(`a: &a {${many}}\nb: {<<: [${Array(200).fill('*a').join(', ')}]}`)).toContain('unfolds to more');
  });

  it('may be many', () => {
    const text = `a: &a v\nb: [${Array(3000).fill('*a').join(', ')}]`;
    expect(read(text)[1]).toEqual(['b', Array(3000).fill('v')]);
  });
});

describe('merge keys', () => {
  it('bring in what the map has not', () => {
    const text = 'base: &base {type: microsoft, scope: a}\ngraph:\n  <<: *base\n  scope: b\n  client_id: c';
    expect(read(text).slice(2)).toEqual([
      ['graph.type', 'microsoft'],
      ['graph.scope', 'b'],
      ['graph.client_id', 'c'],
    ]);
  });

  it('bring in several maps, the first one first', () => {
    const text = 'a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], z: 3}';
    expect(Object.fromEntries(read(text))).toMatchObject({ 'c.x': 1, 'c.y': 1, 'c.z': 3 });
  });

  it('bring in maps that merge others, and work in lists', () => {
    const text = 'a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: [{<<: *b, z: 3}]';
    expect(read(text).at(-1)).toEqual(['c', [{ x: 1, y: 2, z: 3 }]]);
  });

  it.each([
    ['a: &a [1]\nb: {<<: *a}', 'merges something that is no map'],
    ['b: {<<: text}', 'merges something that is no map'],
    ['b: {<<: [{a: 1}, text]}', 'merges something that is no map'],
    ['b: {<<: }', 'merges something that is no map'],
  ])('of something else are refused: %j', (text, problem) => {
    expect(fault(text)).toMatch(new RegExp(`^f\\.yaml:\\d+:\\d+: ${problem}$`));
  });
});

describe('a YAML file at fault', () => {
  it.each([
    ['a: 1\nb: "hunter2', '2:4: a quote is opened here and not closed'],
    ['a:\n\t- hunter2', '2:1: a tab cannot indent'],
    ['a: hunter2: hunter2', '1:4: has a second name with a colon in one line'],
    ['a: @hunter2', '1:4: a text cannot begin with this character'],
    ['a: [hunter2', '1:12: a [ or { above is not closed'],
    ['a: hunter2\n b: c', '2:2: is not indented like the lines that it belongs to'],
    ['a: !hunter2', '1:4: has a ! in front, which means a type that is not known'],
    ['a: !hunter2 x', '1:4: has a ! in front, which means a type that is not known'],
    ['a: !!int hunter2', '1:4: has a ! in front, which means a type that is not known'],
    ['a: hunter2\n---\nb: hunter2', '2:1: holds a second document'],
    ['a: hunter2\n...\nb: 1', '3:1: holds a second document'],
    ['hunter2', '1:1: holds no map of variables'],
    ['7', '1:1: holds no map of variables'],
    ['- hunter2', '1:1: holds no map of variables'],
    ['? [hunter2]\n: 1', '1:3: has a name that is not plain text'],
    ['? {hunter2: 1}\n: 1', '1:3: has a name that is not plain text'],
    ['x: [{[hunter2]: 1}]', '1:6: has a name that is not plain text'],
  ])('%j is refused with its place, and nothing of it is quoted', (text, message) => {
    const error = failureOf(() => readYaml(text, 'conf/f.yaml'));
    expect(error.code).toBe('data_invalid');
    expect(error.message).toBe(`conf/f.yaml:${message}`);
    expect(error.hint).toMatch(/\w/);
    expect(`${error.hint} ${error.cause} ${error.stack}`).not.toContain('hunter2');
  });

  it.each([
    ['a: hunter2: hunter2', 'put the value in quotes: "…"'],
    ['a: hunter2\n  more\n b: c', 'give it as many blanks as the lines beside it'],
    ['a: 1\na: 2', 'keep one of the two definitions'],
    ['a: *hunter2', 'put a text that begins with * in quotes'],
    ['- hunter2', expect.stringMatching(/^write variables such as graph\.type: microsoft/)],
  ])('%j comes with the hint that fits it', (text, hint) => {
    expect(failureOf(() => readYaml(text, 'f.yaml')).hint).toEqual(hint);
  });

  it.each([
    ['a: 1\na: 2', 'f.yaml:2:1: a is defined twice'],
    ['x:\n  a: 1\n  "a": 2', 'f.yaml:3:3: a is defined twice'],
    ['x: [{a: 1, a: 2}]', 'f.yaml:1:12: a is defined twice'],
    ['1: a\n"1": b', 'f.yaml:2:1: 1 is defined twice'],
    ['a.b: 1\na: {b: 2}', 'f.yaml:2: a.b is defined twice'],
    ['a: {b.c: 1, b: {c: 2}}', 'f.yaml:1: a.b.c is defined twice'],
  ])('%j defines a name twice', (text, message) => {
    expect(fault(text)).toBe(message);
  });

  it.each([
    ['lists', '['.repeat(50_000)],
    ['lists over lines', '[\n'.repeat(50_000)],
    ['maps', '{a: '.repeat(50_000)],
    ['block lists', '- '.repeat(50_000)],
    ['names', '? '.repeat(50_000)],
    ['indentation', Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['65 levels', `a: ${'['.repeat(65)}1${']'.repeat(65)}`],
  ])('nested too deeply is refused and does not end the process: %s', (_, text) => {
    expect(fault(text)).toMatch(/^f\.yaml:\d+:\d+: (?:is nested deeper than|unfolds to more than)/);
  });

  it('nested 60 levels deep is none', () => {
    expect(JSON.stringify(read(`a: ${'['.repeat(60)}1${']'.repeat(60)}`))).toContain('[[[[1]]]]');
  });

  it('with too many values is refused', () => {
    expect(fault(`a: [${'1,'.repeat(20_100)}]`)).toContain('more than 20000 values');
  });

  it.each([
    ['escaped line ends in quotes', `a: "${'\\\n'.repeat(500_000)}"`],
    ['lines of an open quote', 'a: "\\\n'.repeat(170_000)],
    ['comments', '#\n'.repeat(300_000)],
  ])('of too many pieces is refused before it is put together: %s', (_, text) => {
    expect(fault(text)).toMatch(/^f\.yaml:\d+:\d+: has more than 200000 pieces$/);
  });

  it('is refused at its first fault', () => {
    expect(fault('"\n'.repeat(500_000))).toBe('f.yaml:3:1: does not belong here: what stands before it is complete');
    expect(fault(`a: 1\n${'b: !x y\n'.repeat(20_000)}`)).toBe(
      'f.yaml:2:4: has a ! in front, which means a type that is not known',
    );
  });

  it('may have a comment behind each of its 9000 values', () => {
    const text = Array.from({ length: 9000 }, (_, i) => `k${i}: "v ${i}" # what it is for`).join('\n');
    expect(read(text)).toHaveLength(9000);
  });
});

describe('any YAML', () => {
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

  it('that the library writes comes back', () => {
    fc.assert(
      fc.property(tree, (data) => {
        const names = Object.keys(data).filter((name) => name !== '<<');
        const wanted = names.map((name) => [name, data[name]]);
        const text = stringify(Object.fromEntries(wanted));
        expect(Object.fromEntries(read(text))).toEqual(Object.fromEntries(wanted));
      }),
    );
  });

  it('and any text at all is read or refused with an error of our own', () => {
    const pieces = fc.string({
      unit: fc.constantFrom(
        'a',
        ':',
        ' ',
        '\n',
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
        '"',
        "'",
        '#',
        '%',
        '\t',
        '---\n',
        ',',
      ),
      maxLength: 25,
    });
    fc.assert(
      fc.property(fc.oneof(pieces, anyString(0, 40)), (text) => {
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
