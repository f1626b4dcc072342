import type { IncomingMessage } from 'node:http';
import { TransportError } from '../errors.ts';
import type { HttpResponse } from '../oauth/http-response.ts';
import { ATTEMPT_MS } from '../oauth/retry-policy.ts';
import type { Environment, Limits, Send, WireRequest } from '../ports.ts';
import { Agents } from './agents.ts';
import { Attempt } from './attempt.ts';
import { ByteCollector } from './byte-collector.ts';
import type { Connector, Route } from './connector.ts';

const MAX_REPLY_BYTES = 1_048_576;
const MOMENT_MS = 250;

/** The real {@link Send}, on `node:http` and `node:https` with kept connections; the environment names the proxies. */
export function createSend(env: Environment): Send {
  return sendThrough(new Agents(env));
}

/** Sends each request the way that `routes` finds for it. */
export function sendThrough(routes: Connector): Send {
  return (request, bounds) =>
    new Promise((resolve, reject) => {
      const start = (route: Route): void => new TokenAttempt(request, bounds, route, resolve, reject).start();
      const route = routes.routeTo(request);
      if (route instanceof Promise) route.then(start).catch(reject);
      else start(route);
    });
}

class TokenAttempt extends Attempt<WireRequest, Limits, HttpResponse> {
  start(): void {
    const { wire } = this;
    // A list, which Node writes as it is; from an object it would first make a collection of its own.
    const headers = ['Host', wire.url.host, 'Content-Length', String(Buffer.byteLength(wire.body))];
    for (const [name, value] of Object.entries(wire.headers)) {
      headers.push(name, typeof value === 'string' ? value : value.reveal());
    }
    this.open('POST', headers, this.#onResponse)?.on('error', this.onError).end(wire.body);
  }

  protected override tooLate(): TransportError {
    const { timeoutMs } = this.bounds;
    const rounded = Math.ceil(timeoutMs / 10) * 10;
    const time = rounded < 1000 ? `${rounded} ms` : `${Number((rounded / 1000).toFixed(1))} s`;
    // A moment of an attempt's time may have gone before it was sent.
    const shortened = timeoutMs < ATTEMPT_MS - MOMENT_MS;
    return new TransportError('timeout', `${this.wire.url.host} did not answer within ${time}`, {
      sent: this.connected,
      hint: this.connected
        ? `the provider is slow or hangs: try again${shortened ? `, or raise ${this.wire.profile}.options.timeout` : ' later'}`
        : 'no connection came about: check the address, the network and the proxy',
    });
  }

  readonly #onResponse = (response: IncomingMessage): void => {
    const body = new ByteCollector(MAX_REPLY_BYTES);
    response.on('data', (chunk: Buffer) => {
      if (!body.add(chunk)) this.fail(tooLarge(this.wire));
    });
    response.on('error', this.onError);
    response.on('end', () => {
      if (!response.complete) return this.onError(new Error('the reply broke off'));
      this.#finish(response, body.bytes);
    });
  };

  #finish({ statusCode: status = 0, headers }: IncomingMessage, body: Buffer): void {
    const encoding = headers['content-encoding']?.toLowerCase() || 'identity';
    if (status === 407 && this.route.proxy) this.fail(this.route.proxy.refused(status));
    else if (encoding === 'identity' || body.length === 0) this.#succeed({ status, headers, body: body.toString() });
    else this.#unpack(status, headers, body, encoding).catch(this.onError);
  }

  async #unpack(status: number, headers: HttpResponse['headers'], body: Buffer, encoding: string): Promise<void> {
    const { unpackReply } = await import('./unpack-reply.ts');
    this.#succeed({ status, headers, body: unpackReply(body, encoding, MAX_REPLY_BYTES, this.wire) });
  }

  #succeed(reply: HttpResponse): void {
    const secrets = this.route.proxy?.secrets;
    if (this.settle()) this.resolve(secrets === undefined ? reply : { ...reply, secrets });
  }
}

function tooLarge({ url }: WireRequest): TransportError {
  return new TransportError('response_too_large', `${url.host} answered with more than ${MAX_REPLY_BYTES} bytes`, {
    sent: true,
    hint: 'that is no token response: check the address',
  });
}
