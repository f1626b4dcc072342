import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScriptEvent } from '../../../src/script/events.ts';
import { countColumns } from '../../../src/script/fit-columns.ts';
import type { Style } from '../../../src/script/reports/format.ts';
import { createProgress, type ProgressOptions } from '../../../src/script/reports/terminal.ts';
import type { RunResult } from '../../../src/script/result.ts';
import { anyField } from './any-report.ts';
import { failure, runOf, sampleReport } from './sample-report.ts';
import { Screen } from './screen.ts';

const same = (text: string): string => text;
const noStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };
const coloured = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;
const style: Style = {
  bold: coloured(1),
  dim: coloured(2),
  red: coloured(31),
  green: coloured(32),
  yellow: coloured(33),
  cyan: coloured(36),
};

/** Returns the events of a run as the engine emits them. */
function eventsOf(run: RunResult): ScriptEvent[] {
  const { file, name, steps, startedAt, counts, state, interrupted, elapsedMs } = run;
  return [
    { type: 'run-start', at: startedAt, file, name, steps: steps.length },
    ...steps.flatMap((step): ScriptEvent[] => {
      const { number, command, title, startedAt: at } = step;
      const end: ScriptEvent = { type: 'step-end', at: at + step.elapsedMs, file, step };
      return step.state === 'skipped' ? [end] : [{ type: 'step-start', at, file, number, command, title }, end];
    }),
    { type: 'run-end', at: startedAt + elapsedMs, file, name, state, interrupted, counts, elapsedMs },
  ];
}

function plain(events: readonly ScriptEvent[], options: ProgressOptions = {}): string {
  let text = '';
  const shown = createProgress(
    noStyle,
    () => 80,
    (more) => (text += more),
    options,
  );
  for (const event of events) shown.handle(event);
  shown.tick(0);
  shown.end();
  return text;
}

const sampleEvents = sampleReport().runs.flatMap(eventsOf);

