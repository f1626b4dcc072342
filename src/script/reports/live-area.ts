/** A line of the area; `columns` is its width without colour codes. */
export interface AreaLine {
  readonly text: string;
  readonly columns: number;
}

const CLEAR_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** The last lines of a terminal, redrawn in place; only changes are written. The cursor stays at the start of the line below. */
export class LiveArea {
  readonly #write: (text: string) => void;
  #lines: readonly AreaLine[] = [];
  #width = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Shows `lines`, each narrower than `width`; `above` is printed before them and stays in the scrollback. */
  draw(lines: readonly AreaLine[], width: number, above = ''): void {
    const resized = this.#lines.length > 0 && width !== this.#width;
    this.#width = width;
    if (above !== '' || resized) this.#redraw(lines, above);
    else this.#update(lines);
    this.#lines = lines;
  }

  #redraw(lines: readonly AreaLine[], above: string): void {
    // A terminal that became narrower has wrapped the lines.
    const rows = this.#lines.reduce((sum, { columns }) => sum + Math.max(1, Math.ceil(columns / this.#width)), 0);
    const erased = rows === 0 ? '' : `${up(rows)}\r${CLEAR_BELOW}`;
    this.#write(erased + above + lines.map(({ text }) => `${text}\n`).join(''));
  }

  #update(lines: readonly AreaLine[]): void {
    const before = this.#lines;
    let row = before.length;
    let text = '';
    const goTo = (target: number): void => {
      text += target < row ? up(row - target) : down(target - row);
      row = target;
    };
    for (const [index, line] of lines.entries()) {
      if (index >= before.length) {
        goTo(index);
        text += `${line.text}\n`;
        row++;
      } else if (line.text !== before[index]?.text) {
        goTo(index);
        text += `\r${line.text}${CLEAR_LINE_END}\r`;
      }
    }
    goTo(lines.length);
    if (lines.length < before.length) text += `\r${CLEAR_BELOW}`;
    if (text !== '') this.#write(text);
  }
}

function up(rows: number): string {
  return rows === 0 ? '' : `\u001b[${rows}A`;
}

function down(rows: number): string {
  return rows === 0 ? '' : `\u001b[${rows}B`;
}
