import { Script } from 'node:vm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Value } from '../../../src/config/value.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { runStep, runSteps, ScriptClock } from '../run-steps.ts';

const state = async (command: string, parameters: readonly Value[], data = {}): Promise<string> =>
  (await runStep([`base.${command}`, parameters], { data })).step.state;

describe('base assertions', () => {
  it.each<[command: string, passing: readonly Value[][], failing: readonly Value[][]]>([
    [
      'assertEqual',
      [
        ['a', 'a'],
        [200, '200'],
        ['', null],
        [true, 'true'],
        [
          [1, { a: 2 }],
          [1, { a: 2 }],
        ],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
        ['7', new Secret('7')],
        [new Secret('hunter22'), new Secret('hunter22')],
      ],
      [
        ['a', 'A'],
        ['a', 'a '],
        [
          [1, 2],
          [2, 1],
        ],
        [[1], ['1']],
        [{ a: 1 }, { a: 1, b: 2 }],
        [new Secret('hunter22'), 'hunter23'],
      ],
    ],
    [
      'assertNotEqual',
      [
        ['a', 'b'],
        [[1], [2]],
      ],
      [
        ['a', 'a'],
        [1, '1'],
        [[1], [1]],
      ],
    ],
    [
      'assertContains',
      [
        ['abc', 'b'],
        ['abc', new Secret('bc')],
        [new Secret('abc'), 'c'],
        [12345, 34],
        [['ada', 'bob'], 'bob'],
        [[{ id: 1 }], { id: 1 }],
        [{ name: 'Ada' }, '"Ada"'],
      ],
      [
        ['abc', 'B'],
        [['ada', 'bob'], 'bo'],
        ['', 'a'],
        ['a.c', '.*'],
      ],
    ],
    [
      'assertNotContain',
      [
        ['abc', 'x'],
        [['bob'], 'bo'],
      ],
      [
        ['abc', 'b'],
        [['bob'], 'bob'],
      ],
    ],
    [
      'assertStartsWith',
      [
        ['abc', 'ab'],
        [2024, 20],
        [new Secret('abc'), 'a'],
      ],
      [
        ['abc', 'bc'],
        ['abc', 'ABC'],
        [['a'], 'a'],
      ],
    ],
    [
      'assertEndsWith',
      [
        ['abc', 'bc'],
        ['abc', new Secret('c')],
      ],
      [
        ['abc', 'ab'],
        ['c', 'abc'],
      ],
    ],
    [
      'assertMatch',
      [
        ['abc', 'b'],
        ['abc', '^[a-c]{3}$'],
        ['\u{1f600}', '^.$'],
        [new Secret('abc'), '^abc$'],
        [42, '^\\d+$'],
        [['a'], '^\\["a"\\]$'],
      ],
      [
        ['abc', '^b'],
        ['abc', '('],
        ['abc', new Secret('b')],
      ],
    ],
    ['assertEmpty', [[''], [null], [[]], [{}], [new Secret('')]], [['a'], [' '], [0], [false], [[null]], [{ a: '' }]]],
    ['assertNotEmpty', [['a'], [0], [false], [['']], [{ a: null }], [new Secret('x')]], [[''], [null], [[]], [{}]]],
  ])('%s', async (command, passing, failing) => {
    for (const parameters of passing)
      expect([parameters, await state(command, parameters)]).toEqual([parameters, 'passed']);
    for (const parameters of failing)
      expect([parameters, await state(command, parameters)]).toEqual([parameters, 'failed']);
  });

  it('reports the expected and the actual value', async () => {
    const { step } = await runStep(['base.assertEqual', ['Ada', '${who}']], { data: { who: 'Grace' } });
    expect(step.failure).toEqual({
      code: 'step_failed',
      message: 'the values differ',
      expected: 'Ada',
      actual: 'Grace',
    });
  });

  it.each<[command: string, parameters: readonly Value[]]>([
    ['assertEqual', ['x', '${client_secret}']],
    ['assertNotEqual', ['${client_secret}', '${client_secret}']],
    ['assertContains', ['${client_secret}', 'x']],
    ['assertNotContain', ['is ${client_secret}', '${client_secret}']],
    ['assertStartsWith', ['x', '${client_secret}']],
    ['assertEndsWith', ['${client_secret}', 'x']],
    ['assertMatch', ['${client_secret}', '^x$']],
    ['assertEmpty', ['${client_secret}']],
    ['assertEqual', ['x', { inner: ['${client_secret}'] }]],
    ['failImmediate', ['wrong: ${client_secret}']],
  ])('%s masks secrets in its failure', async (command, parameters) => {
    const data = { client_secret: 'hunter22' };
    const { result, events } = await runStep([`base.${command}`, parameters], { data });
    expect(result.state).toBe('failed');
    expect(JSON.stringify([result, events])).not.toContain('hunter22');
    expect(JSON.stringify(result)).toContain('••••');
  });
});

