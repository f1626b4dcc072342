/** Calls back when a time is over. One timer serves them all: starting and stopping one for each request costs more than writing the request. */
export class TimeLimits {
  readonly #ends = new Map<() => void, number>();
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  add(ms: number, onEnd: () => void): void {
    const endsAt = performance.now() + ms;
    this.#ends.set(onEnd, endsAt);
    if (endsAt < this.#dueAt) this.#wake(endsAt);
  }

  delete(onEnd: () => void): void {
    this.#ends.delete(onEnd);
  }

  #wake(at: number): void {
    clearTimeout(this.#timer);
    this.#dueAt = at;
    // What is limited keeps the process alive, not the limit.
    this.#timer = setTimeout(this.#check, Math.ceil(at - performance.now())).unref();
  }

  #check = (): void => {
    this.#dueAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const [onEnd, endsAt] of this.#ends) {
      if (endsAt <= now) {
        this.#ends.delete(onEnd);
        onEnd();
      } else if (endsAt < this.#dueAt) this.#wake(endsAt);
    }
  };
}
