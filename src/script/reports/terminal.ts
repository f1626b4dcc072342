import type { ScriptEvent } from '../events.ts';
import { countColumns, fitColumns } from '../fit-columns.ts';
import type { StepResult, StepState } from '../result.ts';
import { formatCounts, formatDuration, type Style, toVisibleLine, withSymbol } from './format.ts';
import { fullTitle, isFlaky } from './report.ts';

/** Shows the progress of a run. */
export interface Progress {
  handle(event: ScriptEvent): void;
  /** Updates the duration in the status line; call it a few times per second with epoch milliseconds. */
  tick(now: number): void;
  /** Removes the status line; printed lines stay. */
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

const MIN_REDRAW_MS = 50;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Shows progress as lines of text, on a terminal with a status line below them. `width` is called for every redraw. */
export function createProgress(
  style: Style,
  width: () => number,
  write: (text: string) => void,
  options: ProgressOptions = {},
): Progress {
  const format = createFormatter(style, options.verbose ?? false);
  if (options.live) return new LiveProgress(style, width, write, format, options.scripts);
  return {
    handle(event) {
      const text = format(event);
      if (text !== '') write(text);
    },
    tick() {},
    end() {},
  };
}

/** Returns a function that formats the lines that stay on the screen: one per script and the output of base.verbose; with `verbose` all steps. */
function createFormatter(style: Style, verbose: boolean): (event: ScriptEvent) => string {
  const { bold, dim, yellow } = style;
  const names = new Map<string, string>();
  let currentFile = '';
  return (event) => {
    const { file } = event;
    if (event.type === 'run-start') names.set(file, event.name);
    if (event.type === 'step-end' && (verbose || isPrinted(event.step))) {
      // Scripts that run in parallel alternate: a heading is printed at each change.
      const heading = `${bold(toVisibleLine(names.get(file) ?? file))}  ${dim(toVisibleLine(file))}\n`;
      const isChanged = file !== currentFile;
      currentFile = file;
      return (isChanged ? heading : '') + (verbose ? formatStep(event.step, style) : formatOutput(event.step, style));
    }
    if (event.type === 'step-retry' && verbose)
      return `${dim(`  … attempt ${event.attempt}: ${toVisibleLine(fullTitle(event.step))}  ${event.step.state}`)}\n`;
    if (event.type !== 'run-end') return '';
    currentFile = '';
    const columns = [
      withSymbol(style, event.state, event.state),
      bold(toVisibleLine(event.name)),
      dim(toVisibleLine(file)),
      formatCounts(style, event.counts),
      ...(event.interrupted ? [yellow('interrupted')] : []),
      ...(isFlaky(event) ? [yellow(`flaky, ${event.attempts} attempts`)] : []),
      dim(formatDuration(event.elapsedMs)),
    ];
    return `${columns.join('  ')}\n`;
  };
}

function isPrinted({ command, output }: StepResult): boolean {
  return command === 'base.verbose' && output.length > 0;
}

function formatOutput({ output }: StepResult, { dim }: Style): string {
  const lines = output.flatMap((text) => text.split(/\r\n?|\n/));
  return lines.map((text) => `${dim(`    │ ${toVisibleLine(text)}`)}\n`).join('');
}

function formatStep(step: StepResult, style: Style): string {
  const { number, state, reason, failure, elapsedMs, attempts } = step;
  const { dim, red } = style;
  const repeated = attempts === undefined ? '' : ` (${attempts} attempts)`;
  const line = `  ${withSymbol(style, state, `${number} ${toVisibleLine(fullTitle(step))}${repeated}`)}`;
  const more = state === 'skipped' ? dim(toVisibleLine(reason ?? '')) : dim(formatDuration(elapsedMs));
  const problem = failure === undefined ? '' : `${red(`    ! ${toVisibleLine(failure.message)}`)}\n`;
  return `${line}  ${more}\n${formatOutput(step, style)}${problem}`;
}

/** Redraws one status line below the printed lines. The cursor stays at the start of the line after it. */
class LiveProgress implements Progress {
  /** The current step of each running script, by file; the latest step is last. */
  readonly #running = new Map<string, string>();
  readonly #counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  #done = 0;
  #startedAt: number | undefined;
  #now = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #line = '';

  constructor(
    readonly style: Style,
    readonly width: () => number,
    readonly write: (text: string) => void,
    readonly format: (event: ScriptEvent) => string,
    readonly scripts: number | undefined,
  ) {}

  handle(event: ScriptEvent): void {
    this.#now = Math.max(this.#now, event.at);
    this.#startedAt ??= event.at;
    this.#track(event);
    const text = this.format(event);
    // Fast steps would otherwise redraw more often than anyone can read.
    if (text !== '' || this.#now - this.#drawnAt >= MIN_REDRAW_MS) this.#draw(text, this.#statusLine());
  }

  tick(now: number): void {
    if (this.#startedAt === undefined) return;
    this.#now = Math.max(this.#now, now);
    this.#draw('', this.#statusLine());
  }

  end(): void {
    this.#startedAt = undefined;
    this.#draw('', '');
  }

  #track(event: ScriptEvent): void {
    const { file } = event;
    if (event.type === 'run-start') this.#running.set(file, event.name);
    if (event.type === 'step-start') {
      this.#running.delete(file);
      this.#running.set(file, event.title);
    }
    if (event.type === 'step-end') this.#counts[event.step.state]++;
    if (event.type === 'run-end') {
      this.#running.delete(file);
      this.#done++;
    }
  }

  #statusLine(): string {
    const { passed, failed, skipped } = this.#counts;
    const frame = frames[Math.floor(this.#now / 100) % frames.length];
    const all = this.scripts === undefined ? '' : `/${this.scripts}`;
    const parts = [
      `${frame} ${this.#done}${all} scripts`,
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
      formatTicking(this.#now - (this.#startedAt ?? this.#now)),
      ...[...this.#running.values()].slice(-1).map(toVisibleLine),
    ];
    // Terminals disagree on the cursor position after a line of exactly the full width.
    return fitColumns(parts.join(', '), this.#columns - 1);
  }

  #draw(above: string, line: string): void {
    this.#drawnAt = this.#now;
    const columns = this.#columns;
    // A terminal that became narrower has wrapped the line.
    const rows = Math.ceil(countColumns(this.#line) / columns);
    if (above === '' && line === this.#line && rows <= 1) return;
    const paint = this.#counts.failed > 0 ? this.style.red : this.style.dim;
    const clear = rows === 0 ? '' : `\u001b[${rows}A\r${CLEAR_BELOW}`;
    this.write(clear + above + (line === '' ? '' : `${paint(line)}\n`));
    this.#line = line;
  }

  /** Some terminals report a width of 0. */
  get #columns(): number {
    return this.width() || 80;
  }
}

/** Formats a running duration in tenths of a second, so that it changes at most ten times per second. */
function formatTicking(elapsedMs: number): string {
  const ms = Math.floor(Math.max(0, elapsedMs) / 100) * 100;
  return ms < 1000 ? `0.${ms / 100} s` : formatDuration(ms);
}

const CLEAR_BELOW = '\u001b[J';
