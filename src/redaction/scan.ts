import { codesOf, Escapes } from './escapes.ts';
import { HASHES, type Heads, hashOn } from './heads.ts';
import { HEAD_LENGTH, type Spelling } from './spellings.ts';
import { isBreak, Trace } from './trace.ts';

/** Where secrets stand in a text, and from where on more text is needed to tell. */
export interface Findings {
  /** In the order of their starts; they may overlap. */
  readonly found: readonly (readonly [start: number, end: number])[];
  /** All before this is decided; the length of the text if nothing is open. */
  readonly decided: number;
}

/** A beginning of this length is followed in a way that never goes back in the text; most end before. */
const TRIED_LENGTH = 16;

/** More readings of one text at once have only texts that were made for it. */
const MAX_READINGS = 8;

/** Deeper, to look up where two readings began would cost more than it could hide. */
const COMPARED_DEPTH = 64;

/** Characters that need a second look, by their codes. */
const suspects = codesOf('%\\&\'"]\n\r');

/** A line end inside of base64: what follows is at least the rest of the shortest secret's. */
const wrap = /(?<=[\w+/-])(?:\r?\n(?=[\w+/%\\&-]{7}|[\w+/%\\&-]*$)|\r$)/y;

/** One pass over a text: every spelling is followed along every way to read the text, each position once. */
export class Scan {
  readonly #escapes: Escapes;
  readonly #found: [number, number][] = [];
  /** What comes to later positions by escapes. */
  readonly #later = new Map<number, Trace[]>();
  #traces: Trace[] = [];
  #special = -1;
  readonly #steps = new Set<number>();
  #decided: number;

  constructor(
    readonly text: string,
    readonly heads: Heads,
    /** Whether no more text follows. */
    readonly complete: boolean,
  ) {
    this.#escapes = new Escapes(text);
    this.#decided = text.length;
  }

