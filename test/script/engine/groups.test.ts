import { describe, expect, it } from 'vitest';
import { defineCommand } from '../../../src/script/command.ts';
import { StepFailure } from '../../../src/script/step-context.ts';
import { FakeClock } from '../../support/ports.ts';
import { runSteps } from '../run-steps.ts';
import { issuesInText, runText } from '../run-text.ts';

/** A command that fails a number of times before it passes. */
const flaky = (failures: number, onRun: () => void = () => {}) => {
  let left = failures;
  return defineCommand({
    group: 'test',
    name: 'flaky',
    summary: 'Fails at first',
    parameters: [{ name: 'text', kind: 'text', help: 'Text', optional: true }],
    example: 'test.flaky:',
    run(_args, context) {
      onRun();
      context.set('left', left);
      if (left-- > 0) throw new StepFailure(`${left + 1} left`);
    },
  });
};

describe('A group', () => {
  it('runs its steps in order, and reports have its title', async () => {
    const { lines, result } = await runText(`
steps:
  - name: outer
    steps:
      - base.save: [a, 1]
      - steps:
          - base.assertEqual: [1, "\${a}"]
  - base.verbose: after
`);
    expect(lines).toEqual([
      'passed outer > base.save(a, 1)',
      'passed outer > group > base.assertEqual(1, ${a})',
      'passed base.verbose(after)',
    ]);
    expect(result.counts).toEqual({ passed: 3, failed: 0, skipped: 0 });
  });

  it('that fails skips its own steps, then those after it', async () => {
    const { lines } = await runText(`
steps:
  - name: g
    steps:
      - base.assertEqual: [a, b]
      - base.verbose: skipped
      - {base.verbose: cleanup, always: true}
  - base.verbose: skipped too
  - {name: end, always: true, steps: [{base.verbose: runs}]}
`);
    expect(lines).toEqual([
      'failed g > base.assertEqual(a, b)',
      'skipped g > base.verbose(skipped)',
      'passed g > base.verbose(cleanup)',
      'skipped base.verbose(skipped too)',
      'passed end > base.verbose(runs)',
    ]);
  });

  it('with continueOnFailure ends itself, not the script', async () => {
    const { lines, result } = await runText(`
steps:
  - name: g
    continueOnFailure: true
    steps: [{base.assertEqual: [a, b]}, {base.verbose: x}]
  - base.verbose: after
`);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['failed', 'skipped', 'passed']);
    expect(result.state).toBe('failed');
  });

  it('is skipped as a whole if its condition is false', async () => {
    const { lines, result } = await runText(
      'steps:\n  - {name: g, if: a = b, steps: [{base.verbose: x}, {base.verbose: y}]}\n  - base.verbose: z',
    );
    expect(lines).toEqual(['skipped g', 'passed base.verbose(z)']);
    expect(result.state).toBe('passed');
  });

  it('is ended by base.failImmediate, also with continueOnFailure and retry; steps with always run', async () => {
    const { lines } = await runText(`
steps:
  - continueOnFailure: true
    retry: {times: 3, interval: 1ms}
    steps: [{base.failImmediate: stop}]
  - base.verbose: skipped
  - {name: last, always: true, steps: [{base.verbose: runs}]}
`);
    expect(lines).toEqual([
      'failed group > base.failImmediate(stop)',
      'skipped base.verbose(skipped)',
      'passed last > base.verbose(runs)',
    ]);
  });
});

describe('setup and teardown', () => {
  it('run before and after the steps, the teardown also after a failure', async () => {
    const { steps, lines } = await runText(`
setup: [{base.save: [a, 1]}]
steps:
  - base.assertEqual: [2, "\${a}"]
  - base.verbose: skipped
teardown:
  - base.assertEqual: [x, y]
  - base.verbose: still runs
`);
    expect(steps.map(({ phase, state }) => `${phase} ${state}`)).toEqual([
      'setup passed',
      'undefined failed',
      'undefined skipped',
      'teardown failed',
      'teardown passed',
    ]);
    expect(lines.at(-1)).toBe('passed base.verbose(still runs)');
  });

  it('skip the steps if the setup fails, but not the teardown', async () => {
    const { steps } = await runText(
      'setup: [{base.failImmediate: no}]\nsteps: [{base.verbose: x}]\nteardown: [{steps: [{base.verbose: y}]}]',
    );
    expect(steps.map(({ state }) => state)).toEqual(['failed', 'skipped', 'passed']);
  });

  it('run the teardown after an interruption', async () => {
    const controller = new AbortController();
    const { steps, result } = await runText(
      'steps: [{base.waitFor: 60000}, {base.verbose: x}]\nteardown: [{base.waitFor: 1}, {base.verbose: cleaned}]',
      { signal: controller.signal, listener: ({ type }) => type === 'step-start' && controller.abort() },
    );
    expect(steps.map(({ state }) => state)).toEqual(['failed', 'skipped', 'passed', 'passed']);
    expect(result.interrupted).toBe(true);
  });
});

