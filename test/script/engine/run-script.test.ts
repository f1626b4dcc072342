import { describe, expect, it } from 'vitest';
import type { Value } from '../../../src/config/value.ts';
import { Variables } from '../../../src/config/variables.ts';
import { InvalidProfileError, OAuthProfileError } from '../../../src/errors.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { type Command, defineCommand } from '../../../src/script/command.ts';
import type { StepContext } from '../../../src/script/step-context.ts';
import { StepFailure } from '../../../src/script/step-context.ts';
import { leaksIn } from '../../support/leaks.ts';
import { type Outcome, runStep, runSteps, ScriptClock, type TestStep } from '../run-steps.ts';

/** Creates a command that runs this function. */
const doing = (run: (context: StepContext, text: Value) => Promise<void> | void): Command =>
  defineCommand({
    group: 'test',
    name: 'do',
    summary: 'Does it',
    parameters: [{ name: 'value', kind: 'value', help: 'Anything', optional: true }],
    example: 'test.do: x',
    run: ({ value }, context) => run(context, value ?? ''),
  });

const fail = doing(() => {
  throw new StepFailure('no');
});
const states = ({ result }: Outcome): string[] => result.steps.map(({ state }) => state);
const reasons = ({ result }: Outcome): (string | undefined)[] => result.steps.map(({ reason }) => reason);

describe('Variables that a step sets', () => {
  const writing = (after: (context: StepContext) => void): Command =>
    doing((context) => {
      context.set('a', 'new');
      context.set('b', 'new');
      context.remove('c');
      after(context);
    });

  it('D2 are all set when it passes', async () => {
    const { variables } = await runStep([writing(() => {})], { data: { a: 'old', c: 'old' } });
    expect([...variables].map(({ name, value }) => [name, value])).toEqual([
      ['a', 'new'],
      ['b', 'new'],
    ]);
  });

  it('D2 are unchanged when it fails', async () => {
    const { variables } = await runStep([writing(() => void Promise.reject(new Error()).catch(() => {}))], {});
    expect([...variables.names()]).toEqual(['a', 'b']);
    const failing = writing(() => {
      throw new Error('late');
    });
    const outcome = await runStep([failing, [], { continueOnFailure: true }], { data: { a: 'old', c: 'old' } });
    expect([...outcome.variables].map(({ name, value }) => [name, value])).toEqual([
      ['a', 'old'],
      ['c', 'old'],
    ]);
  });

  it('are visible to the next step, not to the step itself', async () => {
    const seen: (Value | undefined)[] = [];
    const peek = doing((context) => {
      context.set('a', 'new');
      seen.push(context.get('a'));
    });
    await runSteps([[peek], [doing((context) => void seen.push(context.get('a')))]], { data: { a: 'old' } });
    expect(seen).toEqual(['old', 'new']);
  });

  it('are undefined in a condition after they were removed', async () => {
    const outcome = await runSteps([
      ['base.save', ['a', '1']],
      ['base.clear', ['a']],
      ['base.verbose', ['gone'], { if: '${a} is not defined' }],
    ]);
    expect(states(outcome)).toEqual(['passed', 'passed', 'passed']);
  });

  it('have the step as their source', async () => {
    const { variables } = await runSteps([
      ['base.verbose', ['x']],
      ['base.save', ['a', '1']],
    ]);
    expect(variables.get('a')?.source.label).toBe('step 2');
  });

  it.each(['env', 'file', 'vault', '__proto__', 'constructor', 'prototype', 'a.b', 'a b', '', 'ä', '9', 'a\n'])(
    'D3 cannot have the name %j',
    async (name) => {
      const { step, variables } = await runStep(['json.storeCount', ['{}', '$', name]]);
      expect(step.failure?.message).toMatch(/^var must be a variable name/);
      expect([...variables.names()]).toEqual([]);
    },
  );

  it.each(['a', '_', 'A9_', 'environment', 'token'])('D3 can have the name %j', async (name) => {
    expect((await runStep(['json.storeCount', ['{}', '$', name]])).saved(name)).toBe(1);
  });

  it('D3 cannot have an invalid name from a reference', async () => {
    const { step } = await runStep(['json.storeCount', ['{}', '$', '${name}']], { data: { name: '__proto__' } });
    expect(step.state).toBe('failed');
  });
});

