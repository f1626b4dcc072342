import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RawScalar } from '../../../src/config/value.ts';
import { InvalidScriptError, OAuthProfileError } from '../../../src/errors.ts';
import { commandName } from '../../../src/script/command.ts';
import { scriptKeys, stepKeys } from '../../../src/script/keys.ts';
import { readScript } from '../../../src/script/parser/yaml.ts';
import type { CommandStep } from '../../../src/script/script.ts';
import { anyString } from '../../support/arbitraries.ts';
import { commandsOf, issuesOf, sampleRegistry, sampleSource } from '../sample-commands.ts';

const read = (text: string) => readScript(text, sampleSource, sampleRegistry).script;
const step = (text: string): CommandStep => read(`steps:\n  - ${text}`).steps[0] as CommandStep;
/** Returns `line:column message` for each issue. */
const issues = (text: string) =>
  issuesOf(() => read(text)).map(({ line, column, message }) => `${line}:${column} ${message}`);
const stepIssues = (text: string) => issues(`steps:\n  - ${text}`);
const hintsFor = (text: string) => issuesOf(() => read(`steps:\n  - ${text}`)).map(({ hint }) => hint);

describe('A script', () => {
  it('is parsed like the example of the documentation', () => {
    const script = read(`# me.yaml
version: 1
name: Who am I
data:
  graph.type: microsoft
  graph:
    tenant_id: contoso.onmicrosoft.com
    client_id: \${env:GRAPH_CLIENT_ID}
  count: 007
  list: [1, {a: b}]
steps:
  - ws.oauth: {var: token, url: "https://x", auth: {client_secret: "\${env:S}"}}
  - ws.get: ["https://graph.microsoft.com/v1.0/me", "", me]
    name: Ask
    if: \${token.access_token} is not empty & true
    continueOnFailure: true
  -
    always: true
    base.save: [who, "\${me.body.givenName}"]
`);
    expect(script.name).toBe('Who am I');
    expect(script.source).toBe(sampleSource);
    expect(script.data).toEqual([
      { name: 'graph.type', value: 'microsoft', line: 5 },
      { name: 'graph.tenant_id', value: 'contoso.onmicrosoft.com', line: 7 },
      { name: 'graph.client_id', value: '${env:GRAPH_CLIENT_ID}', line: 8 },
      { name: 'count', value: new RawScalar('007', 7), line: 9 },
      { name: 'list', value: [1, { a: 'b' }], line: 10 },
    ]);
    expect(commandsOf(script).map(({ command, ...rest }) => ({ ...rest, command: commandName(command) }))).toEqual([
      {
        command: 'ws.oauth',
        parameters: { var: 'token', url: 'https://x', auth: { client_secret: '${env:S}' } },
        name: undefined,
        condition: undefined,
        continueOnFailure: false,
        always: false,
        position: { line: 12, column: 5 },
      },
      {
        command: 'ws.get',
        parameters: { url: 'https://graph.microsoft.com/v1.0/me', queryString: '', var: 'me' },
        name: 'Ask',
        condition: expect.any(Function),
        continueOnFailure: true,
        always: false,
        position: { line: 13, column: 5 },
      },
      {
        command: 'base.save',
        parameters: { var: 'who', value: '${me.body.givenName}' },
        name: undefined,
        condition: undefined,
        continueOnFailure: false,
        always: true,
        position: { line: 18, column: 5 },
      },
    ]);
  });

  it.each([
    ['ws.reset:', {}],
    ['ws.reset: []', {}],
    ['ws.reset: {}', {}],
    ['base.note:', {}],
    ['base.note: hello', { text: 'hello' }],
    ['base.note: [hello, true]', { text: 'hello', loud: true }],
    ['base.note: {loud: true}', { loud: true }],
    ['base.waitFor: 007', { waitMs: new RawScalar('007', 7) }],
    ['base.waitFor: "${ms}"', { waitMs: '${ms}' }],
    ['base.clear: a', { vars: 'a' }],
    ['base.clear: a, b', { vars: 'a, b' }],
    ['base.clear: [a]', { vars: 'a' }],
    ['base.clear: [a, b]', { vars: ['a', 'b'] }],
    ['base.clear: [[a, b]]', { vars: ['a', 'b'] }],
    ['base.clear: {vars: [a, b]}', { vars: ['a', 'b'] }],
    ['base.verbose: ""', { text: '' }],
    ['base.verbose: [[a, {b: 1.0}]]', { text: ['a', { b: new RawScalar('1.0', 1) }] }],
    ['base.verbose: [~]', { text: null }],
    ['ws.get: [a, ~, me]', { url: 'a', queryString: null, var: 'me' }],
    ['ws.get: {var: me, url: a, queryString: ""}', { var: 'me', url: 'a', queryString: '' }],
    ['ws.get: [a, "", "${x}"]', { url: 'a', queryString: '', var: '${x}' }],
    [
      'base.save: [graph.token, 1234567890123456789]',
      { var: 'graph.token', value: new RawScalar('1234567890123456789', 1234567890123456800) },
    ],
    ['base.save: [a, "$${b"]', { var: 'a', value: '$${b' }],
  ])('can have the step %s', (text, parameters) => {
    expect(step(text).parameters).toEqual(parameters);
  });

  it.each([
    ['name: 2024', '2024'],
    ['name: 1.0', '1.0'],
    ['name: "${x}"', '${x}'],
  ])('preserves the notation of %s', (line, name) => {
    expect(step(`${line}\n    ws.reset:`).name).toBe(name);
  });

  it('is named like its file by default', () => {
    expect(read('steps: [{ws.reset: }]').name).toBe('me.yaml');
  });

  it.each(['True', 'TRUE', 'true'])('can contain %s, a boolean of YAML 1.2', (word) => {
    expect(step(`ws.reset:\n    always: ${word}`).always).toBe(true);
  });

  it('can be JSON, and can have a byte order mark and CRLF', () => {
    expect(read('{"steps": [{"ws.reset": null}]}').steps).toHaveLength(1);
    const { steps } = read('\ufeffsteps:\r\n  - ws.reset:\r\n  - ws.reset:\r\n');
    expect(steps.map(({ position }) => position)).toEqual([
      { line: 2, column: 5 },
      { line: 3, column: 5 },
    ]);
    expect(issues('\ufeffsteps: x\r\n')).toEqual(['1:8 steps must be a list']);
  });

  it('can use anchors, aliases and merge keys', () => {
    const steps = commandsOf(read('steps:\n  - &one {ws.get: [a, "", b], name: x}\n  - {<<: *one, name: y}\n  - *one'));
    expect(steps.map(({ name, parameters }) => [name, parameters['url']])).toEqual([
      ['x', 'a'],
      ['y', 'a'],
      ['x', 'a'],
    ]);
  });
});

