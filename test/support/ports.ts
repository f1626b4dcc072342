import { abortError } from '../../src/errors.ts';
import { createCallApi } from '../../src/http/call-api.ts';
import { createConnector } from '../../src/http/connector.ts';
import { createSend } from '../../src/http/send.ts';
import type {
  ApiLimits,
  ApiRequest,
  CallApi,
  Clock,
  EmulatorEndpoint,
  Environment,
  Limits,
  Ports,
  Send,
  TlsFiles,
  WireRequest,
} from '../../src/ports.ts';

/** A clock that advances only while something sleeps. */
export class FakeClock implements Clock {
  readonly slept: number[] = [];
  time = Date.UTC(2027, 0, 1);
  /** Called during each sleep. */
  whileAsleep: () => unknown = () => {};

  now = (): number => this.time;

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.time += ms;
    await this.whileAsleep();
  }
}

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

/** The real transport, with a fake clock, a fixed random number and a log that a test reads. */
export function fakePorts(
  changes: Partial<Ports> = {},
): Ports & { readonly clock: FakeClock; readonly lines: string[] } {
  const lines: string[] = [];
  const clock = new FakeClock();
  return {
    send: sendWith(),
    // Loaded when they are used, like in the client: most tests need neither.
    sign: async (...args) => (await import('../../src/http/client-assertion.ts')).signAssertion(...args),
    readAssertion: () => Promise.reject(new Error('no assertion source')),
    dpop: async () => (await import('../../src/http/dpop.ts')).createDpop(clock),
    clock,
    random: () => 0.5,
    log: (line) => lines.push(line),
    version: '1.2.3',
    lines,
    ...(changes as object),
  };
}

/** The real transport of token requests, with these proxy variables. */
export function sendWith(env: Environment = {}, emulator?: EmulatorEndpoint): Send {
  return createSend(createConnector(env, emulator));
}

/** A token request, with changes. */
export function post(url: string, changes: Partial<WireRequest> = {}): WireRequest {
  return {
    profile: 'graph',
    url: new URL(url),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: 'grant_type=client_credentials',
    reuseConnection: false,
    tls: noTls,
    ...changes,
  };
}

export const noTls: TlsFiles = { ca: undefined, cert: undefined, certKey: undefined };

/** Limits that a local request does not reach. */
export function bounds(signal?: AbortSignal, timeoutMs = 10_000): Limits {
  return { timeoutMs, signal };
}

/** The real transport of API requests, with these proxy variables. */
export function callApiWith(env: Environment = {}, emulator?: EmulatorEndpoint): CallApi {
  return createCallApi(createConnector(env, emulator));
}

/** A GET request, with changes. */
export function apiGet(url: string, changes: Partial<ApiRequest> = {}): ApiRequest {
  return { method: 'GET', url: new URL(url), headers: [], body: undefined, ...changes };
}

/** Limits that a local request does not reach. */
export function apiBounds(changes: Partial<ApiLimits> = {}): ApiLimits {
  return { timeoutMs: 10_000, signal: undefined, maxBytes: 1_048_576, ...changes };
}
