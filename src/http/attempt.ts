import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { abortError, OAuthProfileError, type TransportError } from '../errors.ts';
import type { Limits } from '../ports.ts';
import type { ConnectionTarget, Route } from './connector.ts';
import { toNetworkError } from './network-errors.ts';
import { type TimeLimit, TimeLimits } from './time-limits.ts';

const timeLimits = new TimeLimits();

/** One request and its reply: whatever happens first settles it, and nothing is left behind. What is sent and how the reply is read is left open. */
export abstract class Attempt<Wire extends ConnectionTarget, L extends Limits, Answer> {
  /** Set by a tunnel while it is being dug, so that a time-out ends that too. */
  cancelConnect: (() => void) | undefined;
  protected request: ClientRequest | undefined;
  protected connected = false;
  protected settled = false;
  #limit: TimeLimit | undefined;

  constructor(
    readonly wire: Wire,
    readonly bounds: L,
    readonly route: Route,
    readonly resolve: (answer: Answer) => void,
    readonly reject: (error: Error) => void,
  ) {}

  /** The error for a reply that is not there in time. */
  protected abstract tooLate(): TransportError;

  /** The request, for its body to be written and its errors to be heard; `undefined` where it was aborted before it began. */
  protected open(
    method: string,
    headers: string[],
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest | undefined {
    const { route, bounds } = this;
    if (bounds.signal?.aborted) {
      this.#onAbort();
      return undefined;
    }
    for (const [name, value] of Object.entries(route.headers)) headers.push(name, value);
    // With the spread in front, V8 would make an object that is slow to copy, and Node copies it twice.
    const options = { method, headers, attempt: this, ...route.options };
    const request = (route.request ?? httpRequest)(options, onResponse);
    this.request = request;
    this.startTime();
    bounds.signal?.addEventListener('abort', this.#onAbort, { once: true });
    // Without a listener Node closes such a connection, and nobody hears of it.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      this.onError(new Error('it changed the protocol'));
    });
    if (request.reusedSocket) this.connected = true;
    else {
      // Before the handshake is over nothing of the request has left.
      request.once('socket', (socket) => {
        socket.once(route.secure ? 'secureConnect' : 'connect', () => {
          this.connected = true;
        });
      });
    }
    return request;
  }

  /** The time that is allowed counts from here. */
  protected startTime(): void {
    if (this.#limit !== undefined) timeLimits.stop(this.#limit);
    this.#limit = timeLimits.start(this.bounds.timeoutMs, this.#onTimeout);
  }

  protected readonly onError = (error: Error): void => {
    if (error instanceof OAuthProfileError) this.fail(error);
    else if (this.route.proxy !== undefined && !this.connected) this.fail(this.route.proxy.unreachable(error));
    else this.fail(toNetworkError(error, this.wire, this.connected));
  };

  protected fail(error: Error): void {
    if (!this.settle()) return;
    this.cancelConnect?.();
    this.request?.destroy();
    this.reject(error);
  }

  /** `false` where it was settled before. */
  protected settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    if (this.#limit !== undefined) timeLimits.stop(this.#limit);
    this.bounds.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }

  readonly #onTimeout = (): void => this.fail(this.tooLate());

  readonly #onAbort = (): void => this.fail(abortError(this.bounds.signal));
}