describe('An issue of a script', () => {
  it.each([
    ['', '1:1 the script has no steps'],
    ['# nothing', '1:1 the script has no steps'],
    ['hello', '1:1 not a script'],
    ['- ws.reset:', '1:1 a script must be a map, not a list'],
    ['name: x', '1:1 the script has no steps'],
    ['steps:', '1:7 the script has no steps'],
    ['steps: []', '1:8 the script has no steps'],
    ['steps: {ws.reset: }', '1:8 steps must be a list'],
    ['steps: ws.reset', '1:8 steps must be a list'],
    ['data: 7\nsteps: [{ws.reset: }]', '1:7 data must be a map of variables'],
    ['data: [a]\nsteps: [{ws.reset: }]', '1:7 data must be a map of variables'],
    ['name: [a]\nsteps: [{ws.reset: }]', '1:7 name must be a string'],
    ['name:\nsteps: [{ws.reset: }]', '1:6 name must be a string'],
    ['step: []\nsteps: [{ws.reset: }]', '1:1 unknown key step'],
    ['ws.reset:\nsteps: [{ws.reset: }]', '1:1 unknown key ws.reset'],
    ['steps: [{ws.reset: }]\nsteps: []', '2:1 steps is defined twice'],
    ['data: {a: 1, a: 2}\nsteps: [{ws.reset: }]', '1:14 a is defined twice'],
    ['data:\n  a.b: 1\n  a:\n    b: 2\nsteps: [{ws.reset: }]', '4:5 a.b is defined twice'],
    ['data: {a: "x ${b"}\nsteps: [{ws.reset: }]', expect.stringMatching(/^1:14 the reference /)],
    ['steps: [*x]', expect.stringMatching(/^1:9 /)],
    ['steps: [{ws.reset: }]\n---\nsteps: []', expect.stringMatching(/^2:1 /)],
  ])('is reported with its position: %j', (text, issue) => {
    expect(issues(text)).toContainEqual(issue);
  });

  it.each([
    ['2', 'unsupported version 2: this program supports version 1'],
    ['0', 'unsupported version 0: this program supports version 1'],
    ['"1"', 'version must be 1'],
    ['1.0', 'version must be 1'],
    ['true', 'version must be 1'],
    ['[1]', 'version must be 1'],
    ['~', 'version must be 1'],
  ])('D21 is the unsupported version %s', (version, message) => {
    expect(issues(`version: ${version}\nsteps: [{ws.reset: }]`)).toEqual([`1:10 ${message}`]);
  });

  it.each([
    ['7', '2:5 a step must be a command with its parameters'],
    ['', '2:5 a step must be a command with its parameters'],
    ['[a]', '2:5 a step must be a command with its parameters'],
    ['ws.reset', '2:5 a step must be a command with its parameters'],
    ['ws.get:[a]', '2:5 a step must be a command with its parameters'],
    ['name: x', '2:5 the step has no command'],
    ['{}', '2:5 the step has no command'],
    ['nmae: x', '2:5 the step has no command'],
    ['ws.reset:\n    ws.get: [a, "", b]', '3:5 unexpected second command in one step'],
    ['ws.rset:', '2:5 unknown command ws.rset'],
    ['get: [a]', '2:5 unknown key get'],
    ['ws.reset:\n    always: "true"', '3:13 always must be true or false'],
    ['ws.reset:\n    always:', '3:12 always must be true or false'],
    ['ws.reset:\n    continueOnFailure: 1', '3:24 continueOnFailure must be true or false'],
    ['ws.reset:\n    name: {a: b}', '3:11 name must be a string'],
    ['ws.reset:\n    name: ""', '3:11 name must be a string'],
    ['ws.reset:\n    if: [a]', '3:9 if must be a condition'],
    ['ws.reset:\n    if:', '3:8 if must be a condition'],
    ['ws.reset:\n    name: a\n    name: b', '4:5 name is defined twice'],
    ['ws.reset: a', '2:15 ws.reset expects no parameters, got 1'],
    ['ws.get:', '2:5 ws.get expects 3 to 4 parameters, got 0'],
    ['ws.get: a', '2:13 ws.get expects 3 to 4 parameters, got 1'],
    ['ws.get: [a, b]', '2:13 ws.get expects 3 to 4 parameters, got 2'],
    ['ws.get: [a, b, c, {}, e, f]', '2:27 ws.get expects 3 to 4 parameters, got 6'],
    ['base.verbose: [a, b]', '2:23 base.verbose expects 1 parameter, got 2'],
    ['ws.header: {name: a, vlaue: b}', '2:26 unknown parameter vlaue of ws.header'],
    ['ws.header: {name: a}', '2:5 ws.header: missing parameter value'],
    ['ws.get: {}', '2:5 ws.get: missing parameter url, var'],
    ['ws.header: {name: a, name: b, value: c}', '2:26 name is defined twice'],
    ['ws.header: {name: a, value: b, __proto__: c}', '2:36 unknown parameter __proto__ of ws.header'],
    ['base.waitFor: soon', '2:19 waitMs must be a non-negative integer'],
    ['base.waitFor: [-1]', '2:20 waitMs must be a non-negative integer'],
    ['base.waitFor: {waitMs: 1.5}', '2:28 waitMs must be a non-negative integer'],
    ['ws.header: [a, [b]]', '2:20 value must be a string, not a list or map'],
    ['ws.header: [a, ["${b}"]]', '2:20 value must be a string, not a list or map'],
    ['ws.get: [a, b, {c: "${d}"}]', expect.stringMatching(/^2:20 var must be/)],
    ['number.assertBetween: [1, x]', '2:31 minNum must be a number'],
    ['base.note: [a, maybe]', '2:20 loud must be true or false'],
    ['base.clear: ["a,,b"]', '2:18 vars must be names, as a list or separated by commas'],
    ['json.storeCount: [a, "", x]', '2:26 jsonpath must be a JSONPath'],
    ['ws.header: [a, "${"]', expect.stringMatching(/^2:23 the reference /)],
    ['ws.header: ["${a", "x ${b.}"]', expect.stringMatching(/^2:18 the reference /)],
    ['ws.header: ["${a", "x ${b.}"]', expect.stringMatching(/^2:31 the reference /)],
    ['ws.oauth: [a, b, {c: [d, "${e["]}]', expect.stringMatching(/^2:35 the reference /)],
  ])('in a step is reported with its position: - %s', (text, issue) => {
    expect(stepIssues(text)).toContainEqual(issue);
  });

  it.each(['env', 'file', 'vault', '__proto__', 'constructor', 'prototype', 'a.b', '1a', 'a-b', '""', '7', '[a]', 'é'])(
    'D3 is the variable name %s',
    (name) => {
      expect(stepIssues(`ws.get: [a, "", ${name}]`)).toEqual([
        expect.stringMatching(/^2:21 var must be a variable name/),
      ]);
    },
  );

  it('is found in a literal with an escape', () => {
    expect(stepIssues('ws.get: [a, "", "$${x}"]')).toEqual([expect.stringMatching(/^2:21 var must be/)]);
  });

  it.each([
    ['${a} = ${', expect.stringMatching(/^2:18 if: the reference /)],
    ['${a}', '2:9 if: operator expected: =, !=, <, <=, >, >=, contains, matches, is empty or is defined'],
    ['1', '2:9 if: operator expected: =, !=, <, <=, >, >=, contains, matches, is empty or is defined'],
    ['"${a} = b & "', '2:21 if: condition expected'],
    ["'it''s = b'", "2:12 if: unclosed quote (')"],
    ['"\\x41\\u0042\\" = \'c"', '2:20 if: unclosed quote (")'],
    [
      'a = b\n      = c',
      '3:7 if: unexpected second operator: join conditions with "and" or "or" and quote operands that contain operators',
    ],
    [
      '|\n      a = b\n      = c',
      '4:7 if: unexpected second operator: join conditions with "and" or "or" and quote operands that contain operators',
    ],
    ['|\n\n      a = b & ${x} = ${y.', expect.stringMatching(/^4:26 if: the reference /)],
    [
      'a matches (',
      '2:18 if: invalid regular expression after matches: Invalid regular expression: /(/u: Unterminated group',
    ],
  ])('in the condition %j is reported with its position', (text, issue) => {
    expect(issues(`steps:\n  - if: ${text}\n    ws.reset:`)).toEqual([issue]);
  });

  it.each([
    ['ws.gett: [a]', 'did you mean ws.get?'],
    ['get: [a]', 'did you mean ws.get?'],
    ['wz.get: [a, "", b]', 'did you mean ws.get?'],
    ['foo.bar: x', 'run oauth-profile commands to list all commands'],
    ['ws.reset:\n    alway: true', 'did you mean always?'],
    ['ws.reset:\n    continueonfailure: true', 'did you mean continueOnFailure?'],
    ['ws.reset:\n    something: true', `the keys of a step are its command, ${Object.keys(stepKeys).join(', ')}`],
    ['ws.reset', 'write - ws.reset: and its parameters'],
    ['ws.get:[a]', 'write a space after ws.get:'],
    ['ws.get: [a]', 'the signature is ws.get(url, queryString, var, [options]); write "" for an empty parameter'],
    ['ws.header: [a, b, c]', 'the signature is ws.header(name, value)'],
    ['ws.reset: [a]', 'write - ws.reset:'],
    ['base.verbose: [a, b]', 'to pass a list as the only parameter, write - base.verbose: [[a, b]]'],
    ['ws.header: {name: a, vlaue: b}', 'did you mean value?'],
    ['ws.header: {name: a, value: b, somethingElse: c}', 'the signature is ws.header(name, value)'],
  ])('in a step has a hint: - %s', (text, hint) => {
    expect(hintsFor(text)).toEqual([hint]);
  });

  it.each([
    ['naem: x\nsteps: [{ws.reset: }]', 'did you mean name?'],
    ['ws.get: [a]\nsteps: [{ws.reset: }]', 'ws.get is a command: write it as - ws.get: … below steps:'],
    [
      'graph.type: okta\nsteps: [{ws.reset: }]',
      `the keys of a script are ${Object.keys(scriptKeys).join(', ')}; variables belong below data:`,
    ],
  ])('has a hint: %j', (text, hint) => {
    expect(issuesOf(() => read(text)).map(({ hint: found }) => found)).toEqual([hint]);
  });

  it('is reported with all others in the order of the file', () => {
    const text = `steps:
  - ws.gett: [a]
    if: a
  - ws.get: [\${a}x, "", env]
    always: 7
  - base.waitFor: x
nmae: y
version: 3
`.replace('${a}x', '"${a"');
    expect(issues(text)).toEqual([
      '2:5 unknown command ws.gett',
      '3:9 if: operator expected: =, !=, <, <=, >, >=, contains, matches, is empty or is defined',
      expect.stringMatching(/^4:15 the reference /),
      expect.stringMatching(/^4:25 var must be/),
      '5:13 always must be true or false',
      '6:19 waitMs must be a non-negative integer',
      '7:1 unknown key nmae',
      '8:10 unsupported version 3: this program supports version 1',
    ]);
  });

  it('is reported once if aliases repeat it', () => {
    expect(issues('steps:\n  - &a {ws.rset: }\n  - *a\n  - *a')).toEqual(['2:9 unknown command ws.rset']);
  });

  it('is listed if it is one of the first hundred; the message has the total', () => {
    const error = catchError(() => read(`steps:\n${'  - ws.nothing: [a]\n'.repeat(250)}`));
    expect(error.message).toMatch(/^tests\/me\.yaml .*250.*100/);
    expect(error.issues).toHaveLength(100);
  });

  it('is part of the JSON of the error', () => {
    const error = catchError(() => read('steps: [{ws.rset: }]'));
    expect(error).toBeInstanceOf(OAuthProfileError);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'script_invalid',
      message: expect.stringContaining('tests/me.yaml'),
      file: 'tests/me.yaml',
      issues: [
        {
          line: 1,
          column: 10,
          excerpt: 'steps: [{ws.rset: }]',
          caret: 9,
          message: 'unknown command ws.rset',
          hint: 'did you mean ws.reset?',
        },
      ],
    });
  });
});

