import { abortError } from '../../src/errors.ts';
import type { Clock } from '../../src/ports.ts';

/** A clock that a test advances. */
export class ManualClock implements Clock {
  time = Date.UTC(2027, 0, 1);
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  now = (): number => this.time;

  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      };
      const sleeper = { at: this.time + ms, wake };
      const cancel = (): void => {
        this.#sleepers.delete(sleeper);
        reject(abortError(signal));
      };
      if (signal?.aborted) return cancel();
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Remaining time of each pending sleep in milliseconds, shortest first. */
  get pending(): number[] {
    return [...this.#sleepers].map(({ at }) => at - this.time).sort((one, other) => one - other);
  }

  /** Advances the time and ends the sleeps that are over. */
  async advance(ms: number): Promise<void> {
    this.time += ms;
    for (const sleeper of [...this.#sleepers]) {
      if (sleeper.at > this.time) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
    await settle();
  }
}

/** Runs everything that does not wait for a clock or a gate. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
