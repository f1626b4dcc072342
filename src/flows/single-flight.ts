import { abortError } from '../errors.ts';
import type { Clock } from '../ports.ts';

/** Work in progress that several callers wait for. */
interface Call<T> {
  readonly result: Promise<T>;
  readonly abandoned: AbortController;
  /** No caller may join after this. */
  readonly close: () => void;
  callers: number;
  /** The work has its result and only stores it. */
  isStoring: boolean;
}

/** Passed to the work of {@link SingleFlight.run}. */
export interface CallControl {
  /** Aborted when every caller has left. */
  readonly signal: AbortSignal;
  /** Call when the work can no longer be shared with new callers. */
  readonly close: () => void;
  /** Call when the result has arrived and is only being stored: callers then wait for it beyond their timeout. */
  readonly onResponse: () => void;
}

/** How long a caller waits. */
interface WaitOptions {
  readonly signal: AbortSignal | undefined;
  /** Without it, the caller waits until the work ends. */
  readonly timeout?: { readonly ms: number; readonly error: () => Error };
}

/** Runs the same work once for all callers of a process that ask for it before it begins. They share its result or its error. */
export class SingleFlight {
  readonly #calls = new Map<string, Call<unknown>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Joins the work in progress with this key, or starts it. An abort or a timeout detaches only its caller. */
  run<T>(key: string, work: (control: CallControl) => Promise<T>, options: WaitOptions): Promise<T> {
    const { signal, timeout } = options;
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const call = (this.#calls.get(key) as Call<T> | undefined) ?? this.#start(key, work);
    call.callers++;
    return signal === undefined && timeout === undefined ? call.result : this.#waitFor(call, options);
  }

  #start<T>(key: string, work: (control: CallControl) => Promise<T>): Call<T> {
    const abandoned = new AbortController();
    const close = (): void => {
      if (this.#calls.get(key) === call) this.#calls.delete(key);
    };
    const onResponse = (): void => {
      call.isStoring = true;
    };
    const result = Promise.resolve().then(() => work({ signal: abandoned.signal, close, onResponse }));
    const call: Call<T> = { result, abandoned, close, callers: 0, isStoring: false };
    this.#calls.set(key, call);
    // Also handles the rejection of work that every caller has left.
    result.then(close, close);
    return call;
  }

  async #waitFor<T>(call: Call<T>, { signal, timeout }: WaitOptions): Promise<T> {
    const done = new AbortController();
    let onAbort = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(abortError(signal));
      signal?.addEventListener('abort', onAbort);
    });
    const onTimeout = () => (call.isStoring ? call.result : Promise.reject(timeout?.error()));
    const expired = timeout && this.#clock.sleep(timeout.ms, done.signal).then(onTimeout);
    try {
      return await Promise.race([call.result, aborted, expired ?? aborted]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      done.abort();
      if (--call.callers === 0) {
        call.close();
        call.abandoned.abort();
      }
    }
  }
}
