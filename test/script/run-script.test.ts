import { describe, expect, it } from 'vitest';
import type { Value } from '../../src/config/value.ts';
import { Variables } from '../../src/config/variables.ts';
import { InvalidProfileError, OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { type Command, defineCommand } from '../../src/script/command.ts';
import type { StepContext } from '../../src/script/step-context.ts';
import { StepFailure } from '../../src/script/step-failure.ts';
import { leaksIn } from '../support/leaks.ts';
import { type Outcome, runStep, runSteps, ScriptClock, type WrittenStep } from '../support/script-world.ts';

/** A command of the test's own. */
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

describe('variables that a step writes', () => {
  const writing = (after: (context: StepContext) => void): Command =>
    doing((context) => {
      context.set('a', 'new');
      context.set('b', 'new');
      context.remove('c');
      after(context);
    });

  it('D2 are all written when it passes', async () => {
    const { variables } = await runStep([writing(() => {})], { data: { a: 'old', c: 'old' } });
    expect([...variables].map(({ name, value }) => [name, value])).toEqual([
      ['a', 'new'],
      ['b', 'new'],
    ]);
  });

  it('D2 are not written when it fails, and keep their former values', async () => {
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

  it('are seen by the next step, not by itself', async () => {
    const seen: (Value | undefined)[] = [];
    const look = doing((context) => {
      context.set('a', 'new');
      seen.push(context.get('a'));
    });
    await runSteps([[look], [doing((context) => void seen.push(context.get('a')))]], { data: { a: 'old' } });
    expect(seen).toEqual(['old', 'new']);
  });

  it('are removed for a condition too', async () => {
    const outcome = await runSteps([
      ['base.save', ['a', '1']],
      ['base.clear', ['a']],
      ['base.verbose', ['gone'], { if: '${a} is not defined' }],
    ]);
    expect(states(outcome)).toEqual(['passed', 'passed', 'passed']);
  });

  it('belong to the step where they are asked for their source', async () => {
    const { variables } = await runSteps([
      ['base.verbose', ['x']],
      ['base.save', ['a', '1']],
    ]);
    expect(variables.get('a')?.source.label).toBe('step 2');
  });

  it.each(['env', 'file', 'vault', '__proto__', 'constructor', 'prototype', 'a.b', 'a b', '', 'ä', '9', 'a\n'])(
    'D3 cannot be called %j',
    async (name) => {
      const { step, variables } = await runStep(['json.storeCount', ['{}', '$', name]]);
      expect(step.failure?.message).toMatch(/^var must be the plain name of a variable/);
      expect([...variables.names()]).toEqual([]);
    },
  );

  it.each(['a', '_', 'A9_', 'environment', 'token'])('D3 can be called %j', async (name) => {
    expect((await runStep(['json.storeCount', ['{}', '$', name]])).saved(name)).toEqual(
      name === 'token' ? { secret: '1' } : 1,
    );
  });

  it('D3 cannot have a name that was looked up and is none', async () => {
    const { step } = await runStep(['json.storeCount', ['{}', '$', '${name}']], { data: { name: '__proto__' } });
    expect(step.state).toBe('failed');
  });
});

describe('after a failed step', () => {
  it('the rest is skipped, but for what is marked always', async () => {
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

  it('the script goes on with continueOnFailure, and has failed all the same', async () => {
    const outcome = await runSteps([
      [fail, [], { continueOnFailure: true }],
      ['base.verbose', ['on']],
    ]);
    expect(states(outcome)).toEqual(['failed', 'passed']);
    expect(outcome.result.state).toBe('failed');
  });

  it('a step marked always that fails does not stop the others of its kind', async () => {
    const always = { always: true };
    const outcome = await runSteps([[fail], [fail, [], always], ['base.verbose', ['tidy'], always]]);
    expect(states(outcome)).toEqual(['failed', 'failed', 'passed']);
  });

  it('a step marked always ends the script if it is the first to fail', async () => {
    const outcome = await runSteps([
      [fail, [], { always: true }],
      ['base.verbose', ['never']],
    ]);
    expect(states(outcome)).toEqual(['failed', 'skipped']);
  });

  it('a step marked always is still subject to its condition', async () => {
    const outcome = await runSteps([[fail], ['base.verbose', ['x'], { always: true, if: '1 = 2' }]]);
    expect(reasons(outcome)).toEqual([undefined, 'its condition does not hold']);
  });
});

describe('a condition', () => {
  it.each<[condition: string, state: string]>([
    ['true', 'passed'],
    ['false', 'skipped'],
    ['${n} = 5', 'passed'],
    ['${n} > 10', 'skipped'],
    ['${who} = Ada & ${n} != 6', 'passed'],
    ['${nobody} is defined', 'skipped'],
    ['${nobody:-x} = x', 'passed'],
  ])('%s: %s', async (condition, state) => {
    const { step } = await runStep(['base.verbose', ['x'], { if: condition }], { data: { n: 5, who: 'Ada' } });
    expect(step.state).toBe(state);
  });

  it('that does not hold leaves references of its step alone, and the run passed', async () => {
    const { result } = await runStep(['base.verbose', ['${nobody}'], { if: 'false' }]);
    expect(result).toMatchObject({ state: 'passed', counts: { skipped: 1 } });
  });

  it('with an undefined name fails the step', async () => {
    const { step } = await runStep(['base.verbose', ['x'], { if: '${nobody} = 1' }]);
    expect(step).toMatchObject({
      state: 'failed',
      failure: { code: 'data_invalid', message: 'nobody is not defined' },
    });
  });
});

describe('an interruption', () => {
  it('fails the running step, skips the rest, and still gives a whole result', async () => {
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
    ['an error of its own', new Error('socket hang up')],
    ['an error of ours', new OAuthProfileError('connection_failed', 'no connection')],
  ])('is what ended a step, even if the command throws %s', async (_, thrown) => {
    const controller = new AbortController();
    const command = doing(() => {
      controller.abort();
      throw thrown;
    });
    const { step } = await runStep([command], { controller });
    expect(step.failure).toEqual({ code: 'aborted', message: 'the run was interrupted' });
  });

  it('D2 writes nothing of a step that it ended', async () => {
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

describe('a regular expression behind matches', () => {
  it('that is looked up and is none fails the step', async () => {
    const { step } = await runStep(['base.verbose', ['x'], { if: 'abc matches ${pattern}' }], {
      data: { pattern: '(' },
    });
    expect(step.failure?.message).toMatch(/^what stands behind matches must be a regular expression/);
  });
});

describe('references', () => {
  it.each<Value>(['${client_secret}', { a: ['${client_secret}'] }, '$${client_secret}', '${', '${env:HOME}'])(
    'are not followed inside %j that came from outside',
    async (outside) => {
      const receive = doing((context) => context.set('reply', outside));
      const outcome = await runSteps(
        [
          [receive],
          ['base.save', ['copy', '${reply}']],
          ['base.save', ['again', '${copy}']],
          ['base.verbose', ['${again}']],
        ],
        { data: { client_secret: 'hunter22hunter' }, env: { HOME: '/home/ada' } },
      );
      expect(outcome.result.state).toBe('passed');
      expect(outcome.saved('again')).toEqual(outside);
      expect(outcome.result.steps[3]?.output).toEqual([
        typeof outside === 'string' ? outside : JSON.stringify(outside),
      ]);
    },
  );

  it('are not followed in a text that was put together with one from outside', async () => {
    const receive = doing((context) => context.set('reply', '${client_secret}'));
    const outcome = await runSteps(
      [
        [receive],
        ['base.save', ['greeting', 'Hello ${reply}']],
        ['base.assertEqual', ['Hello $${client_secret}', '${greeting}']],
      ],
      { data: { client_secret: 'hunter22hunter' } },
    );
    expect(states(outcome)).toEqual(['passed', 'passed', 'passed']);
  });

  it('are followed in the data of the script', async () => {
    const { step } = await runStep(['base.verbose', ['${greeting}']], { data: { greeting: 'Hi ${who}', who: 'Ada' } });
    expect(step.output).toEqual(['Hi Ada']);
  });

  it('to something undefined fail the step and name the nearest', async () => {
    const { step } = await runStep(['base.verbose', ['${token.acces_token}']], {
      data: { token: { access_token: 'hunter22' } },
    });
    expect(step.failure).toEqual({
      code: 'data_invalid',
      message: 'token.acces_token is not defined',
      hint: 'did you mean token.access_token?',
    });
  });

  it('see the values of the moment', async () => {
    const { result } = await runSteps([
      ['base.save', ['n', 1]],
      ['base.verbose', ['${n}']],
      ['number.increment', ['n']],
      ['base.verbose', ['${n}']],
    ]);
    expect(result.steps.flatMap(({ output }) => output)).toEqual(['1', '2']);
  });
});

describe('D22 events', () => {
  it('come in order, each step within the run', async () => {
    const { events, result } = await runSteps(
      [
        ['base.waitFor', [10]],
        [fail, [], { name: 'It fails' }],
        ['base.verbose', ['never']],
      ],
      {},
    );
    const told = events.map((event) => [
      event.type,
      'number' in event ? event.number : event.type === 'step-end' ? event.step.number : undefined,
    ]);
    expect(told).toEqual([
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

  it('have a start for every end, also where the condition of a step cannot be answered', async () => {
    const { events } = await runStep(['base.verbose', ['x'], { if: '${nobody} = 1' }]);
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'step-start', 'step-end', 'run-end']);
  });

  it('reach a listener that throws, and the run goes on', async () => {
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

  it('carry no secret, wherever it stood', async () => {
    const secret = 'p@ss w&rd/"2+2"=ü';
    const data = { client_secret: secret, known: 'x' };
    const throwing = doing((_, value) => {
      throw new Error(`went wrong with ${String(value)} and ${secret}`);
    });
    const on = { continueOnFailure: true };
    const steps: WrittenStep[] = [
      ['base.verbose', ['${client_secret}']],
      ['base.verbose', [`plain ${secret}`]],
      ['base.verbose', [encodeURIComponent(secret)], { name: `named ${secret}` }],
      ['base.verbose', [Buffer.from(secret).toString('base64')]],
      ['base.assertEqual', [secret, 'x ${client_secret}'], on],
      ['base.assertEqual', [{ a: secret }, 'x'], on],
      ['base.assertContains', ['x', secret], on],
      ['base.failImmediate', [`no ${secret}`]],
      [throwing, ['${client_secret}'], { always: true }],
      ['base.verbose', [`\${nobody${secret}}`], { always: true }],
      ['number.increment', ['known', '${client_secret}'], { always: true }],
    ];
    // The title of a step is written before anything was looked up, so the data must be known as secret by then.
    const { events, result } = await runSteps(steps, { data });
    expect(result.counts.passed).toBeGreaterThan(3);
    expect(leaksIn(JSON.stringify([events, result]), [secret])).toEqual([]);
  });
});

describe('a result', () => {
  class Odd extends Error {
    override get message(): string {
      throw new TypeError('no message either');
    }
  }

  it.each<[kind: string, thrown: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'no'],
    ['a symbol', Symbol('no')],
    ['an object without a prototype', Object.create(null)],
    ['an object that cannot be text', { toString: () => ({}) }],
    ['an error without a message', new Error()],
    ['an error with an odd message', Object.assign(new Error(), { message: undefined })],
    ['an error whose message throws', new Odd()],
    ['a promise', Promise.resolve()],
    ['an aggregate', new AggregateError([new Error('a')], 'many')],
  ])('is given even if a command throws %s', async (_, thrown) => {
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

  it('has the code, words and hint of an error of ours', async () => {
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

  it('shows the beginning of long values, with all secrets masked before it is cut', async () => {
    const secret = 'hunter22hunter';
    const long = `${'x'.repeat(3_994)}${secret}${'😀'.repeat(3_000)}`;
    const { step } = await runStep(['base.assertEqual', [long, [long]]], { data: { client_secret: secret } });
    expect(step.failure?.expected).toBe(`${'x'.repeat(3_994)}••••😀… (5998 more)`);
    expect(step.failure?.actual).toMatch(/^\["x{3994}••••… \(6002 more\)$/);
    expect(JSON.stringify(step)).not.toContain('hunter');
  });

  it('cuts no character in half', async () => {
    const { step } = await runStep(['base.assertEqual', [`a${'😀'.repeat(3_000)}`, '']]);
    expect(step.failure?.expected).toBe(`a${'😀'.repeat(1_999)}… (2002 more)`);
  });

  it('has titles of which nothing secret is left where they were cut', async () => {
    const secret = 'hunter22hunter22hunter22';
    const { step } = await runStep(['base.verbose', [`${'x'.repeat(50)}${secret}`]], {
      data: { client_secret: secret },
    });
    expect(step.title).toBe(`base.verbose(${'x'.repeat(50)}••••)`);
  });

  it('says how long a value is that is too long to be searched for secrets', async () => {
    const { step } = await runStep(['base.assertEqual', ['x'.repeat(2_000_000), '']]);
    expect(step.failure?.expected).toBe('<2000000 characters>');
    expect((await runStep(['base.verbose', ['x'.repeat(2_000_000)]])).step.output).toEqual(['<2000000 characters>']);
  });

  it('of no steps is passed', async () => {
    expect((await runSteps([])).result).toMatchObject({ state: 'passed', interrupted: false, steps: [] });
  });

  it('has what each step said, in its place', async () => {
    const talk = doing((context) => {
      context.say('one');
      context.say(new Secret('two'));
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

describe('a parameter', () => {
  it('that is not of its kind fails the step before it does anything', async () => {
    const { step, clock } = await runStep(['base.waitFor', ['${many}']], { data: { many: 'lots' } });
    expect(step.failure).toEqual({
      code: 'step_failed',
      message: 'waitMs must be a whole number from 0',
      actual: 'lots',
    });
    expect(clock.slept).toEqual([]);
  });

  it('that may be a secret is not shown when it is not of its kind', async () => {
    const { step } = await runStep(['ws.jwtSignHS256', ['x', {}, { a: 'hunter22' }]]);
    expect(JSON.stringify(step)).not.toContain('hunter22');
  });

  it('that was left out is not there', async () => {
    const { saved } = await runStep(['number.increment', ['n']], { data: { n: 1 } });
    expect(saved('n')).toBe(2);
  });
});

describe('what commands keep between steps', () => {
  it('lasts for one run', async () => {
    const key = Symbol('count');
    const count = doing((context) => {
      const kept = context.state(key, () => ({ n: 0 }));
      context.say(String(++kept.n));
    });
    for (let run = 0; run < 2; run++) {
      const { result } = await runSteps([[count], [count]]);
      expect(result.steps.flatMap(({ output }) => output)).toEqual(['1', '2']);
    }
  });
});

describe('a long script', () => {
  /** Counts what a run asks of the world. */
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
    const steps = Array.from({ length: count }, (_, index): WrittenStep => ['base.save', [`v${index}`, '${v0:-x}']]);
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

  it('of 10,000 steps costs ten times one of 1,000', async () => {
    const [small, large] = [await workOf(1_000), await workOf(10_000)];
    // The titles grow by a digit.
    expect(large / small).toBeLessThan(11);
  });
});
