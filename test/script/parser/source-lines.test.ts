import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { InvalidScriptError } from '../../../src/errors.ts';
import { renderIssues } from '../../../src/script/parser/render-issues.ts';
import { readScript } from '../../../src/script/parser/yaml.ts';
import { issuesOf, sampleRegistry, sampleSource } from '../sample-commands.ts';

const read = (text: string) => readScript(text, sampleSource, sampleRegistry).script;
/** All output for a script: rendered, as JSON, and in the error itself. */
const said = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    if (error instanceof InvalidScriptError) {
      return `${renderIssues(error)}${JSON.stringify(error)}${error.message}`;
    }
    throw error;
  }
  throw new Error('no issue was found');
};
const excerpts = (text: string) => issuesOf(() => read(text)).map(({ excerpt }) => excerpt);
const end = 'steps: [{ws.reset: }]';

describe('A quoted source line', () => {
  it.each([
    ['data:\n  a: 1\n  a: 2\nsteps: [{ws.reset: }]', '  a: 2'],
    ['data:\n  a.client_secret: 1\n  a.client_secret: hunter2\nsteps: [{ws.reset: }]', '  a.client_secret: ••••'],
    ['data:\n  a:\n    b: 1\n    b: 2\n    password: hunter2\nsteps: [{ws.reset: }]', '    b: 2'],
    ['steps:\n  - ws.jwtParse: [env, hunter2]', '  - ws.jwtParse: [env, ••••'],
    ['steps:\n  - ws.jwtParse: [env, "${token.id_token}"]', '  - ws.jwtParse: [env, "${token.id_token}"]'],
    ['steps:\n  - ws.jwtParse: [env, "${token:-hunter2}"]', '  - ws.jwtParse: [env, ••••'],
    ['steps:\n  - ws.header: [a, Bearer hunter2, c]', '  - ws.header: [a, ••••'],
    [
      'steps:\n  - ws.header: [a, "Bearer ${token.access_token}", c]',
      '  - ws.header: [a, "Bearer ${token.access_token}", c]',
    ],
    ['steps:\n  - ws.header: {nme: a, value: hunter2}', '  - ws.header: {nme: a, value: ••••'],
    [
      'steps:\n  - ws.oauth: [a.b, c, {client_id: x, client_secret: hunter2}]',
      '  - ws.oauth: [a.b, c, {client_id: x, client_secret: ••••',
    ],
    ['steps:\n  - ws.oauth: [a.b, c, "client_secret=hunter2"]', '  - ws.oauth: [a.b, c, "client_secret=••••'],
    [
      'steps:\n  - ws.oauth: {vr: a, url: b, auth: {client_secret: "${env:SECRET}"}}',
      '  - ws.oauth: {vr: a, url: b, auth: {client_secret: "${env:SECRET}"}}',
    ],
  ])('of %j contains no secret', (text, excerpt) => {
    expect(excerpts(text)).toContain(excerpt);
  });

  it('has the caret at the start of a secret if the issue is inside it', () => {
    const [issue] = issuesOf(() => read('data: {a.password: "hunter2 ${"}\nsteps: [{ws.reset: }]'));
    expect(issue).toMatchObject({ line: 1, column: 31, excerpt: 'data: {a.password: ••••', caret: 19 });
  });

  it.each([
    ['of several lines', `data:\n  x.private_key: |\n    hunter2\n    \${hunter2\n${end}`],
    ['of several lines in quotes', `data:\n  x.password: "hunter2\n\n   hunter2 \${"\n${end}`],
    ['of several plain lines', `data:\n  x.password: hunter2\n    hunter2 \${\n${end}`],
    ['behind an alias', `data:\n  x: &p hunter2 \${\n  x.password: *p\n${end}`],
    ['below a secret name', `data:\n  l: [{credentials: {user: "\${hunter2"}}]\n${end}`],
    ['in a list', `data:\n  tokens:\n    - hunter2\${\n${end}`],
    ['with an unclosed quote', 'data:\n  a.password: "hunter2\n  b: c\n'],
    ['with an unclosed bracket', 'data:\n  a.password: [hunter2\n  b: c\n'],
    ['with a reserved character', 'data:\n  a.password: @hunter2\n'],
    ['with a percent sign', 'data:\n  "a.password": %hunter2\n'],
    ['with a colon', 'data:\n  a.password: hunter2: hunter2\n'],
    ['with a tag', 'data:\n  a.password: !hunter2\n'],
    ['with a lone alias', 'data:\n  a.password: *hunter2\n'],
    ['whose name does not say so, in data that cannot be read', 'data:\n  a.pin: @hunter2\n'],
    ['of several lines, in data that cannot be read', 'data:\n  a.private_key: |\n    hunter2\n   hunter2: x\n'],
    ['below its name, in data that cannot be read', 'data:\n  a.password:\n    @hunter2\n'],
    ['in a flow map that cannot be read', 'data: {a.password: @hunter2}\n'],
    ['in JSON that cannot be read', '{\n  "data": {\n    "a": "hunter2" "hunter2"\n  }\n}'],
    ['in a step that cannot be read', 'steps:\n  - ws.oauth: [a, b, {client_secret: @hunter2}]'],
    [
      'below its name in a step that cannot be read',
      'steps:\n  - ws.oauth:\n      auth:\n        client_secret:\n          @hunter2\n',
    ],
    [
      'on a line of its own in a step that cannot be read',
      'steps:\n  - ws.oauth: [a, b, {client_secret:\n  @hunter2}]',
    ],
    [
      'in an item of a list that cannot be read',
      'steps:\n  - ws.oauth:\n      - tokens:\n          - : |-\n            hunter2 x\n            hunter2 x\n',
    ],
    ['behind a command that takes one, in a step that cannot be read', 'steps:\n  - ws.header: [a, "hunter2\n'],
    [
      'below a command that takes one, in a step that cannot be read',
      'steps:\n  - ws.header:\n      - a\n      - @hunter2\n',
    ],
    ['in a script that is none', 'password: hunter2'],
    ['in a string that holds two', 'password: hunter2\n--- hunter2'],
    ['in a script that unfolds too far', 'data: {a: &a [hunter2, *a]}'],
  ])('contains no secret %s', (_, text) => {
    expect(said(text)).not.toContain('hunter2');
  });

  const place = fc.constantFrom('data', 'auth', 'list', 'nested');
  const style = fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED');
  const damage = fc.constantFrom(
    '',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    ': ',
    '\t',
    '@',
    '*',
    '&',
    '!',
    '\n',
    '\n ',
    '#',
    '${',
    '|',
  );

  it('contains no secret wherever the YAML is damaged', () => {
    fc.assert(
      fc.property(place, style, damage, fc.nat(), fc.nat(3), (where, defaultStringType, mark, at, lines) => {
        const secret = Array(lines + 1)
          .fill('hunter2 hunter2')
          .join('\n');
        const data =
          where === 'data' ? { 'graph.client_secret': secret, x: 1 } : { graph: { basic: { password: secret } } };
        const auth = where === 'list' ? { tokens: [secret] } : { client_id: 'x', client_secret: secret, last: 'y' };
        const script = { nme: 'x', data, steps: [{ 'ws.rset': null }, { 'ws.oauth': ['env', 'u', auth] }] };
        const text = stringify(script, { defaultStringType, defaultKeyType: 'PLAIN', lineWidth: 0 });
        // If the damage changes the name of the secret, the name is no longer sensitive.
        const offset = at % (text.length + 1);
        const broken = `${text.slice(0, offset)}${mark}${text.slice(offset)}`;
        const names = (whole: string) =>
          whole
            .replace(/(^|\s)#.*$/gm, '')
            .match(/(?<=^|[\s{])(?:graph\.client_secret|client_secret|password|tokens): ?/gm);
        fc.pre(names(broken)?.length === names(text)?.length);
        // A line break can move an item out of the list that its name belongs to.
        fc.pre(where !== 'list' || !mark.includes('\n'));
        expect(said(broken)).not.toContain('hunter2');
      }),
      { numRuns: 400 },
    );
  });
});

describe('A long source line', () => {
  const long = (before: number, after: number) =>
    issuesOf(() => read(`steps: [${'{ws.reset: },'.repeat(before)} {ws.rset: }, ${'{ws.reset: },'.repeat(after)}]`))[0];

  it.each([
    [0, 0],
    [0, 100],
    [100, 0],
    [100, 100],
    [3, 100],
    [100, 3],
  ])('is truncated around the issue (%i before, %i after)', (before, after) => {
    const { excerpt = '', caret = 0 } = long(before, after) ?? {};
    expect(excerpt.length).toBeLessThanOrEqual(122);
    expect(excerpt.slice(caret)).toMatch(/^ws\.rset: \}/);
    expect(excerpt.startsWith('…')).toBe(before > 10);
    expect(excerpt.endsWith('…')).toBe(after > 10);
  });

  it('is not truncated inside a character', () => {
    for (const pad of ['', 'a']) {
      const text = `steps: [{base.verbose: "${pad}${'😀'.repeat(200)}"}, {ws.rset: }, {base.verbose: "${'😀'.repeat(200)}"}]`;
      const [issue] = issuesOf(() => read(text));
      expect(issue?.excerpt?.isWellFormed()).toBe(true);
      expect(issue?.excerpt).not.toContain('\\ud');
      expect(issue?.excerpt?.slice(issue.caret)).toMatch(/^ws\.rset/);
    }
  });

  it('has no control characters', () => {
    const [issue] = issuesOf(() => read('steps:\n  - {name: "\u202e\u0085", ws.rset: }\t'));
    expect(issue?.excerpt).toBe('  - {name: "\\u202e\\u0085", ws.rset: }');
    expect(issue?.excerpt?.slice(issue.caret)).toBe('ws.rset: }');
  });
});