describe('After a failed step', () => {
  it('the rest is skipped, except for steps with always', async () => {
    const outcome = await runSteps([
      [fail],
      ['base.verbose', ['never']],
      ['base.verbose', ['tidy'], { always: true }],
      ['base.verbose', ['never']],
    ]);
    expect(states(outcome)).toEqual(['failed', 'skipped', 'passed', 'skipped']);
    expect(reasons(outcome)).toEqual([undefined, 'an earlier step failed', undefined, 'an earlier step failed']);
    expect(outcome.result).toMatchObject({ state: 'failed', counts: { passed: 1, failed: 1, skipped: 2 } });
  });

  it('the script continues with continueOnFailure, but has failed', async () => {
    const outcome = await runSteps([
      [fail, [], { continueOnFailure: true }],
      ['base.verbose', ['on']],
    ]);
    expect(states(outcome)).toEqual(['failed', 'passed']);
    expect(outcome.result.state).toBe('failed');
  });

  it('other steps with always run even if one of them fails', async () => {
    const always = { always: true };
    const outcome = await runSteps([[fail], [fail, [], always], ['base.verbose', ['tidy'], always]]);
    expect(states(outcome)).toEqual(['failed', 'failed', 'passed']);
  });

  it('which has always itself, the script ends', async () => {
    const outcome = await runSteps([
      [fail, [], { always: true }],
      ['base.verbose', ['never']],
    ]);
    expect(states(outcome)).toEqual(['failed', 'skipped']);
  });

  it('the condition of a step with always still applies', async () => {
    const outcome = await runSteps([[fail], ['base.verbose', ['x'], { always: true, if: '1 = 2' }]]);
    expect(reasons(outcome)).toEqual([undefined, 'its condition is false']);
  });
});

describe('A condition', () => {
  it.each<[condition: string, state: string]>([
    ['true', 'passed'],
    ['false', 'skipped'],
    ['${n} = 5', 'passed'],
    ['${n} > 10', 'skipped'],
    ['${who} = Ada & ${n} != 6', 'passed'],
    ['${missing} is defined', 'skipped'],
    ['${missing:-x} = x', 'passed'],
  ])('%s has the outcome %s', async (condition, state) => {
    const { step } = await runStep(['base.verbose', ['x'], { if: condition }], { data: { n: 5, who: 'Ada' } });
    expect(step.state).toBe(state);
  });

  it('that is false prevents the resolution of references, and the run passes', async () => {
    const { result } = await runStep(['base.verbose', ['${missing}'], { if: 'false' }]);
    expect(result).toMatchObject({ state: 'passed', counts: { skipped: 1 } });
  });

  it('with an undefined variable fails the step', async () => {
    const { step } = await runStep(['base.verbose', ['x'], { if: '${missing} = 1' }]);
    expect(step).toMatchObject({
      state: 'failed',
      failure: { code: 'data_invalid', message: 'missing is not defined' },
    });
  });
});

describe('An interruption', () => {
  it('fails the running step, skips the rest and returns a complete result', async () => {
    const controller = new AbortController();
    const clock = new ScriptClock();
    clock.whileAsleep = () => controller.abort();
    const outcome = await runSteps(
      [
        ['base.verbose', ['first']],
        ['base.waitFor', [5000], { continueOnFailure: true }],
        ['base.verbose', ['never']],
        ['base.verbose', ['not even this'], { always: true }],
      ],
      { controller, clock },
    );
    expect(states(outcome)).toEqual(['passed', 'failed', 'skipped', 'skipped']);
    expect(outcome.result.steps[1]?.failure?.code).toBe('aborted');
    expect(reasons(outcome).slice(2)).toEqual(['the run was interrupted', 'the run was interrupted']);
    expect(outcome.result).toMatchObject({
      state: 'failed',
      interrupted: true,
      counts: { passed: 1, failed: 1, skipped: 2 },
      elapsedMs: 5000,
    });
    expect(outcome.events.at(-1)).toMatchObject({ type: 'run-end', interrupted: true, state: 'failed' });
  });

  it('before the first step skips everything', async () => {
    const controller = new AbortController();
    controller.abort();
    const outcome = await runSteps([['base.verbose', ['x']]], { controller });
    expect(states(outcome)).toEqual(['skipped']);
    expect(outcome.result).toMatchObject({ state: 'failed', interrupted: true });
  });

  it.each<[what: string, thrown: unknown]>([
    ['an assertion', new StepFailure('no')],
    ['another error', new Error('socket hang up')],
    ['an OAuthProfileError', new OAuthProfileError('connection_failed', 'no connection')],
  ])('is the cause of the failure even if the command throws %s', async (_, thrown) => {
    const controller = new AbortController();
    const command = doing(() => {
      controller.abort();
      throw thrown;
    });
    const { step } = await runStep([command], { controller });
    expect(step.failure).toEqual({ code: 'aborted', message: 'the run was interrupted' });
  });

  it('D2 discards the variables of the interrupted step', async () => {
    const controller = new AbortController();
    const clock = new ScriptClock();
    clock.whileAsleep = () => controller.abort();
    const slow = doing(async (context) => {
      context.set('a', 'new');
      await context.clock.sleep(1, context.signal);
    });
    expect((await runStep([slow], { controller, clock, data: { a: 'old' } })).saved('a')).toBe('old');
  });
});

