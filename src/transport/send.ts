import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { OAuthProfileError, TransportError } from '../errors.ts';
import type { Bounds, Send, WireRequest } from '../ports.ts';
import type { Reply } from '../token/reply.ts';
import { Agents } from './agents.ts';
import { explainNetworkError } from './explain-network-error.ts';
import type { Environment } from './proxy.ts';
import type { Route, Routes } from './route.ts';

const MAX_REPLY_BYTES = 1_048_576;

/** The real {@link Send}, on `node:http` and `node:https` with kept connections; the environment names the proxies. */
export function createSend(env: Environment): Send {
  return sendAlong(new Agents(env));
}

/** Sends each request the way that `routes` finds for it. */
export function sendAlong(routes: Routes): Send {
  return async (request, bounds) => {
    const route = await routes.routeTo(request);
    return new Promise((resolve, reject) => {
      new Attempt(request, bounds, route, resolve, reject).start();
    });
  };
}

/** One request and its reply: whatever happens first settles it, and nothing is left behind. */
class Attempt {
  /** Set by a tunnel while it is being dug, so that a time-out ends that too. */
  cancelConnect: (() => void) | undefined;
  #request: ClientRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #connected = false;
  #settled = false;

  constructor(
    readonly wire: WireRequest,
    readonly bounds: Bounds,
    readonly route: Route,
    readonly resolve: (reply: Reply) => void,
    readonly reject: (error: Error) => void,
  ) {}

  start(): void {
    const { wire, route, bounds } = this;
    if (bounds.signal?.aborted) {
      this.#onAbort();
      return;
    }
    const headers: Record<string, string | number> = { 'Content-Length': Buffer.byteLength(wire.body) };
    for (const [name, value] of Object.entries(wire.headers)) {
      headers[name] = typeof value === 'string' ? value : value.reveal();
    }
    Object.assign(headers, route.headers);
    const options = { ...route.options, method: 'POST', headers, attempt: this };
    const request = (route.request ?? httpRequest)(options, this.#onResponse);
    this.#request = request;
    this.#timer = setTimeout(this.#onTimeout, bounds.timeoutMs);
    bounds.signal?.addEventListener('abort', this.#onAbort, { once: true });
    request.on('error', this.#onError);
    // Without a listener Node closes such a connection, and nobody hears of it.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      this.#onError(new Error('it changed the protocol'));
    });
    request.on('socket', (socket) => {
      if (request.reusedSocket) this.#connected = true;
      // Before the handshake is over nothing of the request has left.
      else
        socket.once(route.secure ? 'secureConnect' : 'connect', () => {
          this.#connected = true;
        });
    });
    request.end(wire.body);
  }

  #onTimeout = (): void => {
    const { timeoutMs } = this.bounds;
    const time = timeoutMs < 1000 ? `${Math.round(timeoutMs)} ms` : `${Number((timeoutMs / 1000).toFixed(1))} s`;
    this.#fail(
      new TransportError('timed_out', `${this.wire.url.host} did not answer within ${time}`, {
        sent: this.#connected,
        advice: this.#connected
          ? `the provider is slow or hangs: try again, or raise ${this.wire.profile}.options.timeout`
          : 'no connection came about: check the address, the network and the proxy',
      }),
    );
  };

  #onAbort = (): void => {
    const cause = this.bounds.signal?.reason;
    this.#fail(new OAuthProfileError('aborted', 'the request was aborted', { cause }));
  };

  #onError = (error: Error): void => {
    if (error instanceof OAuthProfileError) this.#fail(error);
    else if (this.route.proxy !== undefined && !this.#connected) this.#fail(this.route.proxy.unreachable(error));
    else this.#fail(explainNetworkError(error, this.wire, this.#connected));
  };

  #onResponse = (response: IncomingMessage): void => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_REPLY_BYTES) this.#fail(tooLarge(this.wire));
      else chunks.push(chunk);
    });
    response.on('error', this.#onError);
    response.on('end', () => {
      if (!response.complete) return this.#onError(new Error('the reply broke off'));
      const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      this.#finish(response, body).catch(this.#onError);
    });
  };

  async #finish(response: IncomingMessage, body: Buffer): Promise<void> {
    const { statusCode: status = 0, headers } = response;
    if (status === 407 && this.route.proxy) return this.#fail(this.route.proxy.refused(status));
    const encoding = headers['content-encoding']?.toLowerCase() || 'identity';
    if (encoding === 'identity' || body.length === 0) return this.#succeed({ status, headers, body: body.toString() });
    const { decode } = await import('./decode.ts');
    this.#succeed({ status, headers, body: decode(body, encoding, MAX_REPLY_BYTES, this.wire) });
  }

  #succeed(reply: Reply): void {
    if (this.#settle()) this.resolve(reply);
  }

  #fail(error: Error): void {
    if (!this.#settle()) return;
    this.cancelConnect?.();
    this.#request?.destroy();
    this.reject(error);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.bounds.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

function tooLarge({ url }: WireRequest): TransportError {
  return new TransportError('reply_too_large', `${url.host} answered with more than ${MAX_REPLY_BYTES} bytes`, {
    sent: true,
    advice: 'that is no token response: check the address',
  });
}
