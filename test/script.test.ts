import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { type EmulatedProfiles, type Emulator, startEmulator } from '../src/emulator.ts';
import { Secret } from '../src/index.ts';
import {
  commandDocs,
  defineCommand,
  htmlReport,
  InvalidScriptError,
  jsonReport,
  junitReport,
  OAuthProfileError,
  runScript,
  runScripts,
  type ScriptEvent,
  type ScriptObject,
  StepFailure,
  scriptSchema,
} from '../src/script.ts';
import { runModule } from './support/build.ts';
import { Authority } from './support/certificates.ts';
import { createTestDirectory } from './support/directory.ts';
import { leaksIn } from './support/leaks.ts';
import { giveToken, serve } from './support/server.ts';

const root = join(import.meta.dirname, '..');
const graph = {
  type: 'microsoft',
  tenant_id: 'contoso.com',
  client_id: 'client',
  username: 'ada@contoso.com',
  password: 'c4n4ry-password-of-ada',
};
const who: ScriptObject = {
  name: 'Who am I',
  data: { graph },
  steps: [
    { 'ws.oauthProfile': ['token', 'graph'] },
    { 'ws.header': ['Authorization', 'Bearer ${token.access_token}'] },
    { 'ws.get': ['https://graph.microsoft.com/v1.0/me', '', 'me'] },
    { name: 'it is Ada', 'base.assertEqual': ['ada@contoso.com', '${me.body.userPrincipalName}'] },
  ],
};
const printing = (value: unknown): ScriptObject => ({ steps: [{ 'base.verbose': [value] }] });

async function emulate(profiles: EmulatedProfiles): Promise<Emulator> {
  const emulator = await startEmulator({ profiles });
  onTestFinished(() => emulator.close());
  return emulator;
}

