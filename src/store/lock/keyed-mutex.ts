import { abortError } from '../../errors.ts';
import type { Limits } from '../../ports.ts';

/** The longest delay that `setTimeout` accepts. */
const MAX_TIMER_MS = 2_147_483_647;

/** One lock per key among the callers of this process, granted in the order of the calls. */
export class KeyedMutex {
  /** For each locked key, the callers that wait for it. */
  readonly #queues = new Map<string, Set<() => void>>();
  #onIdle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  isLocked(key: string): boolean {
    return this.#queues.has(key);
  }

  /** Waits for the lock of `key` and returns the function that releases it. Rejects with `timeoutError()` after `timeoutMs`. */
  async acquire(key: string, { timeoutMs, signal }: Limits, timeoutError: () => Error): Promise<() => void> {
    if (this.#closing !== undefined) throw new TypeError('the store is closed');
    if (signal?.aborted) throw abortError(signal);
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, new Set());
    else await waitInQueue(queue, timeoutMs, signal, timeoutError);
    return () => this.#release(key);
  }

  /** Rejects new callers, and waits until all others have released their locks. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#queues.size === 0) resolve();
    });
    return this.#closing;
  }

  #release(key: string): void {
    const [grantNext] = this.#queues.get(key) ?? [];
    if (grantNext !== undefined) grantNext();
    else this.#queues.delete(key);
    if (this.#queues.size === 0) this.#onIdle?.();
  }
}

function waitInQueue(
  queue: Set<() => void>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  timeoutError: () => Error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(timeoutError())), Math.min(timeoutMs, MAX_TIMER_MS));
    const onAbort = () => settle(() => reject(abortError(signal)));
    const onTurn = () => settle(resolve);
    function settle(finish: () => void): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      queue.delete(onTurn);
      finish();
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    queue.add(onTurn);
  });
}