describe('A regular expression in a condition', () => {
  it('that is invalid after its reference was resolved fails the step', async () => {
    const { step } = await runStep(['base.verbose', ['x'], { if: 'abc matches ${pattern}' }], {
      data: { pattern: '(' },
    });
    expect(step.failure?.message).toMatch(/^the operand of matches must be a regular expression/);
  });
});

describe('References', () => {
  it.each<Value>(['${client_secret}', { a: ['${client_secret}'] }, '$${client_secret}', '${', '${env:HOME}'])(
    'are not resolved in %j from a response',
    async (received) => {
      const receive = doing((context) => context.set('response', received));
      const outcome = await runSteps(
        [
          [receive],
          ['base.save', ['copy', '${response}']],
          ['base.save', ['again', '${copy}']],
          ['base.verbose', ['${again}']],
        ],
        { data: { client_secret: 'hunter22hunter' }, env: { HOME: '/home/ada' } },
      );
      expect(outcome.result.state).toBe('passed');
      expect(outcome.saved('again')).toEqual(received);
      expect(outcome.result.steps[3]?.output).toEqual([
        typeof received === 'string' ? received : JSON.stringify(received),
      ]);
    },
  );

  it('are not resolved in a string that contains a value from a response', async () => {
    const receive = doing((context) => context.set('response', '${client_secret}'));
    const outcome = await runSteps(
      [
        [receive],
        ['base.save', ['greeting', 'Hello ${response}']],
        ['base.assertEqual', ['Hello $${client_secret}', '${greeting}']],
      ],
      { data: { client_secret: 'hunter22hunter' } },
    );
    expect(states(outcome)).toEqual(['passed', 'passed', 'passed']);
  });

  it('are resolved in the data of the script', async () => {
    const { step } = await runStep(['base.verbose', ['${greeting}']], { data: { greeting: 'Hi ${who}', who: 'Ada' } });
    expect(step.output).toEqual(['Hi Ada']);
  });

  it('to an undefined variable fail the step with a suggestion', async () => {
    const { step } = await runStep(['base.verbose', ['${token.acces_token}']], {
      data: { token: { access_token: 'hunter22' } },
    });
    expect(step.failure).toEqual({
      code: 'data_invalid',
      message: 'token.acces_token is not defined',
      hint: 'did you mean token.access_token?',
    });
  });

  it('have the current values', async () => {
    const { result } = await runSteps([
      ['base.save', ['n', 1]],
      ['base.verbose', ['${n}']],
      ['number.increment', ['n']],
      ['base.verbose', ['${n}']],
    ]);
    expect(result.steps.flatMap(({ output }) => output)).toEqual(['1', '2']);
  });
});

