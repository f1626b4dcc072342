import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../../src/script/engine/csv.ts';
import { ApiServer, json } from '../../support/server.ts';
import { issuesInText, runText } from '../run-text.ts';

const loop = (items: string, more = '') => `
data: {list: [a, b], empty: [], text: abc}
steps:
  - forEach: {item: ${items}}
    ${more}
    base.verbose: "\${item}"
`;

describe('forEach', () => {
  it.each([
    ['[x, 2, {a: 1}]', ['x', '2', '{"a":1}']],
    ['"${list}"', ['a', 'b']],
    ['"${empty}"', []],
    ['1..3', ['1', '2', '3']],
    ['3..1', ['3', '2', '1']],
    ['-1..1', ['-1', '0', '1']],
    ['"1..${length(list)}"', ['1', '2']],
  ])('runs a step for each item of %s', async (items, output) => {
    const outcome = await runText(loop(items));
    expect(outcome.output).toEqual(output);
    expect(outcome.lines).toEqual(output.map((_, index) => `passed base.verbose(\${item}) [${index + 1}]`));
  });

  it('runs a group for each row of a file; rows have their name in reports', async () => {
    const text = (file: string) => `
steps:
  - name: user
    forEach: {user: "@rows/${file}"}
    steps:
      - base.verbose: "\${user.name} is \${user.role}"
`;
    const files = {
      'rows/a.csv': 'name,role\nada,admin\n"Hopper, Grace","say ""hi""\nbye"\n',
      'rows/a.json': '[{"name": "ada", "role": 1}, {"role": 2, "name": 7}]',
      'rows/a.yaml': '- {name: ada, role: x}\n- {role: y, name: ""}\n',
    };
    const csv = await runText(text('a.csv'), { files });
    expect(csv.output).toEqual(['ada is admin', 'Hopper, Grace is say "hi"\nbye']);
    expect(csv.steps.map(({ groups }) => groups)).toEqual([['user [ada]'], ['user [Hopper, Grace]']]);
    const ofJson = await runText(text('a.json'), { files });
    expect(ofJson.steps.map(({ groups }) => groups)).toEqual([['user [ada]'], ['user [7]']]);
    const yaml = await runText(text('a.yaml'), { files });
    expect(yaml.steps.map(({ groups }) => groups)).toEqual([['user [ada]'], ['user [2]']]);
  });

  it('does not name items after a response', async () => {
    const api = await ApiServer.start(json([{ name: 'from the response' }]));
    const { lines } = await runText(`
steps:
  - ws.get: ["${api.origin}", "", r]
  - {forEach: {one: "\${r.body}"}, base.verbose: "\${one.name}"}
`);
    expect(lines[1]).toBe('passed base.verbose(${one.name}) [1]');
  });

  it('ends at the first item that fails, or continues with continueOnFailure', async () => {
    const text = (more: string) => `
steps:
  - forEach: {n: 1..4}
    ${more}
    number.assertLesser: ["\${n}", 2]
`;
    expect((await runText(text(''))).steps.map(({ state }) => state)).toEqual(['passed', 'failed', 'skipped']);
    const { result } = await runText(text('continueOnFailure: true'));
    expect(result.counts).toEqual({ passed: 1, failed: 3, skipped: 0 });
  });

  it('restores the variable afterwards', async () => {
    const { output, failures } = await runText(`
data: {n: before}
steps:
  - {forEach: {n: [1]}, base.verbose: "\${n}"}
  - base.verbose: "\${n}"
  - {forEach: {m: [1]}, base.verbose: "\${m}"}
  - base.verbose: "\${m}"
`);
    expect(output).toEqual(['1', 'before', '1']);
    expect(failures).toEqual(['m is not defined']);
  });

  it('can be nested, and combined with retry', async () => {
    const { output } = await runText(`
steps:
  - forEach: {a: 1..2}
    steps:
      - {forEach: {b: [x, y]}, retry: {times: 2, interval: 1ms}, base.verbose: "\${a}\${b}"}
`);
    expect(output).toEqual(['1x', '1y', '2x', '2y']);
  });

  it.each([
    ['"${text}"', 'forEach expects a list'],
    ['"${missing}"', 'missing is not defined'],
    ['"@missing.csv"', 'missing.csv'],
    ['"@bad.csv"', 'bad.csv:2: a quote is not closed'],
    ['"@bad.json"', 'bad.json:1:'],
    ['"@bad.yaml"', 'bad.yaml: '],
    ['"@map.json"', 'map.json must contain a list'],
    ['"@a.txt"', 'a.txt has an unknown format'],
    ['1..1000000', 'the range 1..1000000 has 1000000 items, more than 100000'],
  ])('fails for %s', async (items, message) => {
    const files = { 'bad.csv': 'a\n"x', 'bad.json': '[', 'bad.yaml': 'a: [', 'map.json': '{}', 'a.txt': '' };
    const { failures, result } = await runText(loop(items), { files });
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain(message);
    expect(result.counts.failed).toBe(1);
  });

  it('rejects a list of a million items', async () => {
    const api = await ApiServer.start(json(Array(1_000_000).fill(0)));
    const { failures } = await runText(`
steps:
  - ws.get: ["${api.origin}", "", r]
  - {forEach: {n: "\${r.body}"}, base.verbose: "\${n}"}
`);
    expect(failures).toEqual(['forEach has 1000000 items, more than 100000']);
  });

  it('ends a script with too many steps', async () => {
    const { failures, result } = await runText(`
steps:
  - forEach: {a: 1..1000}
    continueOnFailure: true
    steps:
      - {forEach: {b: 1..1000}, base.save: [x, "\${b}"]}
  - base.verbose: never
`);
    expect(failures).toEqual(['the script has run 200000 steps']);
    expect(result.counts.passed).toBe(200_000);
    expect(result.steps.at(-1)).toMatchObject({ state: 'skipped' });
  }, 60_000);

  it.each([
    ['forEach: x', 'forEach must be a map of one variable'],
    ['forEach: {}', 'forEach must be a map of one variable'],
    ['forEach: {a: [1], b: [2]}', 'forEach must be a map of one variable'],
    ['forEach: {env: [1]}', 'forEach: env is not a variable name: use letters, digits and _'],
    ['forEach: {a.b: [1]}', 'forEach: a.b is not a variable name: use letters, digits and _'],
    ['forEach: {a: x}', 'forEach must be a list, a range, a reference or @ and a path'],
    ['forEach: {a: 5}', 'forEach must be a list, a range, a reference or @ and a path'],
    ['forEach: {a: ["${"]}', expect.stringMatching(/^the reference/)],
  ])('is validated before anything runs: %s', async (key, message) => {
    const issues = await issuesInText(`steps:\n  - base.verbose: x\n    ${key}`);
    expect(issues.map((issue) => issue.replace(/^main\.yaml:3:\d+ /, ''))).toEqual([message]);
  });
});

