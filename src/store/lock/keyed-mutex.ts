import { abortError } from '../../errors.ts';
import type { Limits } from '../../ports.ts';

/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2_147_483_647;

/** Lets the callers of one process in one after the other, for each name in the order in which they came. */
export class Turns {
  /** For each name that is taken: who waits to take it next. */
  readonly #queues = new Map<string, Set<() => void>>();
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  /** Does `work` when the turn has come; `late` makes the error for when it does not come in time. */
  take<T>(name: string, wait: Limits, late: () => Error, work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new TypeError('the store is closed'));
    const turn = this.#wait(name, wait, late)
      .then(work)
      .finally(() => this.#underWay.delete(turn));
    this.#underWay.add(turn);
    return turn;
  }

  /** How many wait behind the one whose turn it is. */
  waiting(name: string): number {
    return this.#queues.get(name)?.size ?? 0;
  }

  /** To be called at the end of `work`; the next turn begins at once. */
  leave(name: string): void {
    const [next] = this.#queues.get(name) ?? [];
    if (next === undefined) this.#queues.delete(name);
    else next();
  }

  /** Lets nobody in any more, and waits for those who are. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  #wait(name: string, { timeoutMs, signal }: Limits, late: () => Error): Promise<void> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const queue = this.#queues.get(name);
    if (queue === undefined) {
      this.#queues.set(name, new Set());
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(late())), Math.min(timeoutMs, MAX_TIMER_MS));
      const onAbort = () => settle(() => reject(abortError(signal)));
      const onTurn = () => settle(resolve);
      function settle(finish: () => void): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        queue?.delete(onTurn);
        finish();
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.add(onTurn);
    });
  }
}