describe('Invalid YAML', () => {
  it.each([
    ['steps:\n  - ws.get: [${url}, "", me]', ['2:14']],
    ['steps:\n  - ws.get: {url: ${url}, var: me}\n  - ws.get: [a]', ['2:19']],
    ['steps:\n  - ws.get: [a, "b]\n  - ws.reset:', ['2:17']],
    ['steps:\n  - ws.get: \'b\n  - ws.reset: "x"', ['2:13']],
    ['steps:\n  - ws.get: [a, b\n  - ws.reset:', ['3:3']],
    ['steps:\n  - ws.get: ["a" "b"]', ['2:18']],
    ['steps:\n  - name: a: b\n    ws.reset:', ['2:11']],
    ['steps:\n\t- ws.reset:', ['2:1']],
    ['steps:\n  - name: "\\d"', ['2:12']],
    ['steps:\n  - a: @b\n  - c: `d`', ['2:8', '3:8']],
    ['steps:\n  - ws.reset:\n   name: b', ['3:4']],
    ['steps:\n  - ws.reset:\n   - ws.reset:', ['3:4']],
    ['steps:\n  - ws.reset:\n- ws.reset:', ['3:1']],
    ['steps:\n  - if: "${a}" = "b"', ['2:16']],
    ['steps:\n  - a: !b c', ['2:8']],
    ['steps:\n  - a: *', ['2:8']],
    ['steps:\n  - ws.get: [a, , me]', ['2:17']],
    ['${ |\nsteps: ', ['1:1']],
    ['data: ]\nsteps: }', ['1:7']],
  ])('is reported once per line: %j', (text, expected) => {
    expect(issuesOf(() => read(text)).map(({ line, column }) => `${line}:${column}`)).toEqual(expected);
  });
});