  run(): Findings {
    const { length } = this.text;
    for (let at = 0; at < length; at++) {
      const arrived = this.#later.get(at);
      if (arrived !== undefined) {
        this.#later.delete(at);
        for (const trace of arrived) this.#keep(this.#traces, trace);
      }
      if (this.#traces.length === 0 && this.#later.size === 0) {
        at = this.#nextStart(at);
        if (at >= length) break;
      }
      this.#begin(at);
      if (this.#traces.length > 0) this.#step(at);
    }
    for (const trace of [...this.#traces, ...(this.#later.get(length) ?? [])]) this.#leaveOpen(trace.open);
    this.#found.sort(([one], [other]) => one - other);
    return { found: this.#found, decided: this.#decided };
  }

  /** The next position where something may begin; nothing is being followed. */
  #nextStart(at: number): number {
    const plain = this.#plainUntil(at) - HEAD_LENGTH + 1;
    return at < plain ? this.heads.next(this.text, at, plain) : at;
  }

  /** How far every character stands for itself. */
  #plainUntil(at: number): number {
    if (this.#special < at) {
      const { text } = this;
      let next = at;
      while (next < text.length && !this.#isSpecial(next)) next++;
      this.#special = next;
    }
    return this.#special;
  }

  /** Whether an escape may begin, or base64 go on in the next line. */
  #isSpecial(at: number): boolean {
    const code = this.text.charCodeAt(at);
    if (suspects[code] !== 1) return false;
    if (!isBreak(code)) return this.#escapes.beginsAt(at);
    wrap.lastIndex = at;
    return wrap.test(this.text);
  }

  #begin(at: number): void {
    const plain = this.#plainUntil(at);
    if (at + HEAD_LENGTH <= plain) {
      let hash = 0;
      for (let end = at; end < at + HEAD_LENGTH; end++) hash = hashOn(hash, this.text.charCodeAt(end));
      for (const spelling of this.heads.with(hash)) this.#try(spelling, at, plain);
      return;
    }
    const hashes: number[] = [];
    this.#steps.clear();
    const tooShort = this.#collectHeads(at, 0, 0, hashes);
    for (const hash of hashes) for (const spelling of this.heads.with(hash)) this.#try(spelling, at, plain);
    if (!tooShort || this.complete) return;
    this.#escapes.ranOut = false;
    for (const { text } of [{ text: this.text.charAt(at) }, ...this.#escapes.at(at)]) {
      for (const spelling of this.heads.withFirst(text.charCodeAt(0))) this.#try(spelling, at, plain);
    }
    // Whatever a secret begins with, it may be escaped.
    if (this.#escapes.ranOut && /[%\\&]/.test(this.text.charAt(at))) this.#leaveOpen(at);
  }

  /** The hashes of all known heads that can be read at a position; tells whether the text ended before one of them did. */
  #collectHeads(at: number, length: number, hash: number, hashes: number[]): boolean {
    if (length > 0 && !this.heads.has(hash, length)) return false;
    if (length === HEAD_LENGTH) {
      if (!hashes.includes(hash)) hashes.push(hash);
      return false;
    }
    // Many ways of reading may come together again.
    const step = (at * HEAD_LENGTH + length) * HASHES + hash;
    if (this.#steps.has(step)) return false;
    if (length > 0) this.#steps.add(step);
    if (at >= this.text.length) return true;
    const code = this.text.charCodeAt(at);
    let tooShort = this.#collectHeads(at + 1, length + 1, hashOn(hash, code), hashes);
    if (length > 0 && isBreak(code) && this.#collectHeads(at + 1, length, hash, hashes)) tooShort = true;
    this.#escapes.ranOut = false;
    const escaped = this.#escapes.at(at);
    if (this.#escapes.ranOut) tooShort = true;
    for (const { text, end } of escaped) {
      let on = hash;
      let reached = length;
      for (let unit = 0; unit < text.length && reached < HEAD_LENGTH; unit++, reached++)
        on = hashOn(on, text.charCodeAt(unit));
      if (this.#collectHeads(end, reached, on, hashes)) tooShort = true;
      if (length > 0 && isBreak(text.charCodeAt(0)) && this.#collectHeads(end, length, hash, hashes)) tooShort = true;
    }
    return tooShort;
  }

  /** Begins to follow a spelling, unless a few plain characters show that it is not there. */
  #try(spelling: Spelling, at: number, plain: number): void {
    const { text, fold } = spelling;
    const length = Math.min(TRIED_LENGTH, text.length);
    for (let read = 0; read < length && at + read < plain; read++) {
      if (fold(this.text.charCodeAt(at + read)) !== text.charCodeAt(read)) return;
    }
    // What is followed already would find it too.
    if (this.#traces.some((trace) => trace.spelling === spelling)) return;
    this.#traces.push(new Trace(spelling, { before: undefined, read: 0, by: at }));
  }

  /** Reads what stands at a position, in every way, for all that is followed. */
  #step(at: number): void {
    this.#escapes.ranOut = false;
    const escaped = this.#escapes.at(at);
    const { ranOut } = this.#escapes;
    const char = this.text.charAt(at);
    const going: Trace[] = [];
    for (const trace of this.#traces) {
      if (ranOut) this.#leaveOpen(trace.open ?? at);
      for (const { text, end } of escaped) {
        const fork = trace.fork();
        if (!fork.advance(text, end)) continue;
        this.#report(fork, end);
        const arriving = this.#later.get(end);
        if (arriving === undefined) this.#later.set(end, [fork]);
        else this.#keep(arriving, fork);
      }
      if (!trace.advance(char, at + 1)) continue;
      this.#report(trace, at + 1);
      going.push(trace);
    }
    this.#traces = going;
  }

  #report(trace: Trace, end: number): void {
    const { text } = trace.spelling;
    if (trace.depth < text.length || trace.hitRead === trace.read) return;
    // Looking up the start of each of many hits that overlap would take the square of the time.
    const overlaps = trace.hitRead > trace.read - text.length;
    const start = overlaps ? trace.hitEnd - 1 : trace.start;
    trace.hitRead = trace.read;
    trace.hitEnd = end;
    const last = this.#found.at(-1);
    if (last !== undefined && last[0] <= start && start < last[1]) last[1] = Math.max(last[1], end);
    else this.#found.push([start, end]);
  }

  /** Of two that have come as far, the one that began earlier hides more. */
  #keep(traces: Trace[], trace: Trace): void {
    let readings = 0;
    for (const [index, other] of traces.entries()) {
      if (other.spelling !== trace.spelling) continue;
      if (other.depth === trace.depth) {
        if (trace.depth <= COMPARED_DEPTH && trace.start < other.start) traces[index] = trace;
        return;
      }
      if (++readings < MAX_READINGS) continue;
      if (trace.depth > other.depth) traces[index] = trace;
      return;
    }
    traces.push(trace);
  }

  #leaveOpen(at: number | undefined): void {
    if (!this.complete && at !== undefined && at < this.#decided) this.#decided = at;
  }
}
