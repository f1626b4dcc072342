import { abortError } from '../errors.ts';
import type { Clock } from '../ports.ts';

/** A piece of work that several callers wait for. */
interface Flight<T> {
  readonly work: Promise<T>;
  readonly abandoned: AbortController;
  /** From now on nobody joins. */
  readonly close: () => void;
  callers: number;
}

/** How long a caller waits. */
interface Wait {
  readonly signal: AbortSignal | undefined;
  /** Without it, until the work ends. */
  readonly timeout?: { readonly ms: number; readonly error: () => Error };
}

/** Callers of one process that want the same: as long as the work has not begun, they share it, and its failure too. */
export class Flights<T> {
  readonly #boarding = new Map<string, Flight<T>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for the flight with this key, a new one unless one is boarding. An abort or the time-out detaches the caller alone; `work` gets a
   * signal that is aborted when everybody has left, and a function to call when it begins and nobody may join any more.
   */
  join(key: string, work: (abandoned: AbortSignal, close: () => void) => Promise<T>, wait: Wait): Promise<T> {
    const { signal, timeout } = wait;
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const flight = this.#boarding.get(key) ?? this.#open(key, work);
    flight.callers++;
    // A thousand callers who cannot leave before it ends share one promise.
    return signal === undefined && timeout === undefined ? flight.work : this.#waitFor(flight, wait);
  }

  async #waitFor(flight: Flight<T>, wait: Wait): Promise<T> {
    try {
      return await this.#earliest(flight.work, wait);
    } finally {
      if (--flight.callers === 0) {
        // Whoever comes now did not abort anything.
        flight.close();
        flight.abandoned.abort();
      }
    }
  }

  #open(key: string, work: Parameters<Flights<T>['join']>[1]): Flight<T> {
    const abandoned = new AbortController();
    const close = (): void => {
      if (this.#boarding.get(key) === flight) this.#boarding.delete(key);
    };
    const begun = Promise.resolve().then(() => work(abandoned.signal, close));
    const flight: Flight<T> = { work: begun, abandoned, close, callers: 0 };
    this.#boarding.set(key, flight);
    // Whoever waits hears of a failure; when all have left, nobody needs to.
    begun.then(close, close);
    return flight;
  }

  async #earliest(work: Promise<T>, { signal, timeout }: Wait): Promise<T> {
    const over = new AbortController();
    let leave = (): void => {};
    const waits: Promise<T>[] = [work];
    if (signal !== undefined) {
      waits.push(
        new Promise((_, reject) => {
          leave = () => reject(abortError(signal));
          signal.addEventListener('abort', leave);
        }),
      );
    }
    if (timeout !== undefined) {
      waits.push(
        this.#clock.sleep(timeout.ms, over.signal).then(() => {
          throw timeout.error();
        }),
      );
    }
    try {
      return await Promise.race(waits);
    } finally {
      signal?.removeEventListener('abort', leave);
      over.abort();
    }
  }
}
