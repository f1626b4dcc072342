/** Chance that repeats itself: the same seed gives the same numbers (xorshift, Marsaglia 2003). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) | 0 || 1;
    for (let turn = 0; turn < 8; turn++) this.#next();
  }

  #next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return state >>> 0;
  }

  /** An integer from 0 up to, and without, `end`. */
  below(end: number): number {
    return end <= 1 ? 0 : this.#next() % end;
  }

  /** Rather small than large. */
  small(end: number): number {
    return this.below(this.below(end) + 1);
  }

  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}