describe('base.assertMatch', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('fails after the time limit for a catastrophic expression', async () => {
    const run = Script.prototype.runInContext;
    const limits: (number | undefined)[] = [];
    vi.spyOn(Script.prototype, 'runInContext').mockImplementation(function (this: Script, context, options) {
      limits.push((options as { timeout?: number }).timeout);
      // Only the first expression is slow.
      return run.call(this, context, limits.length === 1 ? { timeout: 20 } : options);
    });
    const { result } = await runSteps([
      ['base.assertMatch', [`${'a'.repeat(60)}!`, '^(a+)+$'], { continueOnFailure: true }],
      ['base.assertMatch', [`${'a'.repeat(60)}!`, '^(a|aa)+$'], { continueOnFailure: true }],
      ['base.assertMatch', ['fine', '^f+i+ne$']],
      ['base.assertMatch', [`${'a'.repeat(1_000)}b`, 'a+b$']],
      ['base.assertMatch', ['fine', '^fi+ne$']],
    ]);
    expect(result.steps.map(({ state }) => state)).toEqual(['failed', 'failed', 'passed', 'passed', 'passed']);
    expect(result.steps[0]?.failure?.message).toBe('the regular expression takes longer than 5 s');
    // A short string and a pattern with one quantifier need no limit.
    expect(limits).toEqual([5000, 5000, 5000, 5000]);
  });

  it('fails for an invalid expression', async () => {
    const { step } = await runStep(['base.assertMatch', ['a', '${pattern}']], { data: { pattern: '(' } });
    expect(step.failure?.message).toMatch(/^regex must be a regular expression \(.+\)$/);
  });
});

describe('base.assertVarsPresent', () => {
  const data = { name: 'Ada', nothing: '', list: [], graph: { type: 'custom' }, ref: '${name}' };

  it.each([['name'], ['name, graph.type'], [['name', 'ref']], ['me.body.id']])('passes for %j', async (vars) => {
    const { result } = await runSteps(
      [
        ['base.save', ['me', { body: { id: 0 } }]],
        ['base.assertVarsPresent', [vars]],
      ],
      { data },
    );
    expect(result.state).toBe('passed');
  });

  it('reports all missing and empty variables', async () => {
    const { step } = await runStep(['base.assertVarsPresent', ['name, nothing, list, missing, name.first']], { data });
    expect(step.failure?.message).toBe(
      'missing is not defined, name.first is not defined, nothing is empty, list is empty',
    );
  });

  it.each(['__proto__', 'constructor', 'me.constructor', 'list.length', 'toString'])('fails for %s', async (name) => {
    expect(await state('assertVarsPresent', [name], { me: 'x', list: ['a'] })).toBe('failed');
  });
});

