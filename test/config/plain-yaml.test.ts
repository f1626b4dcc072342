import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type ConfigNode, toValue } from '../../src/config/node.ts';
import { readPlainYaml } from '../../src/config/plain-yaml.ts';
import { readYamlDocument, type Span } from '../../src/config/yaml-document.ts';
import { anyString } from '../support/any-string.ts';

const MAX_VALUES = 1000;

/** What is written, in how many lines down each name stands. */
function seen(part: ConfigNode<Span>, lineOf: (offset: number) => number): unknown {
  if (part.kind === 'scalar') return { value: part.value };
  if (part.kind === 'list') return part.items.map((item) => seen(item, lineOf));
  return part.members.map(({ name, at, part: inner }) => [name, lineOf(at.start), seen(inner, lineOf)]);
}

/** `undefined` where the plain reader leaves it to the careful one; else what both understand. */
function both(text: string) {
  const plain = readPlainYaml(text, MAX_VALUES);
  if (plain === undefined) return undefined;
  const careful = readYamlDocument(text, MAX_VALUES);
  return {
    plain: seen(plain.root, (offset) => plain.positionOf(offset).line),
    careful: careful.root && seen(careful.root, (offset) => careful.positionOf(offset).line),
    problems: careful.problems,
  };
}

describe('plain YAML', () => {
  it.each([
    'a: 1',
    '# profiles\ngraph:\n  type: microsoft\n  options:\n    timeout: 5s\n\nmail.type: "google"\n',
    'a: 007\nb: 1.0\nc: 0x1F\nd: 0o17\ne: +1\nf: -0\ng: .5\nh: .inf\ni: 1e3\nj: 1234567890123456789',
    'a: -0o17\nb: 0b1\nc: 1_000\nd: 12:30\ne: 2001-12-14\nf: -.INF\ng: .NaN\nh: 1.\ni: 08\nj: +.5e-3',
    'a: True\nb: FALSE\nc: yes\nd: ~\ne: Null\nf:\ng: ""\nh: tRUE',
    'a: |\n  two\n  lines\nb: >-\n  folded\n  text\nc: |-\n  cut\n\nd: x',
    'a: [x, 01, [b], {c: d, e}]\nb: {f: [], g: {}}\nc: [a: 1, b]',
    'a:\n- x\n- y: 1\n  z: 2\n-\n- - deep\n',
    "\"a b\": \"c\\tdé\"\n'd': 'it''s'\ne: a#b\nf: a #b\ng: http://x",
    'a: plain\n  over lines\nb: "quoted\n  over lines"\n',
    '? a\n: b\n1: x\ntrue: y\n~: z',
    '- a\n- b',
    'scalar',
    'a: ${env:X}\nb: "${a:-b c}"',
    'a: 1\r\nb:\r\n  - x\r\n',
  ])('is understood as the careful reader does: %j', (text) => {
    const found = both(text);
    expect(found?.plain).toEqual(found?.careful);
    expect(found?.problems).toEqual([]);
  });

  it('knows the place of a scalar, its quotes included', () => {
    const text = 'a: "x"\nb: yy';
    const plain = readPlainYaml(text, MAX_VALUES);
    const spans = plain?.root.kind === 'map' ? plain.root.members.map(({ part: { at } }) => at) : [];
    expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual(['"x"', 'yy']);
    expect(plain?.positionOf(11)).toEqual({ line: 2, column: 5 });
  });

  it.each([
    ['an anchor', 'a: &x 1'],
    ['an alias', 'a: 1\nb: *x'],
    ['a type', 'a: !!str 1'],
    ['a merge key', 'a: {<<: {b: 1}}'],
    ['a directive', '%YAML 1.2\n---\na: 1'],
    ['a mark', '---\na: 1'],
    ['a second document', 'a: 1\n---\nb: 2'],
    ['a name twice', 'a: 1\na: 2'],
    ['a list as a name', '? [a]\n: 1'],
    ['no name', ': 1'],
    ['an unclosed quote', 'a: "x'],
    ['a tab', 'a:\n\t- x'],
    ['a tab behind a block', 'a: |\n  x\n\t'],
    ['an indented mark', ' ---'],
    ['a mark of byte order', '\n\ufeffa: 1'],
    ['a block that tells its indentation', 'a: |2\n    '],
    ['a block that keeps its empty lines', 'a: |+\n\n '],
    ['a block as a name', '? |\n  a'],
    ['an escaped line end', 'a: "x\\\n\n "'],
    ['a name behind the last item of a list', 'a:\n- "x" b: 1'],
    ['a name behind a list in a list', 'a:\n- [x] b: 1'],
    ['a number beyond all bounds', 'a: 2e349'],
    ['nothing', '# nothing'],
    ['too many values', `a: [${'1, '.repeat(MAX_VALUES)}]`],
    ['too many levels', '['.repeat(100_000)],
  ])('does not judge %s', (_, text) => {
    expect(readPlainYaml(text, MAX_VALUES)).toBeUndefined();
  });

  it('that a library writes is understood', () => {
    const data = fc.letrec<{ value: unknown; map: Record<string, unknown> }>((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, anyString(0, 15), fc.integer(), fc.double(), fc.boolean(), tie('map')),
      map: fc.dictionary(anyString(1, 8), tie('value'), { maxKeys: 4 }),
    })).map;
    fc.assert(
      fc.property(data, (value) => {
        const found = both(stringify(value));
        expect(found?.plain).toEqual(found?.careful);
      }),
    );
  });

  it('is never understood in another way than by the careful reader, whatever the text', () => {
    const pieces = [
      'a',
      'b',
      '7',
      ':',
      ' ',
      '  ',
      '\n',
      '- ',
      '? ',
      '[',
      ']',
      '{',
      '}',
      '|',
      '>-',
      '"',
      "'",
      '#',
      '\\',
    ];
    const text = fc.string({
      unit: fc.constantFrom(
        ...pieces,
        '\t',
        ',',
        '.',
        '~',
        '\r\n',
        'é',
        '\u2028',
        '\ufeff',
        '---',
        '|2',
        '>+',
        '\n- "x"',
      ),
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.oneof(text, anyString(0, 40)), (given) => {
        const found = both(given);
        expect(found?.problems ?? []).toEqual([]);
        expect(found?.plain).toEqual(found?.careful);
      }),
      { numRuns: 1000 },
    );
  });

  it('has names like __proto__, which are only names', () => {
    const plain = readPlainYaml('a: {__proto__: {x: 1}}', MAX_VALUES);
    expect(plain && JSON.stringify(toValue(plain.root))).toBe('{"a":{"__proto__":{"x":1}}}');
  });
});