describe('runScript', () => {
  it('uses the certificates of a profile for requests to its authorize_origin', async () => {
    const authority = new Authority();
    const hosts = 'IP:127.0.0.1';
    const api = await serve(giveToken, authority.issue({ name: 'api', hosts }));
    const other = await serve(giveToken, authority.issue({ name: 'other', hosts }));
    const origin = `https://127.0.0.1:${api.port}`;
    const options = { ca_file: authority.caFile, authorize_origin: origin };
    const robot = { type: 'custom', url: api.url, grant_type: 'client_credentials', client_id: 'me', options };
    const result = await runScript({
      data: { robot },
      steps: [
        { 'ws.oauthProfile': ['token', 'robot'] },
        { 'ws.get': [`${origin}/me`, '', 'me'] },
        { 'ws.get': [`https://127.0.0.1:${other.port}/me`, '', 'me'], continueOnFailure: true },
      ],
    });
    expect(result.steps.map(({ state }) => state)).toEqual(['passed', 'passed', 'failed']);
    expect(api.requests.map(({ path }) => path)).toEqual(['/token', '/me']);
  });

  it('runs a script that is given as an object, with an emulator', async () => {
    const emulator = await emulate({ graph });
    const result = await runScript(who, { emulator });
    expect(result).toMatchObject({
      name: 'Who am I',
      file: 'script',
      state: 'passed',
      interrupted: false,
      counts: { passed: 4, failed: 0, skipped: 0 },
    });
    expect(result.steps.map(({ title, state }) => [title, state])).toEqual([
      ['ws.oauthProfile(token, graph)', 'passed'],
      ['ws.header(Authorization, ••••)', 'passed'],
      ['ws.get(https://graph.microsoft.com/v1.0/me, , me)', 'passed'],
      ['it is Ada', 'passed'],
    ]);
    expect(leaksIn(JSON.stringify(result), [graph.password])).toEqual([]);
  });

  it('runs a script from a file, whose paths start from its directory', async () => {
    const directory = createTestDirectory();
    const file = join(directory, 'say.yaml');
    writeFileSync(join(directory, 'name.txt'), 'Grace\n');
    writeFileSync(file, 'steps:\n  - base.verbose: "${file:name.txt} and ${other:-Alan}"\n');
    const result = await runScript(file, { data: {} });
    expect(result.steps[0]).toMatchObject({ output: ['Grace and Alan'], position: { line: 2, column: 5 } });
    expect(result.file).toBe(file);
  });

  it('prefers the data of the caller to the data of the script', async () => {
    const script = { data: { a: 'script', b: 'script' }, steps: [{ 'base.verbose': '${a} ${b} ${c}' }] };
    const { steps } = await runScript(script, { data: { b: 'caller', c: 'caller' } });
    expect(steps[0]?.output).toEqual(['script caller caller']);
  });

  it('returns a result for steps that fail', async () => {
    const result = await runScript({ steps: [{ 'base.assertEqual': [1, 2] }, { 'base.verbose': 'x' }] });
    expect(result).toMatchObject({ state: 'failed', counts: { passed: 0, failed: 1, skipped: 1 } });
    expect(result.steps[0]?.failure).toEqual({
      code: 'step_failed',
      message: 'the values differ',
      expected: '1',
      actual: '2',
    });
  });

  it('throws all issues of a script that cannot be read', async () => {
    const script = { steps: [{ 'ws.gte': 'x' }, { 'base.waitFor': 'soon' }, { 'json.storeCount': ['{}', '$[', 'n'] }] };
    const error = await runScript(script).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidScriptError);
    expect(error).toBeInstanceOf(OAuthProfileError);
    expect(error).toMatchObject({ code: 'script_invalid', file: 'script' });
    expect((error as InvalidScriptError).issues.map(({ path }) => path)).toEqual([
      'steps[0].ws.gte',
      'steps[1].base.waitFor',
      'steps[2].json.storeCount[1]',
    ]);
  });

  it.each<[description: string, script: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['an empty object', {}],
    ['steps that are not a list', { steps: 'x' }],
    ['steps that are null, undefined or a number', { steps: [null, undefined, 1] }],
  ])('throws for %s', async (_, script) => {
    await expect(runScript(script as ScriptObject)).rejects.toBeInstanceOf(InvalidScriptError);
  });

  it('throws for a file that does not exist or cannot be read', async () => {
    await expect(runScript('none.yaml')).rejects.toMatchObject({
      code: 'script_invalid',
      message: expect.stringContaining('none.yaml'),
    });
    await expect(runScript(createTestDirectory())).rejects.toMatchObject({ code: 'data_invalid' });
  });

  it('rejects options that TypeScript would not allow', async () => {
    for (const options of [{ data: 'x' }, { signal: 1 }, { store: 'x' }, { onEvent: 'x' }]) {
      await expect(runScript(printing('x'), options as never)).rejects.toBeInstanceOf(TypeError);
    }
  });

  it('emits events without secrets, also to a listener that throws', async () => {
    const emulator = await emulate({ graph });
    const events: ScriptEvent[] = [];
    const result = await runScript(who, {
      emulator,
      onEvent(event) {
        events.push(event);
        throw new Error('not now');
      },
    });
    expect(result.state).toBe('passed');
    expect(events.map(({ type }) => type)).toEqual([
      'run-start',
      ...['step-start', 'token-request', 'token-response', 'step-end'],
      ...['step-start', 'step-end'],
      ...['step-start', 'step-end'],
      ...['step-start', 'step-end'],
      'run-end',
    ]);
    expect(leaksIn(JSON.stringify(events), [graph.password])).toEqual([]);
  });

  it('returns a result when the signal is aborted', async () => {
    const controller = new AbortController();
    const result = await runScript(
      { steps: [{ 'base.waitFor': 600_000 }, { 'base.verbose': 'never' }] },
      { signal: controller.signal, onEvent: ({ type }) => type === 'step-start' && controller.abort() },
    );
    expect(result).toMatchObject({ state: 'failed', interrupted: true, counts: { failed: 1, skipped: 1 } });
    expect(result.steps[0]?.failure?.code).toBe('aborted');
  });

  it('runs nothing if the signal was aborted before', async () => {
    const result = await runScript(printing('x'), { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ interrupted: true, counts: { passed: 0, skipped: 1 } });
  });

  it('masks secrets of the program in results and events', async () => {
    const secret = new Secret('c4n4ry-of-a-program');
    const echo = await serve((response) => response.end('received c4n4ry-of-a-program and c4n4ry-in-a-step'));
    const inStep = new Secret('c4n4ry-in-a-step');
    const events: ScriptEvent[] = [];
    const result = await runScript(
      {
        steps: [
          { 'ws.get': [echo.url, '', 'echoed'] },
          { 'base.verbose': '${echoed.text}' },
          { 'base.verbose': [inStep] },
          { 'base.assertEqual': ['${echoed.text}', { list: ['${code.of.mine}'] }] },
        ],
      },
      { data: { code: { of: { mine: secret } } }, onEvent: (event) => events.push(event) },
    );
    expect(result.steps.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed', 'failed']);
    expect(result.steps[1]?.output).toEqual(['received •••• and ••••']);
    expect(leaksIn(JSON.stringify([result, events]), ['c4n4ry-of-a-program', 'c4n4ry-in-a-step'])).toEqual([]);
  });

  it('runs 20 scripts in parallel, each with its own variables', async () => {
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        runScript({ data: { n }, steps: [{ 'base.waitFor': (n * 7) % 5 }, { 'base.verbose': 'I am ${n}' }] }),
      ),
    );
    expect(runs.map(({ steps }) => steps[1]?.output)).toEqual(runs.map((_, n) => [`I am ${n}`]));
  });

  it('does not keep the process alive, and prints nothing', async () => {
    const { stdout, stderr } = await runModule(
      `const { runScript } = await import(new URL('script.js', process.env.ENTRY));
      const { counts } = await runScript({ steps: [{ 'base.verbose': 'hello' }, { 'base.waitFor': 1 }] });
      console.log(JSON.stringify(counts));`,
    );
    expect([stdout, stderr]).toEqual(['{"passed":2,"failed":0,"skipped":0}\n', '']);
  });
});