describe('D22 Events', () => {
  it('are emitted in order', async () => {
    const { events, result } = await runSteps(
      [
        ['base.waitFor', [10]],
        [fail, [], { name: 'It fails' }],
        ['base.verbose', ['never']],
      ],
      {},
    );
    const received = events.map((event) => [
      event.type,
      'number' in event ? event.number : event.type === 'step-end' ? event.step.number : undefined,
    ]);
    expect(received).toEqual([
      ['run-start', undefined],
      ['step-start', 1],
      ['step-end', 1],
      ['step-start', 2],
      ['step-end', 2],
      ['step-end', 3],
      ['run-end', undefined],
    ]);
    expect(events[0]).toMatchObject({ file: 'me.yaml', name: 'Me', steps: 3 });
    expect(events[1]).toMatchObject({ command: 'base.waitFor', title: 'base.waitFor(10)' });
    expect(events[3]).toMatchObject({ command: 'test.do', title: 'It fails' });
    expect(events.flatMap((event) => (event.type === 'step-end' ? [event.step] : []))).toEqual(result.steps);
    expect(events.at(-1)).toMatchObject({ state: 'failed', counts: result.counts, elapsedMs: 10 });
    expect(events.map(({ at }) => at)).toEqual([...events.map(({ at }) => at)].sort());
  });

  it('include step-start for every step-end, also if the condition of the step fails', async () => {
    const { events } = await runStep(['base.verbose', ['x'], { if: '${missing} = 1' }]);
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'step-start', 'step-end', 'run-end']);
  });

  it('do not end the run if the listener throws', async () => {
    const heard: string[] = [];
    const speak = doing((context) => context.emit({ type: 'run-start', at: 0, file: '', name: '', steps: 0 }));
    const { result } = await runStep([speak], {
      listener({ type }) {
        heard.push(type);
        throw new Error('not now');
      },
    });
    expect(heard).toEqual(['run-start', 'step-start', 'run-start', 'step-end', 'run-end']);
    expect(result.state).toBe('passed');
  });

  it('contain no secrets', async () => {
    const secret = 'p@ss w&rd/"2+2"=ü';
    const data = { client_secret: secret, known: 'x' };
    const throwing = doing((_, value) => {
      throw new Error(`went wrong with ${String(value)} and ${secret}`);
    });
    const on = { continueOnFailure: true };
    const steps: TestStep[] = [
      ['base.verbose', ['${client_secret}']],
      ['base.verbose', [`plain ${secret}`]],
      ['base.verbose', [encodeURIComponent(secret)], { name: `named ${secret}` }],
      ['base.verbose', [Buffer.from(secret).toString('base64')]],
      ['base.assertEqual', [secret, 'x ${client_secret}'], on],
      ['base.assertEqual', [{ a: secret }, 'x'], on],
      ['base.assertContains', ['x', secret], on],
      ['base.failImmediate', [`no ${secret}`]],
      [throwing, ['${client_secret}'], { always: true }],
      ['base.verbose', [`\${missing${secret}}`], { always: true }],
      ['number.increment', ['known', '${client_secret}'], { always: true }],
    ];
    // The title of a step is created before references are resolved, so the secrets in data must be known by then.
    const { events, result } = await runSteps(steps, { data });
    expect(result.counts.passed).toBeGreaterThan(3);
    expect(leaksIn(JSON.stringify([events, result]), [secret])).toEqual([]);
  });
});

describe('A result', () => {
  class Odd extends Error {
    override get message(): string {
      throw new TypeError('no message either');
    }
  }

  it.each<[kind: string, thrown: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'no'],
    ['a symbol', Symbol('no')],
    ['an object without a prototype', Object.create(null)],
    ['an object that cannot be text', { toString: () => ({}) }],
    ['an error without a message', new Error()],
    ['an error with an odd message', Object.assign(new Error(), { message: undefined })],
    ['an error whose message throws', new Odd()],
    ['a promise', Promise.resolve()],
    ['an aggregate', new AggregateError([new Error('a')], 'many')],
  ])('is returned even if a command throws %s', async (_, thrown) => {
    for (const command of [
      doing(() => {
        throw thrown;
      }),
      doing(() => Promise.reject(thrown)),
    ]) {
      const { result } = await runSteps([[command], ['base.verbose', ['never']]]);
      expect(result).toMatchObject({ state: 'failed', counts: { failed: 1, skipped: 1 } });
      expect(result.steps[0]?.failure).toEqual({ code: 'step_failed', message: expect.any(String) });
    }
  });

  it('has the code, message and hint of an OAuthProfileError', async () => {
    const command = doing(() => {
      throw new OAuthProfileError('rate_limited', 'too many', { hint: 'wait' });
    });
    expect((await runStep([command])).step.failure).toEqual({
      code: 'rate_limited',
      message: 'too many',
      hint: 'wait',
    });
  });

  it('D16 lists all issues of a profile', async () => {
    const command = doing(() => {
      throw new InvalidProfileError('graph', [
        { variable: 'graph.type', message: 'is missing' },
        { variable: 'graph.client_id', message: 'is empty' },
      ]);
    });
    expect((await runStep([command])).step.failure).toMatchObject({
      code: 'profile_invalid',
      message: 'profile graph has 2 issues: graph.type is missing; graph.client_id is empty',
    });
  });

  it('truncates long values after their secrets were masked', async () => {
    const secret = 'hunter22hunter';
    const long = `${'x'.repeat(3_994)}${secret}${'😀'.repeat(3_000)}`;
    const { step } = await runStep(['base.assertEqual', [long, [long]]], { data: { client_secret: secret } });
    expect(step.failure?.expected).toBe(`${'x'.repeat(3_994)}••••😀… (5998 more characters)`);
    expect(step.failure?.actual).toMatch(/^\["x{3994}••••… \(6002 more characters\)$/);
    expect(JSON.stringify(step)).not.toContain('hunter');
  });

  it('does not split characters', async () => {
    const { step } = await runStep(['base.assertEqual', [`a${'😀'.repeat(3_000)}`, '']]);
    expect(step.failure?.expected).toBe(`a${'😀'.repeat(1_999)}… (2002 more characters)`);
  });

  it('has titles that are truncated after their secrets were masked', async () => {
    const secret = 'hunter22hunter22hunter22';
    const { step } = await runStep(['base.verbose', [`${'x'.repeat(50)}${secret}`]], {
      data: { client_secret: secret },
    });
    expect(step.title).toBe(`base.verbose(${'x'.repeat(50)}••••)`);
  });

  it('has only the length of a value that is too long to redact', async () => {
    const { step } = await runStep(['base.assertEqual', ['x'.repeat(2_000_000), '']]);
    expect(step.failure?.expected).toBe('<2000000 characters>');
    expect((await runStep(['base.verbose', ['x'.repeat(2_000_000)]])).step.output).toEqual(['<2000000 characters>']);
  });

  it('without steps is passed', async () => {
    expect((await runSteps([])).result).toMatchObject({ state: 'passed', interrupted: false, steps: [] });
  });

  it('has the output of each step', async () => {
    const talk = doing((context) => {
      context.log('one');
      context.log(new Secret('two'));
      throw new Error('three');
    });
    expect((await runStep([talk])).step).toMatchObject({
      output: ['one', '••••'],
      failure: { message: 'Error: three' },
    });
  });

  it('has the times of the clock', async () => {
    const { result, clock } = await runSteps([
      ['base.waitFor', [10]],
      ['base.waitFor', [20]],
    ]);
    const end = clock.now();
    expect(result).toMatchObject({ startedAt: end - 30, elapsedMs: 30 });
    expect(result.steps.map(({ startedAt, elapsedMs }) => [startedAt, elapsedMs])).toEqual([
      [end - 30, 10],
      [end - 20, 20],
    ]);
  });
});

