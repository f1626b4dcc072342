import type { ClientRequest, IncomingMessage } from 'node:http';
import { abortError, OAuthProfileError, TransportError } from '../errors.ts';
import type { Limits } from '../ports.ts';
import type { ConnectionTarget, Route } from './connector.ts';
import { connectTimeout } from './limits.ts';
import { toNetworkError } from './network-errors.ts';
import type { ConnectionAttempt } from './tunnel.ts';

/** A timer that fires later than this shows that the process was stopped. */
const TIMER_DELAY_MS = 500;
/** Time for a process that was stopped to read a response that has arrived. */
const AFTER_STOP_MS = 1_000;

/** Content of a request, and how its response is read. */
export interface Exchange<T> {
  readonly method: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Writes the body and ends the request. */
  writeBody(request: ClientRequest): void | Promise<void>;
  /** Reads the response. `restartDeadline` grants it the whole time limit again. */
  readResponse(response: IncomingMessage, restartDeadline: () => void): Promise<T>;
  /** Hint for a server that accepts the connection but does not respond in time. */
  readonly timeoutHint: string;
}

const staleConnections = new WeakSet<object>();

/** Whether a request failed because the server closed a reused connection before it responded. */
export function isStaleConnection(error: unknown): boolean {
  return typeof error === 'object' && error !== null && staleConnections.has(error);
}

/**
 * Sends one request once and reads its response. One deadline covers name resolution, connecting, CONNECT, TLS, sending and reading. When it
 * passes, or when the signal is aborted, the connection is closed.
 */
export function sendRequest<T>(
  route: Route,
  target: ConnectionTarget,
  exchange: Exchange<T>,
  { timeoutMs, signal }: Limits,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw abortError(signal);
    const attempt: ConnectionAttempt = { profile: target.profile, cancel: undefined };
    let connected = false;
    let isExtended = false;
    let response: IncomingMessage | undefined;

    const headers = route.headers ? [...exchange.headers, ...Object.entries(route.headers).flat()] : exchange.headers;
    // With the spread first, V8 creates a slower object, which costs 6 % of the token throughput.
    const options = { method: exchange.method, headers, attempt, ...route.options };
    const request = route.request(options, onResponse);
    const endsAt = process.uptime() * 1000 + timeoutMs;
    let timer = setTimeout(onTimeout, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    // Nothing of the request is sent before the TLS handshake is complete.
    if (request.reusedSocket) connected = true;
    else {
      request.once('socket', (socket) => {
        socket.once(route.connectEvent, () => {
          connected = true;
        });
      });
    }
    // Without a listener Node closes the connection and emits nothing.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      onError(Object.assign(new Error(), { code: 'unexpected protocol upgrade' }));
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // A server may respond and close before it has read the whole request; then the response decides.
      if (response === undefined || error.code?.startsWith('HPE_')) onError(error);
    });
    exchange.writeBody(request)?.catch((error: unknown) => {
      // Errors of the connection are emitted by the request.
      if (error instanceof OAuthProfileError) fail(error);
    });

    function onResponse(received: IncomingMessage): void {
      response = received;
      received.on('error', onError);
      const error = route.toResponseError?.(received);
      if (error === undefined) exchange.readResponse(received, () => timer.refresh()).then(onResult, fail);
      else fail(error);
    }

    function onResult(result: T): void {
      if (response?.complete) {
        release();
        // The server may have responded before it has read the whole request.
        if (!request.writableFinished) request.destroy();
        resolve(result);
      } else onError(Object.assign(new Error(), { code: 'ECONNRESET' }));
    }

    function onError(error: NodeJS.ErrnoException): void {
      const isLost = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      if (request.reusedSocket && response === undefined && isLost) {
        const lost = toNetworkError(error, target, connected);
        staleConnections.add(lost);
        fail(lost);
      } else if (error instanceof OAuthProfileError) fail(error);
      else if (!connected && route.toConnectError !== undefined) fail(route.toConnectError(error));
      else fail(toNetworkError(error, target, connected));
    }

    function onTimeout(): void {
      // The process was stopped (SIGSTOP, Ctrl-Z): the response may have arrived in the meantime, but timers run before sockets are read.
      const wasStopped = !isExtended && process.uptime() * 1000 - endsAt > TIMER_DELAY_MS;
      isExtended = true;
      if (wasStopped) timer = setTimeout(onTimeout, AFTER_STOP_MS);
      else fail(timeoutError());
    }

    function onAbort(): void {
      fail(abortError(signal));
    }

    function fail(error: unknown): void {
      release();
      attempt.cancel?.();
      request.destroy();
      reject(error);
    }

    function release(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }

    function timeoutError(): TransportError {
      const { host } = target.url;
      const time = formatDuration(timeoutMs);
      if (!connected) return connectTimeout(target.url, time);
      const message = response === undefined ? 'no response from' : 'no complete response from';
      return new TransportError('timeout', `${message} ${host} within ${time}`, {
        sent: true,
        hint: exchange.timeoutHint,
      });
    }
  });
}

/** Rounded up to 10 ms: the time left of a longer limit is rarely a round number. */
function formatDuration(ms: number): string {
  const rounded = Math.ceil(ms / 10) * 10;
  return rounded < 1000 ? `${rounded} ms` : `${Number((rounded / 1000).toFixed(1))} s`;
}
