import { monotonicMs } from '../monotonic.ts';

/** A time that is running. */
export interface TimeLimit {
  readonly endsAt: number;
  readonly onEnd: () => void;
  /** Where it stands among the others. */
  place: number;
}

/** Calls back when a time is over. One timer serves them all: starting and stopping one for each request costs more than writing the request. */
export class TimeLimits {
  readonly #running: TimeLimit[] = [];
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  start(ms: number, onEnd: () => void): TimeLimit {
    const endsAt = monotonicMs() + ms;
    const limit = { endsAt, onEnd, place: this.#running.length };
    this.#running.push(limit);
    if (endsAt < this.#dueAt) this.#wake(endsAt);
    return limit;
  }

  /** Also for one that has ended. The timer is left to run: most likely the next limit needs it. */
  stop(limit: TimeLimit): void {
    const { place } = limit;
    if (this.#running[place] !== limit) return;
    const last = this.#running.pop();
    if (last === undefined || last === limit) return;
    this.#running[place] = last;
    last.place = place;
  }

  #wake(at: number): void {
    clearTimeout(this.#timer);
    this.#dueAt = at;
    // What is limited keeps the process alive, not the limit.
    this.#timer = setTimeout(this.#check, Math.ceil(at - monotonicMs())).unref();
  }

  #check = (): void => {
    this.#dueAt = Number.POSITIVE_INFINITY;
    const time = monotonicMs();
    for (const limit of this.#running.filter(({ endsAt }) => endsAt <= time)) {
      this.stop(limit);
      limit.onEnd();
    }
    const next = this.#running.reduce((least, { endsAt }) => Math.min(least, endsAt), Number.POSITIVE_INFINITY);
    if (next < this.#dueAt) this.#wake(next);
  };
}
