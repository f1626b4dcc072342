import type { Spelling } from './spellings.ts';

/** A place from which on characters and positions no longer run side by side, because an escape is longer than what it stands for. */
interface Shift {
  readonly before: Shift | undefined;
  /** Characters read until then. */
  readonly read: number;
  /** Position less characters read. */
  readonly by: number;
}

/** A spelling that is being followed through the text. */
export class Trace {
  /** How much of the spelling stands before the position. */
  depth = 0;
  read = 0;
  /** Characters read when the whole spelling was last there, and the position after it. */
  hitRead = -1;
  hitEnd = -1;

  constructor(
    readonly spelling: Spelling,
    public shift: Shift,
  ) {}

  fork(): Trace {
    const fork = new Trace(this.spelling, this.shift);
    fork.depth = this.depth;
    fork.read = this.read;
    fork.hitRead = this.hitRead;
    fork.hitEnd = this.hitEnd;
    return fork;
  }

  /** Where the characters that count now began. */
  get start(): number {
    return this.#positionOf(this.read - this.depth);
  }

  /** The same, of what may still become a longer or another hit. */
  get open(): number | undefined {
    const { text, borders } = this.spelling;
    const depth = this.depth === text.length ? (borders[this.depth] ?? 0) : this.depth;
    return depth === 0 ? undefined : this.#positionOf(this.read - depth);
  }

  #positionOf(read: number): number {
    let { shift } = this;
    while (shift.before !== undefined && shift.read > read) shift = shift.before;
    return read + shift.by;
  }

  /** Goes on with what was read up to `end`; tells whether there is anything left to follow. */
  advance(text: string, end: number): boolean {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      // Only a break inside the base64 is none of it.
      if (this.spelling.wraps && this.depth > 0 && isBreak(code)) continue;
      this.#take(this.spelling.fold(code));
      this.read++;
    }
    if (end !== this.read + this.shift.by) this.shift = { before: this.shift, read: this.read, by: end - this.read };
    return this.depth > 0;
  }

  #take(code: number): void {
    const { text, borders, fallbacks } = this.spelling;
    let depth = this.depth === text.length ? (borders[this.depth] ?? 0) : this.depth;
    while (text.charCodeAt(depth) !== code) {
      if (depth === 0) {
        this.depth = 0;
        return;
      }
      depth = fallbacks[depth] ?? 0;
    }
    this.depth = depth + 1;
  }
}

/** A line break, of which base64 may have any number in it. */
export function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}
