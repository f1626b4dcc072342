import type { ScriptEvent } from '../events.ts';
import type { StepResult } from '../result.ts';
import { formatCounts, formatDuration, type Style, toVisibleLine, withSymbol } from './format.ts';

/** Formats the lines that stay on the screen: one per script, with `verbose` one per step. */
export class ProgressLines {
  readonly #style: Style;
  readonly #verbose: boolean;
  readonly #names = new Map<string, string>();
  /** File of the script whose steps were printed last. */
  #currentFile = '';

  constructor(style: Style, verbose: boolean) {
    this.#style = style;
    this.#verbose = verbose;
  }

  format(event: ScriptEvent): string {
    if (event.type === 'run-start') this.#names.set(event.file, event.name);
    if (event.type === 'step-end' && this.#verbose)
      return this.#formatHeading(event.file) + this.#formatStep(event.step);
    if (event.type !== 'run-end') return '';
    const { file, name, state, interrupted, counts, elapsedMs } = event;
    this.#currentFile = '';
    const columns = [
      withSymbol(this.#style, state, state),
      this.#style.bold(toVisibleLine(name)),
      this.#style.dim(toVisibleLine(file)),
      formatCounts(this.#style, counts),
      ...(interrupted ? [this.#style.yellow('interrupted')] : []),
      this.#style.dim(formatDuration(elapsedMs)),
    ];
    return `${columns.join('  ')}\n`;
  }

  /** Scripts that run in parallel alternate: a heading is printed at each change. */
  #formatHeading(file: string): string {
    if (file === this.#currentFile) return '';
    this.#currentFile = file;
    return `${this.#style.bold(toVisibleLine(this.#names.get(file) ?? file))}  ${this.#style.dim(toVisibleLine(file))}\n`;
  }

  #formatStep({ number, title, state, reason, failure, elapsedMs, output }: StepResult): string {
    const { dim, red } = this.#style;
    const line = `  ${withSymbol(this.#style, state, `${number} ${toVisibleLine(title)}`)}`;
    const more = state === 'skipped' ? dim(toVisibleLine(reason ?? '')) : dim(formatDuration(elapsedMs));
    const details = [
      ...output.flatMap((text) => text.split(/\r\n?|\n/)).map((text) => dim(`    │ ${toVisibleLine(text)}`)),
      ...(failure === undefined ? [] : [red(`    ! ${toVisibleLine(failure.message)}`)]),
    ];
    return [`${line}  ${more}`, ...details, ''].join('\n');
  }
}