describe('Progress without a terminal', () => {
  it('is one line per script', () => {
    expect(plain(sampleEvents)).toBe(
      [
        '✓ passed  Who am I  smoke/me.yaml  5 passed  602 ms',
        '✗ failed  Orders: create, read, cancel  smoke/orders/life-cycle.yaml  5 passed, 1 failed, 2 skipped  1.1 s',
        '✗ failed  Nightly export  smoke/export.yaml  1 failed, 1 skipped  903 ms',
        '✓ passed  GitLab projects  smoke/gitlab/projects.yaml  4 passed, 1 skipped  641 ms',
        '',
      ].join('\n'),
    );
  });

  it('is one line per step with --verbose, with its output and its failure', () => {
    const run = runOf('Sums', 'sums.yaml', [
      { title: 'base.verbose(hi)', output: ['one\ntwo'] },
      { title: 'base.assertEqual(1, 2)', failure: failure('they differ') },
      { title: 'base.save(a, b)', reason: 'an earlier step failed' },
    ]);
    expect(plain(eventsOf(run), { verbose: true })).toBe(
      [
        'Sums  sums.yaml',
        '  ✓ 1 base.verbose(hi)  12 ms',
        '    │ one',
        '    │ two',
        '  ✗ 2 base.assertEqual(1, 2)  12 ms',
        '    ! they differ',
        '  - 3 base.save(a, b)  an earlier step failed',
        '✗ failed  Sums  sums.yaml  1 passed, 1 failed, 1 skipped  24 ms',
        '',
      ].join('\n'),
    );
  });

  it('prints the output of base.verbose below its script, also without --verbose', () => {
    const run = runOf('Hello', 'a.yaml', [
      { title: 'base.verbose(x)', output: ['one\ntwo'] },
      { title: 'ws.get(x)', output: ['not printed'] },
      { title: 'base.verbose(y)', output: ['three'] },
    ]);
    expect(plain(eventsOf(run))).toBe(
      'Hello  a.yaml\n    │ one\n    │ two\n    │ three\n✓ passed  Hello  a.yaml  3 passed  36 ms\n',
    );
  });

  it('shows all attempts of a step with --verbose, and only the last one without', () => {
    const run = runOf('Export', 'a.yaml', [{ title: 'the export is ready', attempts: 2 }]);
    const [step] = run.steps;
    if (step === undefined) throw new Error('no step');
    const [start, ...rest] = eventsOf(run);
    const retry: ScriptEvent = {
      type: 'step-retry',
      at: 0,
      file: 'a.yaml',
      attempt: 1,
      step: { ...step, state: 'failed' },
    };
    const events = [start, retry, ...rest].filter((event) => event !== undefined);
    expect(plain(events, { verbose: true })).toContain('… attempt 1: the export is ready  failed\n');
    expect(plain(events, { verbose: true })).toContain('the export is ready (2 attempts)');
    expect(plain(events)).not.toContain('attempt');
  });

  it('marks a flaky script', () => {
    const run = runOf('Export', 'a.yaml', [{ title: 'x' }], { attempts: 3 });
    const events = eventsOf(run).map((event) => (event.type === 'run-end' ? { ...event, attempts: 3 } : event));
    expect(plain(events)).toBe('✓ passed  Export  a.yaml  1 passed  flaky, 3 attempts  12 ms\n');
  });

  it('has a heading at each change of script', () => {
    const [a, b] = ['a', 'b'].map((name) => eventsOf(runOf(name, `${name}.yaml`, [{ title: 'x' }, { title: 'y' }])));
    const alternating = (a ?? []).flatMap((event, index) => [event, b?.[index] ?? event]);
    expect(plain(alternating, { verbose: true }).match(/^[ab] /gm)).toEqual(['a ', 'b ', 'a ', 'b ']);
  });

  it('reports interrupted scripts', () => {
    expect(plain(eventsOf(runOf('x', 'x.yaml', [{ title: 'x' }], { interrupted: true })))).toContain('  interrupted  ');
  });

  it('escapes control characters', () => {
    const run = runOf('a\u001b[2J', 'b\u009b.yaml', [{ title: 'c\n\u202e', output: ['d\r\u0007'] }]);
    expect(plain(eventsOf(run), { verbose: true })).toMatch(/^[\n -~•–—✓│]*$/);
  });
});

/** Shows events on a screen and captures it after each one. */
function live(
  events: readonly ScriptEvent[],
  width: number,
  options: ProgressOptions = {},
  capture: (screen: Screen, written: string) => void = () => {},
): Screen {
  const screen = new Screen(width);
  let written = '';
  const write = (text: string): void => {
    written += text;
    screen.write(text);
  };
  const shown = createProgress(style, () => screen.width, write, { ...options, live: true });
  for (const event of events) {
    written = '';
    shown.handle(event);
    capture(screen, written);
    shown.tick(event.at + 30);
    capture(screen, written);
  }
  shown.end();
  return screen;
}

const wrapped = (text: string, width: number): string[] => {
  const screen = new Screen(width);
  screen.write(text);
  return screen.lines;
};