describe('retry', () => {
  it('repeats a step until it passes; the result is that of the last attempt', async () => {
    const { steps, events } = await runText(
      'steps:\n  - {test.flaky: , retry: {times: 5, interval: 1ms}}\n  - base.verbose: "${left}"',
      {
        commands: [flaky(2)],
      },
    );
    expect(steps).toMatchObject([
      { number: 1, state: 'passed', attempts: 3 },
      { number: 2, output: ['0'] },
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      'run-start',
      ...['step-start', 'step-retry', 'step-start', 'step-retry', 'step-start', 'step-end'],
      ...['step-start', 'step-end'],
      'run-end',
    ]);
    expect(events.filter((event) => event.type === 'step-retry')).toMatchObject([
      { attempt: 1, step: { number: 1, failure: { message: '2 left' } } },
      { attempt: 2, step: { number: 1, failure: { message: '1 left' } } },
    ]);
  });

  it('fails after the last attempt', async () => {
    let runs = 0;
    const { steps, result } = await runText('steps:\n  - {test.flaky: , retry: {times: 3, interval: 1ms}}', {
      commands: [flaky(9, () => runs++)],
    });
    expect(runs).toBe(3);
    expect(steps).toMatchObject([{ state: 'failed', attempts: 3, failure: { message: '7 left' } }]);
    expect(result.counts).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  it('repeats a group as a whole', async () => {
    const { lines, steps } = await runText(
      `
steps:
  - name: becomes ready
    retry: {times: 4, interval: 1ms}
    steps:
      - base.verbose: before
      - test.flaky:
      - base.verbose: after
`,
      { commands: [flaky(2)] },
    );
    expect(lines).toEqual([
      'passed becomes ready > base.verbose(before)',
      'passed becomes ready > test.flaky()',
      'passed becomes ready > base.verbose(after)',
    ]);
    expect(steps.map(({ attempts, number }) => [number, attempts])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  it('repeats until a condition is true', async () => {
    const text = (until: string) => `
steps:
  - base.save: [n, 0]
  - name: count
    retry: {times: 5, interval: 1ms, until: "${until}"}
    number.increment: n
  - base.verbose: "\${n}"
`;
    expect((await runText(text('${n} >= 3'))).output).toEqual(['3']);
    const { steps, failures } = await runText(text('${n} > 9'));
    expect(failures).toEqual(['the condition is still false after 5 attempts']);
    expect(steps[2]).toMatchObject({ title: 'count', state: 'failed', attempts: 5, failure: { expected: '${n} > 9' } });
  });

  it('waits longer with each attempt, up to a maximum', async () => {
    const waited: number[] = [];
    class Clock extends FakeClock {
      override sleep(ms: number): Promise<void> {
        waited.push(ms);
        return super.sleep(ms);
      }
    }
    const retry = { times: 6, intervalMs: 100, backoff: 2, maxMs: 500 };
    await runSteps([['base.assertEqual', ['a', 'b'], { retry }]], { clock: new Clock() });
    expect(waited).toEqual([100, 200, 400, 500, 500]);
  });

  it('ends when the run is interrupted', async () => {
    const controller = new AbortController();
    const { steps, result } = await runText('steps:\n  - {test.flaky: , retry: {times: 1000, interval: 10m}}', {
      commands: [flaky(99)],
      signal: controller.signal,
      listener: ({ type }) => type === 'step-retry' && controller.abort(),
    });
    expect(steps).toMatchObject([{ state: 'failed' }]);
    expect(result.interrupted).toBe(true);
  });

  it.each([
    ['retry: {interval: 1s}', 'retry has no times'],
    ['retry: {times: 0}', 'retry: times must be an integer from 1 to 1000'],
    ['retry: 1e9', 'retry: times must be an integer from 1 to 1000'],
    ['retry: {times: 1001}', 'retry: times must be an integer from 1 to 1000'],
    ['retry: {times: "${n}"}', 'retry: times must be an integer from 1 to 1000'],
    ['retry: forever', 'retry: times must be an integer from 1 to 1000'],
    ['retry: {times: 3, interval: often}', 'retry: interval must be a duration such as 500ms, 10s or 2m'],
    ['retry: {times: 3, backoff: 0.5}', 'retry: backoff must be a number, at least 1'],
    ['retry: {times: 3, evry: 1s}', 'unknown key evry of retry'],
    ['retry: {times: 3, until: x}', expect.stringMatching(/^until: operator expected/)],
  ])('is validated before anything runs: %s', async (retry, message) => {
    const [issue = ''] = await issuesInText(`steps:\n  - base.verbose: x\n    ${retry}`);
    expect(issue.replace(/^main\.yaml:3:\d+ /, '')).toEqual(message);
  });
});
