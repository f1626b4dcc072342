import { OAuthProfileError } from '../../src/errors.ts';
import type { Clock } from '../../src/ports.ts';

/** Time that passes when a test says so. */
export class ManualClock implements Clock {
  time = Date.UTC(2027, 0, 1);
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  now = (): number => this.time;

  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.time + ms, wake: () => resolve() };
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        reject(new OAuthProfileError('aborted', 'the request was aborted'));
      };
      if (signal?.aborted) return leave();
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** How long each sleeper has still to wait, shortest first. */
  get waiting(): number[] {
    return [...this.#sleepers].map(({ at }) => at - this.time).sort((one, other) => one - other);
  }

  /** Lets time pass, and whoever is due wake up. */
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

/** Lets everything go on that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
