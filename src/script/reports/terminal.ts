import type { ScriptEvent } from '../events.ts';
import { countColumns, fitColumns } from '../fit-columns.ts';
import type { StepResult, StepState } from '../result.ts';
import { formatCounts, formatDuration, type Style, toVisibleLine, withSymbol } from './format.ts';

/** Shows the progress of a run. */
export interface Progress {
  handle(event: ScriptEvent): void;
  /** Updates the durations of the live area; call it a few times per second with epoch milliseconds. */
  tick(now: number): void;
  /** Removes the live area; printed lines stay. */
  end(): void;
}

/** Options of {@link createProgress}. */
export interface ProgressOptions {
  /** The terminal supports cursor movement; otherwise only whole lines are written. */
  readonly live?: boolean;
  /** Print every step, not only every script. */
  readonly verbose?: boolean;
  /** Number of scripts to run. */
  readonly scripts?: number;
}

/** A running script. */
interface RunningScript {
  readonly name: string;
  readonly steps: number;
  readonly number: number;
  readonly title: string;
  /** Start of the current step, in epoch milliseconds. */
  readonly since: number;
}

const MAX_LINES = 6;
const MIN_REDRAW_MS = 50;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Shows progress as lines of text, on a terminal with a live area below them. `width` is called for every redraw. */
export function createProgress(
  style: Style,
  width: () => number,
  write: (text: string) => void,
  options: ProgressOptions = {},
): Progress {
  const format = createFormatter(style, options.verbose ?? false);
  if (options.live) return new LiveProgress(style, width, new LiveArea(write), format, options.scripts);
  return {
    handle(event) {
      const text = format(event);
      if (text !== '') write(text);
    },
    tick() {},
    end() {},
  };
}

/** Returns a function that formats the lines that stay on the screen: one per script, with `verbose` one per step. */
function createFormatter(style: Style, verbose: boolean): (event: ScriptEvent) => string {
  const { bold, dim, yellow } = style;
  const names = new Map<string, string>();
  /** File of the script whose steps were printed last. */
  let currentFile = '';
  return (event) => {
    const { file } = event;
    if (event.type === 'run-start') names.set(file, event.name);
    if (event.type === 'step-end' && verbose) {
      // Scripts that run in parallel alternate: a heading is printed at each change.
      const heading = `${bold(toVisibleLine(names.get(file) ?? file))}  ${dim(toVisibleLine(file))}\n`;
      const isChanged = file !== currentFile;
      currentFile = file;
      return (isChanged ? heading : '') + formatStep(event.step, style);
    }
    if (event.type !== 'run-end') return '';
    currentFile = '';
    const columns = [
      withSymbol(style, event.state, event.state),
      bold(toVisibleLine(event.name)),
      dim(toVisibleLine(file)),
      formatCounts(style, event.counts),
      ...(event.interrupted ? [yellow('interrupted')] : []),
      dim(formatDuration(event.elapsedMs)),
    ];
    return `${columns.join('  ')}\n`;
  };
}

function formatStep({ number, title, state, reason, failure, elapsedMs, output }: StepResult, style: Style): string {
  const { dim, red } = style;
  const line = `  ${withSymbol(style, state, `${number} ${toVisibleLine(title)}`)}`;
  const more = state === 'skipped' ? dim(toVisibleLine(reason ?? '')) : dim(formatDuration(elapsedMs));
  const details = [
    ...output.flatMap((text) => text.split(/\r\n?|\n/)).map((text) => dim(`    │ ${toVisibleLine(text)}`)),
    ...(failure === undefined ? [] : [red(`    ! ${toVisibleLine(failure.message)}`)]),
  ];
  return [`${line}  ${more}`, ...details, ''].join('\n');
}

