import type { ScriptEvent } from '../events.ts';
import { countColumns, fitColumns } from '../fit-columns.ts';
import type { StepState } from '../result.ts';
import { formatDuration, type Style, toVisibleLine } from './format.ts';
import { type AreaLine, LiveArea } from './live-area.ts';
import { ProgressLines } from './progress-lines.ts';

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
  number: number;
  title: string;
  /** Start of the current step, in epoch milliseconds. */
  since: number;
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
  const lines = new ProgressLines(style, options.verbose ?? false);
  if (options.live) return new LiveProgress(style, width, write, lines, options.scripts);
  return {
    handle(event) {
      const text = lines.format(event);
      if (text !== '') write(text);
    },
    tick() {},
    end() {},
  };
}

class LiveProgress implements Progress {
  readonly #style: Style;
  readonly #width: () => number;
  readonly #lines: ProgressLines;
  readonly #area: LiveArea;
  readonly #scripts: number | undefined;
  readonly #running = new Map<string, RunningScript>();
  readonly #counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  #done = 0;
  #startedAt: number | undefined;
  #now = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #pending = '';
  #ended = false;

  constructor(
    style: Style,
    width: () => number,
    write: (text: string) => void,
    lines: ProgressLines,
    scripts: number | undefined,
  ) {
    this.#style = style;
    this.#width = width;
    this.#lines = lines;
    this.#area = new LiveArea(write);
    this.#scripts = scripts;
  }

  handle(event: ScriptEvent): void {
    this.#ended = false;
    this.#now = Math.max(this.#now, event.at);
    this.#startedAt ??= event.at;
    this.#track(event);
    this.#pending += this.#lines.format(event);
    // Fast steps would otherwise redraw more often than anyone can read.
    if (this.#pending !== '' || this.#now - this.#drawnAt >= MIN_REDRAW_MS) this.#draw();
  }

  tick(now: number): void {
    if (this.#startedAt === undefined || this.#ended) return;
    this.#now = Math.max(this.#now, now);
    this.#draw();
  }

  end(): void {
    this.#ended = true;
    this.#area.draw([], this.#columns, this.#pending);
    this.#pending = '';
  }

  /** Some terminals report a width of 0. */
  get #columns(): number {
    return this.#width() || 80;
  }

  #track(event: ScriptEvent): void {
    const running = this.#running.get(event.file);
    if (event.type === 'run-start') {
      const { name, steps, at } = event;
      this.#running.set(event.file, { name, steps, number: 0, title: '', since: at });
    } else if (event.type === 'step-start' && running !== undefined) {
      running.number = event.number;
      running.title = event.title;
      running.since = event.at;
    } else if (event.type === 'step-end') {
      this.#counts[event.step.state]++;
    } else if (event.type === 'run-end') {
      this.#running.delete(event.file);
      this.#done++;
    }
  }

  #draw(): void {
    this.#drawnAt = this.#now;
    const columns = this.#columns;
    // Terminals disagree on the cursor position after a line of exactly the full width.
    const width = columns - 1;
    const shown = [...this.#running.values()];
    const lines = shown.slice(0, MAX_LINES).map((one) => this.#runningLine(one, width));
    if (shown.length > MAX_LINES) lines.push(this.#dimLine(`  … and ${shown.length - MAX_LINES} more`, width));
    this.#area.draw([...lines, this.#totalsLine(width)], columns, this.#pending);
    this.#pending = '';
  }

  #runningLine({ name, steps, number, title, since }: RunningScript, width: number): AreaLine {
    const { cyan, dim } = this.#style;
    const frame = frames[Math.floor(this.#now / 100) % frames.length] ?? '';
    const count = `${number}/${steps} `;
    const time = ` ${formatTicking(this.#now - since)}`;
    const room = width - 2 - countColumns(count) - countColumns(time);
    const script = fitColumns(
      toVisibleLine(name),
      Math.max(Math.floor(room / 3), room - countColumns(toVisibleLine(title)) - 1),
    );
    const step = fitColumns(toVisibleLine(title), room - countColumns(script) - 1);
    if (room < 8) return this.#dimLine(`${frame} ${count}`, width);
    const gap = step === '' ? '' : ' ';
    return {
      text: `${cyan(frame)} ${dim(count)}${script}${gap}${dim(step)}${dim(time)}`,
      columns: 2 + countColumns(count + script + gap + step + time),
    };
  }

  #totalsLine(width: number): AreaLine {
    const { passed, failed, skipped } = this.#counts;
    const all = this.#scripts === undefined ? '' : `/${this.#scripts}`;
    const parts = [
      `  ${this.#done}${all} scripts`,
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
      formatTicking(this.#now - (this.#startedAt ?? this.#now)),
    ];
    const text = fitColumns(parts.join(', '), width);
    return { text: failed > 0 ? this.#style.red(text) : this.#style.dim(text), columns: countColumns(text) };
  }

  #dimLine(words: string, width: number): AreaLine {
    const text = fitColumns(words, width);
    return { text: this.#style.dim(text), columns: countColumns(text) };
  }
}

/** Formats a running duration in tenths of a second, so that it changes at most ten times per second. */
function formatTicking(elapsedMs: number): string {
  const ms = Math.floor(Math.max(0, elapsedMs) / 100) * 100;
  return ms < 1000 ? `0.${ms / 100} s` : formatDuration(ms);
}