describe('A malicious script', () => {
  it.each([
    ['a list that contains itself', 'steps: &a [*a]'],
    ['a map that contains itself', 'steps: &a [{ws.get: *a}]'],
    [
      'lists that multiply',
      `data:\n${Array.from({ length: 9 }, (_, i) => `  a${i}: &a${i} [${Array(9).fill(i ? `*a${i - 1}` : 'x')}]`).join('\n')}`,
    ],
    ['a deep list', `steps: ${'['.repeat(1000)}`],
    ['a deep block', `steps:\n${'- '.repeat(1000)}`],
    ['deep maps', '{a: '.repeat(5000)],
  ])('is rejected: %s', (_, text) => {
    expect(issues(text).at(-1)).toMatch(/300000 values|64 levels/);
  });

  it('is rejected if it has too many variables or too long names', () => {
    const many = `x: &x {${Array.from({ length: 300 }, (_, i) => `k${i}: 1`).join(', ')}}`;
    const maps = Array.from({ length: 100 }, (_, i) => `  m${i}: *x`).join('\n');
    expect(issues(`data:\n  ${many}\n${maps}\nsteps: [{ws.reset: }]`)).toEqual([
      expect.stringMatching(/data has more than 20000 variables$/),
    ]);
    expect(issues(`data: {${'a'.repeat(600)}: {${'b'.repeat(600)}: 1}}\nsteps: [{ws.reset: }]`)).toEqual([
      expect.stringMatching(/^1:7 .*1000 characters/),
    ]);
  });

  it('is distinguished from a long one', () => {
    const text = `steps:\n${'  - ws.get: ["https://x/${a}", "", me]\n    if: ${a} = 1\n    name: x\n'.repeat(10_000)}`;
    expect(read(text).steps).toHaveLength(10_000);
  }, 60_000);
});