class LiveProgress implements Progress {
  readonly #running = new Map<string, RunningScript>();
  readonly #counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  #done = 0;
  #startedAt: number | undefined;
  #now = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly style: Style,
    readonly width: () => number,
    readonly area: LiveArea,
    readonly format: (event: ScriptEvent) => string,
    readonly scripts: number | undefined,
  ) {}

  handle(event: ScriptEvent): void {
    this.#now = Math.max(this.#now, event.at);
    this.#startedAt ??= event.at;
    this.#track(event);
    const text = this.format(event);
    // Fast steps would otherwise redraw more often than anyone can read.
    if (text !== '' || this.#now - this.#drawnAt >= MIN_REDRAW_MS) this.#draw(text);
  }

  tick(now: number): void {
    if (this.#startedAt === undefined) return;
    this.#now = Math.max(this.#now, now);
    this.#draw('');
  }

  end(): void {
    this.#startedAt = undefined;
    this.area.draw([], this.#columns, '');
  }

  /** Some terminals report a width of 0. */
  get #columns(): number {
    return this.width() || 80;
  }

  #track(event: ScriptEvent): void {
    const running = this.#running.get(event.file);
    if (event.type === 'run-start') {
      const { name, steps, at } = event;
      this.#running.set(event.file, { name, steps, number: 0, title: '', since: at });
    } else if (event.type === 'step-start' && running !== undefined) {
      const { number, title, at } = event;
      this.#running.set(event.file, { ...running, number, title, since: at });
    } else if (event.type === 'step-end') {
      this.#counts[event.step.state]++;
    } else if (event.type === 'run-end') {
      this.#running.delete(event.file);
      this.#done++;
    }
  }

  #draw(above: string): void {
    this.#drawnAt = this.#now;
    const columns = this.#columns;
    // Terminals disagree on the cursor position after a line of exactly the full width.
    const width = columns - 1;
    const shown = [...this.#running.values()];
    const more = shown.length - MAX_LINES;
    const lines = [
      ...shown.slice(0, MAX_LINES).map((one) => this.#runningLine(one, width)),
      ...(more > 0 ? [fitLine(`  … and ${more} more`, width, this.style.dim)] : []),
      this.#totalsLine(width),
    ];
    this.area.draw(lines, columns, above);
  }

  #runningLine({ name, steps, number, title, since }: RunningScript, width: number): AreaLine {
    const { cyan, dim } = this.style;
    const frame = frames[Math.floor(this.#now / 100) % frames.length] ?? '';
    const count = `${number}/${steps} `;
    const time = ` ${formatTicking(this.#now - since)}`;
    const room = width - 2 - countColumns(count) - countColumns(time);
    const script = fitColumns(
      toVisibleLine(name),
      Math.max(Math.floor(room / 3), room - countColumns(toVisibleLine(title)) - 1),
    );
    const step = fitColumns(toVisibleLine(title), room - countColumns(script) - 1);
    if (room < 8) return fitLine(`${frame} ${count}`, width, this.style.dim);
    const gap = step === '' ? '' : ' ';
    return {
      text: `${cyan(frame)} ${dim(count)}${script}${gap}${dim(step)}${dim(time)}`,
      columns: 2 + countColumns(count + script + gap + step + time),
    };
  }

  #totalsLine(width: number): AreaLine {
    const { passed, failed, skipped } = this.#counts;
    const all = this.scripts === undefined ? '' : `/${this.scripts}`;
    const parts = [
      `  ${this.#done}${all} scripts`,
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
      formatTicking(this.#now - (this.#startedAt ?? this.#now)),
    ];
    return fitLine(parts.join(', '), width, failed > 0 ? this.style.red : this.style.dim);
  }
}

function fitLine(words: string, width: number, paint: (text: string) => string): AreaLine {
  const text = fitColumns(words, width);
  return { text: paint(text), columns: countColumns(text) };
}

/** Formats a running duration in tenths of a second, so that it changes at most ten times per second. */
function formatTicking(elapsedMs: number): string {
  const ms = Math.floor(Math.max(0, elapsedMs) / 100) * 100;
  return ms < 1000 ? `0.${ms / 100} s` : formatDuration(ms);
}

/** A line of the area; `columns` is its width without colour codes. */
interface AreaLine {
  readonly text: string;
  readonly columns: number;
}

const CLEAR_BELOW = '\u001b[J';

/** The last lines of a terminal, redrawn in place when they change. The cursor stays at the start of the line below. */
class LiveArea {
  #lines: readonly AreaLine[] = [];
  #width = 0;

  constructor(readonly write: (text: string) => void) {}

  /** Shows `lines`, each narrower than `width`; `above` is printed before them and stays in the scrollback. */
  draw(lines: readonly AreaLine[], width: number, above: string): void {
    const isSame = lines.length === this.#lines.length && lines.every(({ text }, i) => text === this.#lines[i]?.text);
    if (isSame && above === '' && width === this.#width) return;
    // A terminal that became narrower has wrapped the lines.
    const rows = this.#lines.reduce((sum, { columns }) => sum + Math.max(1, Math.ceil(columns / width)), 0);
    const clear = rows === 0 ? '' : `\u001b[${rows}A\r${CLEAR_BELOW}`;
    this.write(clear + above + lines.map(({ text }) => `${text}\n`).join(''));
    this.#width = width;
    this.#lines = lines;
  }
}