describe('A parameter', () => {
  it('of the wrong kind fails the step before it runs', async () => {
    const { step, clock } = await runStep(['base.waitFor', ['${many}']], { data: { many: 'lots' } });
    expect(step.failure).toEqual({
      code: 'step_failed',
      message: expect.stringContaining('waitMs'),
      actual: 'lots',
    });
    expect(clock.slept).toEqual([]);
  });

  it('that may be a secret is not shown if it has the wrong kind', async () => {
    const { step } = await runStep(['ws.jwtSignHS256', ['x', {}, { a: 'hunter22' }]]);
    expect(JSON.stringify(step)).not.toContain('hunter22');
  });

  it('that was omitted is undefined', async () => {
    const { saved } = await runStep(['number.increment', ['n']], { data: { n: 1 } });
    expect(saved('n')).toBe(2);
  });
});

describe('The state of a group of commands', () => {
  it('lasts for one run', async () => {
    const key = Symbol('count');
    const count = doing((context) => {
      const counter = context.state(key, () => ({ n: 0 }));
      context.log(String(++counter.n));
    });
    for (let run = 0; run < 2; run++) {
      const { result } = await runSteps([[count], [count]]);
      expect(result.steps.flatMap(({ output }) => output)).toEqual(['1', '2']);
    }
  });
});

describe('A long script', () => {
  /** Counts the calls of a run to its dependencies. */
  async function workOf(count: number): Promise<number> {
    let work = 0;
    class Counted extends Variables {
      override get(name: string): ReturnType<Variables['get']> {
        work++;
        return super.get(name);
      }
      override *[Symbol.iterator](): IterableIterator<NonNullable<ReturnType<Variables['get']>>> {
        for (const variable of super[Symbol.iterator]()) {
          work++;
          yield variable;
        }
      }
      override *names(): IterableIterator<string> {
        for (const name of super.names()) {
          work++;
          yield name;
        }
      }
    }
    const steps = Array.from({ length: count }, (_, index): TestStep => ['base.save', [`v${index}`, '${v0:-x}']]);
    const { result } = await runSteps(steps, {
      variables: new Counted(),
      listener: () => void work++,
      onRedact: (text) => {
        work += text.length;
      },
    });
    expect(result.counts.passed).toBe(count);
    return work;
  }

  it('of 10,000 steps needs ten times as many calls as one of 1,000', async () => {
    const [small, large] = [await workOf(1_000), await workOf(10_000)];
    // The titles are one digit longer.
    expect(large / small).toBeLessThan(11);
  });
});