describe('Any string', () => {
  const lines = ['steps:', 'data:', 'version: 1', 'name: ', 'if: ', 'ws.get: ', 'ws.reset:', 'base.clear: ', '---'];
  const marks = [
    '- ',
    '  ',
    '\n',
    '\n  - ',
    '\n    ',
    '\t',
    '\r\n',
    '[',
    ']',
    '{',
    '}',
    ', ',
    ': ',
    '"',
    "'",
    '${',
    '}',
    '&a ',
  ];
  const rest = [
    '*a',
    '<<: ',
    '!x ',
    '# ',
    '| ',
    '> ',
    ' = ',
    'a',
    '7',
    'true',
    '~',
    '@',
    '%',
    '\\',
    '{name: a, value: ',
  ];
  const words = fc.constantFrom(...lines, ...marks, ...rest);
  const yamlish = fc.array(fc.oneof({ weight: 5, arbitrary: words }, anyString(0, 5)), { maxLength: 30 });

  it('is parsed, or rejected with issues that have a position in it', () => {
    fc.assert(
      fc.property(yamlish, fc.boolean(), (pieces, asSteps) => {
        const text = `${asSteps ? 'steps:\n  - ' : ''}${pieces.join('')}`;
        try {
          expect(read(text).steps.length).toBeGreaterThan(0);
        } catch (error) {
          if (!(error instanceof InvalidScriptError)) throw error;
          expect(error.issues.length).toBeGreaterThan(0);
          const lines = text.replace(/^\ufeff/, '').split('\n');
          for (const { line = 0, column = 0, excerpt = '', caret = -1 } of error.issues) {
            expect(line).toBeGreaterThan(0);
            expect(line).toBeLessThanOrEqual(lines.length);
            expect(column).toBeGreaterThan(0);
            expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1);
            expect(caret).toBeGreaterThanOrEqual(0);
            expect(excerpt).not.toMatch(/[\n\r\t]/);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

function catchError(run: () => unknown): InvalidScriptError {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidScriptError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