describe('CSV', () => {
  it.each([
    ['a,b\n1,2\n', [{ a: '1', b: '2' }]],
    [
      'a,b\r\n1,2\r\n3,4',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['a\n\n1\n\n', [{ a: '1' }]],
    ['a,b\n,\n', [{ a: '', b: '' }]],
    ['a\n""\n', [{ a: '' }]],
    ['a,b\n"1,\n""2""",3', [{ a: '1,\n"2"', b: '3' }]],
    [' a , b \n 1 , 2 ', [{ a: ' 1 ', b: ' 2 ' }]],
    ['a', []],
    ['', []],
  ])('%j is parsed', (text, rows) => {
    expect(parseCsv(text, 'x.csv')).toEqual(rows);
  });

  it.each([
    ['a,b\n1', 'x.csv: record 1 has 1 fields, the header has 2'],
    ['a,a\n1,2', 'x.csv:1: the column names must be unique and not empty'],
    ['a,\n1,2', 'x.csv:1: the column names must be unique and not empty'],
    ['a\n1\n"2', 'x.csv:3: a quote is not closed'],
    ['a\n"1"2', 'x.csv:2: a quote is not closed'],
    ['a\n1"2"', 'x.csv:2: a quote is not closed'],
  ])('%j is rejected', (text, message) => {
    expect(() => parseCsv(text, 'x.csv')).toThrow(message);
  });
});
