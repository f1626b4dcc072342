import type { ScriptEvent } from '../events.ts';
import type { StepResult } from '../result.ts';
import { duration } from './duration.ts';
import { countsInWords, marked, type Style } from './style.ts';
import { visibleLine } from './visible.ts';

/** What is said for good: a line for each script, with `verbose` one for each step. */
export class ProgressLines {
  readonly #style: Style;
  readonly #verbose: boolean;
  readonly #names = new Map<string, string>();
  /** The script whose steps were written last. */
  #heading = '';

  constructor(style: Style, verbose: boolean) {
    this.#style = style;
    this.#verbose = verbose;
  }

  of(event: ScriptEvent): string {
    if (event.type === 'run-start') this.#names.set(event.file, event.name);
    if (event.type === 'step-end' && this.#verbose) return this.#headingOf(event.file) + this.#step(event.step);
    if (event.type !== 'run-end') return '';
    const { file, name, state, interrupted, counts, elapsedMs } = event;
    this.#heading = '';
    const words = [
      marked(this.#style, state, state),
      this.#style.bold(visibleLine(name)),
      this.#style.dim(visibleLine(file)),
      countsInWords(this.#style, counts),
      ...(interrupted ? [this.#style.yellow('interrupted')] : []),
      this.#style.dim(duration(elapsedMs)),
    ];
    return `${words.join('  ')}\n`;
  }

  /** Scripts that run at the same time take turns: who speaks is said at each change. */
  #headingOf(file: string): string {
    if (file === this.#heading) return '';
    this.#heading = file;
    return `${this.#style.bold(visibleLine(this.#names.get(file) ?? file))}  ${this.#style.dim(visibleLine(file))}\n`;
  }

  #step({ number, title, state, reason, failure, elapsedMs, output }: StepResult): string {
    const { dim, red } = this.#style;
    const line = `  ${marked(this.#style, state, `${number} ${visibleLine(title)}`)}`;
    const more = state === 'skipped' ? dim(visibleLine(reason ?? '')) : dim(duration(elapsedMs));
    const details = [
      ...output.flatMap((text) => text.split(/\r\n?|\n/)).map((text) => dim(`    │ ${visibleLine(text)}`)),
      ...(failure === undefined ? [] : [red(`    ! ${visibleLine(failure.message)}`)]),
    ];
    return [`${line}  ${more}`, ...details, ''].join('\n');
  }
}