describe('runScripts', () => {
  const write = (files: Readonly<Record<string, string>>): string => {
    const directory = createTestDirectory();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    return directory;
  };

  it('runs files, directories and patterns once per row, and writes the reports of the command line', async () => {
    const directory = write({
      'a.yaml': 'name: A\nrows: [{name: one, x: 1}, {name: two, x: 2}]\nsteps:\n  - base.assertEqual: [1, "${x}"]\n',
      'b.yaml': 'name: B\nsteps:\n  - shop.log: hello\n',
      'rows.yaml': '- x: 1\n',
    });
    const log = defineCommand({
      group: 'shop',
      name: 'log',
      summary: 'Logs',
      parameters: [{ name: 'text', kind: 'text', help: 'Text' }],
      example: 'shop.log: x',
      run: ({ text }, context) => context.log(text),
    });
    const events: string[] = [];
    const file = (name: string) => join(directory, 'out', name);
    const report = await runScripts([directory], {
      commands: [log],
      data: {},
      parallel: 2,
      onEvent: ({ type, file: path }) => type === 'run-end' && events.push(path),
      reports: [
        { kind: 'junit', file: file('scripts.xml') },
        { kind: 'junit', file: file('steps.xml'), cases: 'steps' },
        { kind: 'json', file: file('out.json') },
        { kind: 'html', file: file('out.html') },
      ],
    });
    expect(report.runs.map(({ name, state }) => [name, state])).toEqual([
      ['A [one]', 'passed'],
      ['A [two]', 'failed'],
      ['B', 'passed'],
    ]);
    expect(events).toHaveLength(3);
    const read = (name: string) => readFileSync(file(name), 'utf8');
    expect(read('scripts.xml')).toBe(junitReport(report));
    expect(read('steps.xml')).toBe(junitReport(report, { cases: 'steps' }));
    expect(read('out.json')).toBe(jsonReport(report));
    expect(read('out.html')).toBe(htmlReport(report));
  });

  it('repeats a failed script and reports it as flaky', async () => {
    let runs = 0;
    const failOnce = defineCommand({
      group: 'shop',
      name: 'failOnce',
      summary: 'Fails once',
      parameters: [],
      example: 'shop.failOnce:',
      run() {
        if (runs++ === 0) throw new StepFailure('not yet');
      },
    });
    const directory = write({ 'a.yaml': 'steps:\n  - shop.failOnce:\n' });
    const { runs: results } = await runScripts([join(directory, '*.yaml')], { commands: [failOnce], retries: 3 });
    expect(results).toMatchObject([{ state: 'passed', attempts: 2 }]);
  });

  it('runs nothing if a script is invalid or a report cannot be written', async () => {
    const directory = write({ 'a.yaml': 'steps:\n  - base.verbose: a\n', 'b.yaml': 'steps:\n  - base.verbos: b\n' });
    const events: ScriptEvent[] = [];
    const onEvent = (event: ScriptEvent) => events.push(event);
    await expect(runScripts([directory], { onEvent })).rejects.toThrow(InvalidScriptError);
    const reports = [{ kind: 'json', file: directory }] as const;
    await expect(runScripts([join(directory, 'a.yaml')], { onEvent, reports })).rejects.toThrow(/EISDIR/);
    await expect(runScripts([join(directory, 'none')], { onEvent })).rejects.toThrow(OAuthProfileError);
    expect(events).toEqual([]);
  });

  it.each([{ parallel: 0 }, { parallel: 1.5 }, { retries: -1 }])('rejects %j', async (options) => {
    await expect(runScripts(['none.yaml'], options)).rejects.toThrow(TypeError);
  });
});