describe('Progress on a terminal', () => {
  it('shows the running step below the finished scripts', () => {
    const end = sampleEvents.findIndex(
      (event) => event.type === 'step-start' && event.title.startsWith('ws.get(https://shop'),
    );
    let lines: string[] = [];
    live(sampleEvents.slice(0, end + 1), 80, { scripts: 4 }, (screen) => {
      lines = screen.lines;
    });
    expect(lines).toEqual([
      '✓ passed  Who am I  smoke/me.yaml  5 passed  602 ms',
      '⠴ 1/4 scripts, 8 passed, 1.5 s, ws.get(https://shop.example.com/api/orders/${o…',
    ]);
  });

  it.each([200, 80, 40, 24, 12])('leaves only the printed lines at %d columns', (width) => {
    for (const verbose of [false, true]) {
      const screen = live(sampleEvents, width, { verbose, scripts: 4 });
      expect(screen.lines).toEqual(wrapped(plain(sampleEvents, { verbose }), width));
      expect(screen.cursor[1]).toBe(0);
    }
  });

  it('never fills a line to the last column, with wide characters counted twice', () => {
    const run = runOf('日本語のスクリプト', 'x.yaml', [{ title: '😀'.repeat(30) }, { title: 'ä̈'.repeat(90) }]);
    let text = '';
    const shown = createProgress(
      noStyle,
      () => 40,
      (more) => (text += more),
      { live: true },
    );
    for (const event of eventsOf(run).slice(0, -1)) {
      shown.handle(event);
      shown.tick(event.at + 60);
    }
    // biome-ignore lint/complexity/useRegexLiterals: an escape in a literal is harder to read
    const lines = text.replace(new RegExp('\\u001b\\[\\d*[A-Z]', 'g'), '').split(/[\r\n]+/);
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) expect(countColumns(line)).toBeLessThan(40);
  });

  it('writes nothing while nothing has changed', () => {
    const [start] = sampleEvents;
    const at = start?.at ?? 0;
    const writes: string[] = [];
    const shown = createProgress(
      noStyle,
      () => 60,
      (text) => writes.push(text),
      { live: true },
    );
    shown.handle(start as ScriptEvent);
    shown.tick(at + 50);
    writes.length = 0;
    shown.tick(at + 60);
    expect(writes).toEqual([]);
    shown.tick(at + 160);
    expect(writes.join('')).toContain('0.1 s');
  });

  it('shows the latest step of parallel scripts', () => {
    const started = ['one', 'two'].map((title) => eventsOf(runOf(title, `${title}.yaml`, [{ title }])));
    const shown: string[] = [];
    live([...started.flatMap((events) => events.slice(0, 2)), ...(started[1] ?? []).slice(2)], 60, {}, ({ lines }) => {
      shown.push(lines.at(-1)?.split(', ').at(-1) ?? '');
    });
    expect(shown.filter((title, index) => title !== shown[index - 1])).toEqual(['one', 'two', 'one']);
  });

  it('leaves only the printed lines if the terminal is resized', () => {
    for (const widths of [
      [80, 30],
      [30, 80],
      [80, 41, 20, 90],
    ]) {
      const screen = new Screen(widths[0] ?? 80);
      const shown = createProgress(
        style,
        () => screen.width,
        (text) => screen.write(text),
        { live: true },
      );
      for (const [index, event] of sampleEvents.entries()) {
        if (index % 7 === 3) screen.resize(widths[((index - 3) / 7) % widths.length] ?? 80);
        shown.handle(event);
        shown.tick(event.at + 60);
      }
      shown.end();
      screen.resize(200);
      expect(screen.lines).toEqual(plain(sampleEvents).trimEnd().split('\n'));
    }
  });

  it('leaves only the printed lines for any events at any width', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\u001b'), maxLength: 60 });
    const run = fc.array(fc.record({ title: word, elapsedMs: fc.integer({ min: 0, max: 300 }) }), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(run, { maxLength: 9 }),
        fc.integer({ min: 5, max: 100 }),
        fc.boolean(),
        fc.infiniteStream(fc.nat()),
        (runs, width, verbose, picks) => {
          const queues = runs.map((steps, index) => eventsOf(runOf(`run ${index}`, `${index}.yaml`, steps)));
          const events: ScriptEvent[] = [];
          while (queues.some((queue) => queue.length > 0)) {
            const waiting = queues.filter((queue) => queue.length > 0);
            const [event] = waiting[Number(picks.next().value) % waiting.length]?.splice(0, 1) ?? [];
            if (event !== undefined) events.push(event);
          }
          expect(live(events, width, { verbose }).lines).toEqual(wrapped(plain(events, { verbose }), width));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('escapes text that would move the cursor', () => {
    fc.assert(
      fc.property(anyField, anyField, (name, title) => {
        // The screen throws on any other control character.
        live(eventsOf(runOf(name, 'x.yaml', [{ title, output: [title], failure: failure(name) }])), 50, {
          verbose: true,
        });
      }),
    );
  });
});
