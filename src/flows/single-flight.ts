import { abortError } from '../errors.ts';
import type { Clock } from '../ports.ts';

/** Work that several callers wait for. */
interface Flight<T> {
  readonly result: Promise<T>;
  readonly abandoned: AbortController;
  /** No caller may join after this. */
  readonly close: () => void;
  callers: number;
}

/** What the work of a flight gets. */
export interface FlightControl {
  /** Aborted when every caller has left. */
  readonly signal: AbortSignal;
  /** Call when the work can no longer be shared with new callers. */
  readonly close: () => void;
}

/** How long a caller waits. */
interface WaitOptions {
  readonly signal: AbortSignal | undefined;
  /** Without it, the caller waits until the work ends. */
  readonly timeout?: { readonly ms: number; readonly error: () => Error };
}

/** Runs the same work once for all callers of a process that ask for it before it begins. They share its result or its error. */
export class SingleFlight {
  readonly #flights = new Map<string, Flight<unknown>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Joins the flight with this key, or starts one. An abort or a timeout detaches only its caller. */
  run<T>(key: string, work: (control: FlightControl) => Promise<T>, options: WaitOptions): Promise<T> {
    const { signal, timeout } = options;
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const flight = (this.#flights.get(key) as Flight<T> | undefined) ?? this.#start(key, work);
    flight.callers++;
    return signal === undefined && timeout === undefined ? flight.result : this.#waitFor(flight, options);
  }

  #start<T>(key: string, work: (control: FlightControl) => Promise<T>): Flight<T> {
    const abandoned = new AbortController();
    const close = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    const result = Promise.resolve().then(() => work({ signal: abandoned.signal, close }));
    const flight: Flight<T> = { result, abandoned, close, callers: 0 };
    this.#flights.set(key, flight);
    // Also handles the rejection of a flight that every caller has left.
    result.then(close, close);
    return flight;
  }

  async #waitFor<T>(flight: Flight<T>, { signal, timeout }: WaitOptions): Promise<T> {
    const done = new AbortController();
    const waits: Promise<T>[] = [flight.result];
    let onAbort = (): void => {};
    if (signal !== undefined) {
      waits.push(
        new Promise((_, reject) => {
          onAbort = () => reject(abortError(signal));
          signal.addEventListener('abort', onAbort);
        }),
      );
    }
    if (timeout !== undefined) {
      waits.push(
        this.#clock.sleep(timeout.ms, done.signal).then(() => {
          throw timeout.error();
        }),
      );
    }
    try {
      return await Promise.race(waits);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      done.abort();
      if (--flight.callers === 0) {
        flight.close();
        flight.abandoned.abort();
      }
    }
  }
}
