import { describe, expect, it } from 'vitest';
import { issuesInText, runText } from '../run-text.ts';

describe('run', () => {
  it('runs the steps of another script with the variables of this one', async () => {
    const { output, lines, steps } = await runText(
      `
data: {user: ada}
steps:
  - run: parts/hello.yaml
    with: {greeting: "hello \${user}"}
    save: [said, count]
  - base.verbose: "\${said} \${count}"
  - base.verbose: "\${inner}"
`,
      {
        files: {
          'parts/hello.yaml': `
name: Hello
data: {user: not used, punctuation: "!"}
setup: [{base.save: [inner, x]}]
steps:
  - base.save: [said, "\${greeting}\${punctuation}"]
  - base.save: [count, "\${length(user)}"]
  - json.assertCorrectness: [{a: 1}, "@schema.json"]
teardown: [{base.verbose: "bye \${user}"}]
`,
          'parts/schema.json': '{"required": ["a"]}',
        },
      },
    );
    expect(output).toEqual(['bye ada', 'hello ada! 3']);
    expect(lines.at(-1)).toBe('failed base.verbose(${inner})');
    expect(steps[1]).toMatchObject({
      groups: ['run parts/hello.yaml'],
      file: 'parts/hello.yaml',
      position: { line: 6, column: 5 },
    });
    expect(steps.at(-1)).not.toHaveProperty('file');
  });

  it('keeps the variables of this script if the other one fails', async () => {
    const { lines, output } = await runText(
      'data: {a: old}\nsteps:\n  - {run: b.yaml, save: a, continueOnFailure: true}\n  - base.verbose: "${a}"',
      { files: { 'b.yaml': 'steps: [{base.save: [a, new]}, {base.assertEqual: [1, 2]}]' } },
    );
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['passed', 'failed', 'passed']);
    expect(output).toEqual(['old']);
  });

  it('fails if a variable to save is not defined', async () => {
    const { failures } = await runText('steps: [{run: b.yaml, save: x}]', {
      files: { 'b.yaml': 'steps: [{base.verbose: hi}]' },
    });
    expect(failures).toEqual(['x is not defined in b.yaml']);
  });

  it('does not replace a profile of this script', async () => {
    const { output } = await runText('data: {shop: {type: custom, url: "https://a.example"}}\nsteps: [{run: b.yaml}]', {
      files: {
        'b.yaml':
          'data: {shop.url: "https://evil.example", shop.x: 1, z: 2}\nsteps: [{base.verbose: "${shop.url} ${shop.x:-none} ${z}"}]',
      },
    });
    expect(output).toEqual(['https://a.example none 2']);
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'itself',
      { 'main.yaml': 'steps: [{run: main.yaml}]' },
      'main.yaml:1:15 the scripts run each other: main.yaml → main.yaml',
    ],
    [
      'a script that runs this one',
      { 'main.yaml': 'steps: [{run: x/b.yaml}]', 'x/b.yaml': 'steps:\n  - run: ../main.yaml' },
      'x/b.yaml:2:10 the scripts run each other: main.yaml → b.yaml → main.yaml',
    ],
    ['a missing file', { 'main.yaml': 'steps: [{run: b.yaml}]' }, 'main.yaml:1:15 file not found: b.yaml'],
    [
      'a script with an issue',
      { 'main.yaml': 'steps: [{run: b.yaml}]', 'b.yaml': 'steps: [{base.vrbose: x}]' },
      'b.yaml:1:10 unknown command base.vrbose',
    ],
    [
      'a reference',
      { 'main.yaml': 'steps: [{run: "${a}"}]' },
      'main.yaml:1:15 run must be the path of a file, without references',
    ],
    ['with without run', { 'main.yaml': 'steps: [{base.verbose: x, with: {a: 1}}]' }, 'main.yaml:1:27 with needs run'],
    [
      'a command too',
      { 'main.yaml': 'steps: [{base.verbose: x, run: b.yaml}]' },
      'main.yaml:1:27 unexpected second command in one step',
    ],
    [
      'with that is a list',
      { 'main.yaml': 'steps: [{run: b.yaml, with: [a]}]' },
      'main.yaml:1:29 with must be a map of variables',
    ],
    [
      'a bad name',
      { 'main.yaml': 'steps: [{run: b.yaml, with: {a b: 1}}]' },
      'main.yaml:1:30 with: a b is not a variable name',
    ],
  ])('is validated before anything runs: %s', async (_, files, issue) => {
    expect(await issuesInText(files['main.yaml'] ?? '', { files })).toEqual([issue]);
  });

  it('is limited to 20 levels', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`${index}.yaml`, `steps: [{run: ${index + 1}.yaml}]`]),
    );
    expect(await issuesInText('steps: [{run: 0.yaml}]', { files })).toEqual([
      '18.yaml:1:15 more than 20 scripts run each other',
    ]);
  });

  it('does not multiply without end', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 18 }, (_, i) => [`${i}.yaml`, `steps: [{run: ${i + 1}.yaml}, {run: ${i + 1}.yaml}]`]),
    );
    const { failures } = await runText('steps: [{run: 0.yaml}]', {
      files: { ...files, '18.yaml': 'steps: [{base.save: [a, b]}]' },
    });
    expect(failures).toEqual(['the script has run 200000 steps']);
  }, 60_000);
});