describe('base.save and base.clear', () => {
  it.each<[written: Value, saved: unknown]>([
    ['text', 'text'],
    [5, 5],
    [null, null],
    [
      [1, { a: true }],
      [1, { a: true }],
    ],
    ['${list}', [1, 2]],
    ['id-${n}', 'id-5'],
    ['${n}', 5],
    ['$${n}', '${n}'],
    [{ access_token: 'abc' }, { access_token: 'abc' }],
    ['Bearer ${client_secret}', { secret: 'Bearer hunter22' }],
  ])('save %j', async (written, saved) => {
    const data = { list: [1, 2], n: 5, client_secret: 'hunter22' };
    expect((await runStep(['base.save', ['x', written]], { data })).saved('x')).toEqual(saved);
  });

  it('set a field of a profile', async () => {
    const { saved } = await runStep(['base.save', ['graph.client_secret', 'hunter22']]);
    expect(saved('graph.client_secret')).toEqual({ secret: 'hunter22' });
  });

  it('D3 reject invalid variable names', async () => {
    for (const name of [
      'env',
      'graph.env',
      '__proto__',
      'a.__proto__',
      'constructor',
      '',
      'a b',
      '1a',
      'a.',
      'a..b',
      'a[0]',
    ]) {
      const { step, variables } = await runStep(['base.save', [name, 'x']]);
      expect([name, step.state, [...variables.names()]]).toEqual([name, 'failed', []]);
    }
  });

  it('remove variables and ignore undefined ones', async () => {
    const data = { a: '1', b: '2', graph: { type: 'custom' } };
    const { result, variables } = await runStep(['base.clear', ['a, missing, graph.type']], { data });
    expect(result.state).toBe('passed');
    expect([...variables.names()]).toEqual(['b']);
  });
});

describe('base.verbose', () => {
  it.each<[text: Value, output: string]>([
    ['hello ${who}', 'hello Ada'],
    ['${list}', '[1,"b"]'],
    [42, '42'],
    [null, ''],
    ['${client_secret}', '••••'],
    ['it is ${client_secret}', '••••'],
    [{ client_secret: '${client_secret}' }, '{"client_secret":"••••"}'],
    ['written by hand: hunter22hunter', 'written by hand: ••••'],
  ])('prints %j', async (text, output) => {
    const data = { who: 'Ada', list: [1, 'b'], client_secret: 'hunter22hunter' };
    expect((await runStep(['base.verbose', [text]], { data })).step.output).toEqual([output]);
  });
});

describe('base.waitFor', () => {
  it('waits for the given time', async () => {
    const { clock, step } = await runStep(['base.waitFor', ['1500']]);
    expect(clock.slept).toEqual([1500]);
    expect(step).toMatchObject({ state: 'passed', elapsedMs: 1500 });
  });

  it.each([-1, 1.5, 'soon', '', 2 ** 31, 2 ** 53])('rejects %j', async (waitMs) => {
    const { clock, step } = await runStep(['base.waitFor', [waitMs]]);
    expect(step.state).toBe('failed');
    expect(clock.slept).toEqual([]);
  });

  it('stops waiting when the run is interrupted', async () => {
    const controller = new AbortController();
    const clock = new ScriptClock();
    clock.whileAsleep = () => controller.abort();
    const { step } = await runStep(['base.waitFor', [60_000]], { controller, clock });
    expect(step).toMatchObject({ state: 'failed', failure: { code: 'aborted' } });
  });
});

describe('base.failImmediate', () => {
  it('ends the script despite continueOnFailure, except for steps with always', async () => {
    const { result } = await runSteps(
      [
        ['base.failImmediate', ['${who} is locked'], { continueOnFailure: true }],
        ['base.verbose', ['never']],
        ['base.verbose', ['tidy up'], { always: true }],
      ],
      { data: { who: 'Ada' } },
    );
    expect(result.steps.map(({ state }) => state)).toEqual(['failed', 'skipped', 'passed']);
    expect(result.steps[0]?.failure).toEqual({ code: 'step_failed', message: 'Ada is locked' });
  });
});
