import { describe, expect, it } from 'vitest';
import { toValue } from '../../src/config/node.ts';
import { readYamlDocument } from '../../src/config/yaml-document.ts';

const read = (text: string, maxValues = 100) => {
  const document = readYamlDocument(text, maxValues);
  return { ...document, value: document.root && toValue(document.root), problems: document.problems, document };
};

describe('a YAML document', () => {
  it('says from where to where its parts stand', () => {
    const { root } = read('a: [x, 12]\nb:\n');
    expect(root).toEqual({
      kind: 'map',
      at: { start: 0, end: 13 },
      members: [
        {
          name: 'a',
          at: { start: 0, end: 1 },
          part: {
            kind: 'list',
            at: { start: 3, end: 10 },
            items: [
              { kind: 'scalar', at: { start: 4, end: 5 }, value: 'x' },
              { kind: 'scalar', at: { start: 7, end: 9 }, value: 12 },
            ],
          },
        },
        { name: 'b', at: { start: 11, end: 12 }, part: { kind: 'scalar', at: { start: 13, end: 13 }, value: null } },
      ],
    });
  });

  it('counts lines and columns from 1', () => {
    const { document } = read('a: 1\nbc: 2\n');
    expect([0, 3, 5, 9].map((offset) => document.positionOf(offset))).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 4 },
      { line: 2, column: 1 },
      { line: 2, column: 5 },
    ]);
  });

  it('may begin with a directive that means nothing to us', () => {
    expect(read('%FOO bar\n---\na: 1')).toMatchObject({ value: { a: 1 }, problems: [] });
  });

  it('that cannot be understood has no root, and says where the quote was opened that is not closed', () => {
    expect(read('a: "x\nb: y')).toMatchObject({ root: undefined, problems: [{ offset: 10, opened: 3 }] });
    expect(read("a: 'x'\nb: 'y")).toMatchObject({ root: undefined, problems: [{ opened: 10 }] });
    expect(read('a: "x"\nb: @y').problems).toMatchObject([{ opened: undefined }]);
    expect(read('a: b: c').problems[0]?.opened).toBeUndefined();
  });

  it('tells 50 problems and no more', () => {
    expect(read('a: !x y\n'.repeat(50), 10_000).problems).toHaveLength(50);
    expect(read('a: !x y\n'.repeat(51), 10_000).problems).toHaveLength(50);
    expect(read('a: !x y\n'.repeat(49), 10_000).problems).toHaveLength(49);
  });

  it('has as many values as it may, and not one more', () => {
    expect(read('[1, 2, 3]', 4)).toMatchObject({ value: [1, 2, 3], problems: [] });
    expect(read('[1, 2, 3, 4]', 4)).toMatchObject({
      root: undefined,
      problems: [{ offset: 10, message: 'unfolds to more than 4 values or 64 levels' }],
    });
  });

  it('has ten pieces for each value, and not one more', () => {
    expect(read('#\n'.repeat(4), 1).problems).toEqual([]);
    expect(read('#\n'.repeat(6), 1).problems).toMatchObject([{ message: 'has more than 10 pieces' }]);
  });

  it('tells everything that is wrong with its maps', () => {
    const text = 'a: 1\na: 2\n? [b]\n: 3\n<<: 4\nc: *none\n';
    expect(read(text).problems.map(({ message }) => message)).toEqual([
      'a is defined twice',
      'has a name that is not plain text',
      'merges something that is no map',
      'has an alias (*) of nothing',
    ]);
  });
});