describe('defineCommand', () => {
  const greet = defineCommand({
    group: 'shop',
    name: 'greet',
    summary: 'Greets a user',
    parameters: [
      { name: 'var', kind: 'variable', help: 'Receives the greeting' },
      { name: 'who', kind: 'text', help: 'Whom to greet' },
      { name: 'times', kind: 'count', help: 'How often', optional: true },
      { name: 'more', kind: 'map', help: 'Other settings', optional: true },
    ],
    example: 'shop.greet: [greeting, Ada]',
    run(args, context) {
      expectTypeOf(args.var).toEqualTypeOf<string>();
      expectTypeOf(args.who).toEqualTypeOf<string | Secret>();
      expectTypeOf(args.times).toEqualTypeOf<number | undefined>();
      const greeting = `Hello ${String(args.who)}${'!'.repeat(args.times ?? 1)}`;
      context.log(greeting);
      context.set(args.var, greeting);
      if (args.more?.['fail'] === 'yes') throw new StepFailure('failed as configured', { expected: 'a', actual: 'b' });
    },
  });

  it('creates a command that accepts its parameters as a list or by name', async () => {
    const { steps } = await runScript(
      {
        steps: [
          { 'shop.greet': ['one', 'Ada', 3] },
          { 'shop.greet': { var: 'two', who: '${one}' } },
          { 'base.verbose': '${two}' },
          { 'shop.greet': ['two', 'Bob', '${one}'], continueOnFailure: true },
          { 'base.verbose': '${two}' },
        ],
      },
      { commands: [greet] },
    );
    expect(steps.map(({ state, output }) => [state, ...output])).toEqual([
      ['passed', 'Hello Ada!!!'],
      ['passed', 'Hello Hello Ada!!!!'],
      ['passed', 'Hello Hello Ada!!!!'],
      ['failed'],
      ['passed', 'Hello Hello Ada!!!!'],
    ]);
    expect(steps[3]?.failure?.message).toContain('times');
  });

  it('creates a command that sets no variable if it fails', async () => {
    const { steps } = await runScript(
      {
        data: { two: 'former' },
        steps: [
          { 'shop.greet': { var: 'two', who: 'Bob', more: { fail: 'yes' } }, continueOnFailure: true },
          { 'base.verbose': '${two}' },
        ],
      },
      { commands: [greet] },
    );
    expect(steps[0]).toMatchObject({
      state: 'failed',
      output: ['Hello Bob!'],
      failure: { message: 'failed as configured', expected: 'a', actual: 'b' },
    });
    expect(steps[1]?.output).toEqual(['former']);
  });

  it('creates a command whose parameters are checked before the script runs', async () => {
    const error = await runScript(
      { steps: [{ 'shop.greet': ['one', 'Ada', 'often'] }, { 'shop.gret': ['one', 'Ada'] }] },
      { commands: [greet] },
    ).catch((thrown) => thrown);
    expect((error as InvalidScriptError).issues).toMatchObject([
      { path: 'steps[0].shop.greet[2]', message: expect.stringContaining('times') },
      { hint: 'did you mean shop.greet?' },
    ]);
  });

  it('rejects a kind of parameter that does not exist, and lists the kinds', () => {
    const parameters = [{ name: 'text', kind: 'txt' as 'text', help: 'Text' }];
    const define = () =>
      defineCommand({ group: 'shop', name: 'log', summary: 'Logs', parameters, example: '', run() {} });
    expect(define).toThrow(/"txt".*text, value, variable, dottedVariable, names, number, count, flag, regex, jsonpath/);
  });

  it('rejects names that are in use or invalid', async () => {
    const duplicate = defineCommand({ ...greet, group: 'base', name: 'verbose', parameters: [] });
    await expect(runScript(printing('x'), { commands: [duplicate] })).rejects.toThrow(
      'the command base.verbose is defined twice',
    );
    await expect(runScript(printing('x'), { commands: [greet, greet] })).rejects.toThrow(
      'the command shop.greet is defined twice',
    );
    const definition = { group: 'a', name: 'b', summary: '', parameters: [], example: '', run() {} };
    expect(() => defineCommand({ ...definition, name: 'b c' })).toThrow('b c');
    expect(() => defineCommand({ ...definition, group: '' })).toThrow(TypeError);
    expect(() =>
      defineCommand({
        ...definition,
        parameters: [
          { name: 'a', kind: 'text', help: '', optional: true },
          { name: 'b', kind: 'text', help: '' },
        ],
      }),
    ).toThrow('a.b has a required parameter');
  });

  it('creates a command that receives the signal and the clock of the run', async () => {
    const controller = new AbortController();
    const wait = defineCommand({
      group: 'shop',
      name: 'wait',
      summary: 'Waits until the run is aborted',
      parameters: [],
      example: 'shop.wait: []',
      async run(_, { signal, clock }) {
        expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
        controller.abort();
        await new Promise((_resolve, reject) => {
          if (signal.aborted) reject(new Error('the socket is gone'));
        });
      },
    });
    const { steps } = await runScript(
      { steps: [{ 'shop.wait': [] }] },
      { commands: [wait], signal: controller.signal },
    );
    expect(steps[0]?.failure).toEqual({ code: 'aborted', message: 'the run was interrupted' });
  });

  it('creates a command that is included in the documentation and the schema', () => {
    expect(commandDocs([greet])).toContain('### shop.greet\n\n`shop.greet(var, who, [times], [more])`');
    expect(JSON.stringify(scriptSchema([greet]))).toContain('"shop.greet":');
    expect(commandDocs()).not.toContain('shop.greet');
  });
});

describe('npm run docs has updated', () => {
  it('docs/reference/script-commands.md', () => {
    expect(readFileSync(join(root, 'docs', 'reference', 'script-commands.md'), 'utf8')).toBe(commandDocs());
  });

  it('script.schema.json', () => {
    expect(JSON.parse(readFileSync(join(root, 'script.schema.json'), 'utf8'))).toEqual(scriptSchema());
  });
});
