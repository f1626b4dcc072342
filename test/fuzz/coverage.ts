import { type Profiler, Session } from 'node:inspector';

/** What ran between two looks. */
export interface Trace {
  /** How often functions and blocks were entered, all together: the same for the same work, on any machine. */
  readonly work: number;
  readonly functions: readonly Profiler.FunctionCoverage[];
}

/**
 * Which code runs, as V8 counts it. Only what is loaded after the start is told apart block by block. A block that ran as often as the one around it
 * is not reported for itself, so that what has run is kept character by character.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #isCounted: (url: string) => boolean;
  readonly #reached = new Map<string, Uint8Array>();
  readonly #blocks = new Map<string, Block>();

  constructor(isCounted: (url: string) => boolean) {
    this.#isCounted = isCounted;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  close(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** What ran since the last call. */
  take(): Trace {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // Within one thread the answer is there when `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, found) => {
      if (error !== null) throw error;
      scripts = found.result;
    });
    const functions = scripts.filter(({ url }) => this.#isCounted(url)).flatMap((script) => script.functions);
    let work = 0;
    for (const { ranges } of functions) for (const { count } of ranges) work += count;
    return { work, functions };
  }

  /** Whether something ran that had never run before; with `keep` it has from now on. */
  isNew({ functions }: Trace, keep: boolean): boolean {
    let found = false;
    for (const { ranges, functionName } of functions) {
      const [whole] = ranges;
      // What begins with the file is the file itself, which runs once, when it is loaded.
      if (whole === undefined || whole.count === 0 || whole.startOffset === 0) continue;
      const name = `${functionName} ${whole.startOffset} ${whole.endOffset}`;
      let reached = this.#reached.get(name);
      if (reached === undefined) {
        if (!keep) return true;
        reached = new Uint8Array(whole.endOffset - whole.startOffset);
        this.#reached.set(name, reached);
      }
      for (const [start, end] of executed(ranges)) {
        const [from, to] = [start - whole.startOffset, end - whole.startOffset];
        const gap = reached.indexOf(0, from);
        if (gap < 0 || gap >= to) continue;
        if (!keep) return true;
        found = true;
        reached.fill(1, from, to);
      }
      if (keep) {
        for (const { startOffset: start, endOffset: end } of ranges) {
          this.#blocks.set(`${name} ${start} ${end}`, { within: name, from: whole.startOffset, start });
        }
      }
    }
    return found;
  }

  /** How many of the blocks that were ever told apart have run, of those that begin at a place that counts. */
  countBlocks(isCounted: (offset: number) => boolean): number {
    const ran = [...this.#blocks.values()].filter(
      ({ within, from, start }) => this.#reached.get(within)?.[start - from] === 1,
    );
    return ran.filter(({ start }) => isCounted(start)).length;
  }
}

/** A stretch of code that runs as a whole, or does not. */
interface Block {
  /** Name of the function that it is part of, and where that begins. */
  readonly within: string;
  readonly from: number;
  readonly start: number;
}

/** The stretches of a function that ran: an inner range counts for itself, not for the one around it. */
function* executed(ranges: readonly Profiler.CoverageRange[]): Generator<[start: number, end: number]> {
  const open: { end: number; count: number }[] = [];
  let at = 0;
  for (const { startOffset, endOffset, count } of ranges) {
    for (let last = open.at(-1); last !== undefined && last.end <= startOffset; last = open.at(-1)) {
      if (last.count > 0 && last.end > at) yield [at, last.end];
      at = Math.max(at, last.end);
      open.pop();
    }
    const around = open.at(-1);
    if (around !== undefined && around.count > 0 && startOffset > at) yield [at, startOffset];
    at = startOffset;
    open.push({ end: endOffset, count });
  }
  for (let last = open.pop(); last !== undefined; last = open.pop()) {
    if (last.count > 0 && last.end > at) yield [at, last.end];
    at = Math.max(at, last.end);
  }
}
