import type { ScriptEvent } from '../events.ts';
import { columnsOf, fitColumns } from '../fit-columns.ts';
import type { StepState } from '../result.ts';
import { duration } from './duration.ts';
import { type AreaLine, LiveArea } from './live-area.ts';
import { ProgressLines } from './progress-lines.ts';
import type { Style } from './style.ts';
import { visibleLine } from './visible.ts';

/** Shows a run while it goes on. */
export interface Progress {
  handle(event: ScriptEvent): void;
  /** Lets the clocks of a live area go on; to be called a few times a second with epoch milliseconds. */
  tick(now: number): void;
  /** Takes the live area away; what was said for good stays. */
  end(): void;
}

/** How progress is shown. */
export interface ProgressOptions {
  /** A terminal that can move its cursor; else only whole lines are written. */
  readonly live?: boolean;
  /** Every step, not only every script. */
  readonly verbose?: boolean;
  /** How many scripts there are to run. */
  readonly scripts?: number;
}

/** A running script. */
interface Running {
  readonly name: string;
  readonly steps: number;
  number: number;
  title: string;
  /** When its current step began. */
  since: number;
}

const MAX_LINES = 6;
const MIN_REDRAW_MS = 50;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Shows progress as lines of text, on a terminal with a live area below them; `width` is asked for at every drawing. */
export function progress(
  style: Style,
  width: () => number,
  write: (text: string) => void,
  options: ProgressOptions = {},
): Progress {
  const lines = new ProgressLines(style, options.verbose ?? false);
  if (options.live) return new LiveProgress(style, width, write, lines, options.scripts);
  return {
    handle(event) {
      const text = lines.of(event);
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
  readonly #running = new Map<string, Running>();
  readonly #counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  #done = 0;
  #startedAt: number | undefined;
  #now = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #said = '';
  #over = false;

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
    this.#over = false;
    this.#now = Math.max(this.#now, event.at);
    this.#startedAt ??= event.at;
    this.#follow(event);
    this.#said += this.#lines.of(event);
    // Steps may pass faster than anyone can read.
    if (this.#said !== '' || this.#now - this.#drawnAt >= MIN_REDRAW_MS) this.#draw();
  }

  tick(now: number): void {
    if (this.#startedAt === undefined || this.#over) return;
    this.#now = Math.max(this.#now, now);
    this.#draw();
  }

  end(): void {
    this.#over = true;
    this.#area.draw([], this.#columns, this.#said);
    this.#said = '';
  }

  /** Some terminals say 0 for what they do not know. */
  get #columns(): number {
    return this.#width() || 80;
  }

  #follow(event: ScriptEvent): void {
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
    // A line as wide as the terminal would leave the cursor where terminals disagree.
    const width = columns - 1;
    const shown = [...this.#running.values()];
    const lines = shown.slice(0, MAX_LINES).map((one) => this.#runningLine(one, width));
    if (shown.length > MAX_LINES) lines.push(this.#dimLine(`  … and ${shown.length - MAX_LINES} more`, width));
    this.#area.draw([...lines, this.#totalsLine(width)], columns, this.#said);
    this.#said = '';
  }

  #runningLine({ name, steps, number, title, since }: Running, width: number): AreaLine {
    const { cyan, dim } = this.#style;
    const frame = frames[Math.floor(this.#now / 100) % frames.length] ?? '';
    const count = `${number}/${steps} `;
    const time = ` ${ticking(this.#now - since)}`;
    const room = width - 2 - columnsOf(count) - columnsOf(time);
    const script = fitColumns(
      visibleLine(name),
      Math.max(Math.floor(room / 3), room - columnsOf(visibleLine(title)) - 1),
    );
    const step = fitColumns(visibleLine(title), room - columnsOf(script) - 1);
    if (room < 8) return this.#dimLine(`${frame} ${count}`, width);
    const gap = step === '' ? '' : ' ';
    return {
      text: `${cyan(frame)} ${dim(count)}${script}${gap}${dim(step)}${dim(time)}`,
      columns: 2 + columnsOf(count + script + gap + step + time),
    };
  }

  #totalsLine(width: number): AreaLine {
    const { passed, failed, skipped } = this.#counts;
    const all = this.#scripts === undefined ? '' : `/${this.#scripts}`;
    const words = [
      `  ${this.#done}${all} scripts`,
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
      ticking(this.#now - (this.#startedAt ?? this.#now)),
    ];
    const text = fitColumns(words.join(', '), width);
    return { text: failed > 0 ? this.#style.red(text) : this.#style.dim(text), columns: columnsOf(text) };
  }

  #dimLine(words: string, width: number): AreaLine {
    const text = fitColumns(words, width);
    return { text: this.#style.dim(text), columns: columnsOf(text) };
  }
}

/** A time that goes on: tenths of a second, so that no drawing differs from the last one more often. */
function ticking(elapsedMs: number): string {
  const ms = Math.floor(Math.max(0, elapsedMs) / 100) * 100;
  return ms < 1000 ? `0.${ms / 100} s` : duration(ms);
}
