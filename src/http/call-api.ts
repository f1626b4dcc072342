import type { ClientRequest, IncomingMessage } from 'node:http';
import { OAuthProfileError, TransportError } from '../errors.ts';
import type { ApiLimits, ApiRequest, ApiResponse, BodyPart, CallApi, Environment, TlsFiles } from '../ports.ts';
import { Secret } from '../redaction/secret.ts';
import { Agents } from './agents.ts';
import { Attempt } from './attempt.ts';
import { ByteCollector } from './byte-collector.ts';
import type { ConnectionTarget, Connector } from './connector.ts';

const noTls: TlsFiles = { ca: undefined, cert: undefined, certKey: undefined };

/** What has been sent without a body says so (RFC 9110 §8.6). */
const BODY_EXPECTED = new Set(['POST', 'PUT', 'PATCH']);

/** They say where a message ends and who it is for, so they are ours alone. */
const OWN_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;

/** The real {@link CallApi}, over the same ways as the token request; the environment names the proxies. */
export function createCallApi(env: Environment): CallApi {
  return callThrough(new Agents(env));
}

/** Sends each request the way that `routes` finds for it. */
export function callThrough(routes: Connector): CallApi {
  return async (request, bounds) => {
    const headers = headerList(request);
    const { url, tls = noTls } = request;
    // Nothing is sent twice, so nothing may meet a connection that dies at that moment.
    const wire = { profile: undefined, url, reuseConnection: false, tls };
    const route = await routes.routeTo(wire);
    return new Promise((resolve, reject) => {
      new ApiAttempt(wire, bounds, route, resolve, reject).start(request, headers);
    });
  };
}

/** Names and values in turn, as Node writes them; whatever could end a header early is refused. */
function headerList({ headers }: ApiRequest): string[] {
  const list: string[] = [];
  for (const [name, value] of headers) {
    const text = typeof value === 'string' ? value : value.reveal();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw badHeader('a header', 'has a name that no header can have');
    if (OWN_HEADERS.test(name)) throw badHeader(`the header ${name}`, 'is not for a caller to set');
    if (/[^\t\x20-\x7e]/.test(text)) {
      throw badHeader(`the header ${name}`, 'has line ends, control characters or characters beyond ASCII in it');
    }
    list.push(name, text);
  }
  return list;
}

function badHeader(what: string, why: string): OAuthProfileError {
  return new OAuthProfileError('data_invalid', `${what} ${why}`, { hint: 'correct it: nothing was sent' });
}

class ApiAttempt extends Attempt<ConnectionTarget, ApiLimits, ApiResponse> {
  #answered = false;

  start({ url, method, body }: ApiRequest, own: readonly string[]): void {
    const pieces = body?.map(bytesOf);
    const headers = ['Host', url.host, ...own];
    if (pieces !== undefined || BODY_EXPECTED.has(method)) {
      headers.push('Content-Length', String((pieces ?? []).reduce((sum, piece) => sum + sizeOf(piece), 0)));
    }
    const request = this.open(method, headers, this.#onResponse);
    if (request === undefined) return;
    // Once the answer begins, it alone decides: some servers close before they have read the whole request.
    request.on('error', (error) => {
      if (!this.#answered) this.onError(error);
    });
    this.#send(request, pieces ?? []).catch((error: Error) => this.fail(error));
  }

  async #send(request: ClientRequest, pieces: readonly Piece[]): Promise<void> {
    for (const piece of pieces) {
      let left = sizeOf(piece);
      for await (const bytes of piece instanceof Uint8Array ? [piece] : piece.read()) {
        left -= bytes.length;
        if (left < 0) break;
        if (bytes.length > 0 && !request.write(bytes)) await drained(request);
        if (request.destroyed) return;
      }
      if (left !== 0) {
        throw new OAuthProfileError('step_failed', 'a file changed while it was sent', { hint: 'try again' });
      }
    }
    request.end();
  }

  protected override tooLate(): TransportError {
    const time = inWords(this.bounds.timeoutMs);
    const { host } = this.wire.url;
    return new TransportError(
      'timeout',
      this.#answered ? `${host} did not finish its answer within ${time}` : `${host} did not answer within ${time}`,
      {
        sent: this.connected,
        hint: this.connected
          ? 'the server is slow or hangs: try again, or give the step more time'
          : 'no connection came about: check the address, the network and the proxy',
      },
    );
  }

  readonly #onResponse = (response: IncomingMessage): void => {
    this.#answered = true;
    // What nobody reads any more may still fail.
    response.on('error', () => {});
    this.#receive(response).then((reply) => {
      if (reply !== undefined) this.#succeed(reply);
    }, this.onError);
  };

  async #receive(response: IncomingMessage): Promise<ApiResponse | undefined> {
    const { statusCode: status = 0, statusMessage: statusText = '', headers } = response;
    if (status === 407 && this.route.proxy) throw this.route.proxy.refused(status);
    const { maxBytes } = this.bounds;
    const { host } = this.wire.url;
    const save = this.bounds.save?.(status);
    const collected = new ByteCollector(maxBytes);
    const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
    const content: AsyncIterable<Buffer> =
      encoding === 'identity'
        ? response
        : await (await import('./unpack-stream.ts')).unpackStream(response, encoding, host);
    for await (const piece of content) {
      if (save === undefined) {
        if (!collected.add(piece)) throw tooLarge(host, maxBytes);
      } else if (!(await this.#saved(save(piece)))) return undefined;
    }
    if (!response.complete) throw new Error('the reply broke off');
    // A copy, as long as it has to be: a script keeps it, and with a piece it would keep the whole buffer that this was received in.
    return { status, statusText, headers, body: new Uint8Array(collected.bytes) };
  }

  /** Whether to go on; the time of a silence counts from here. */
  async #saved(saving: Promise<void>): Promise<boolean> {
    try {
      await saving;
    } catch (error) {
      // The caller's own error, not one of the network.
      this.fail(error as Error);
    }
    if (this.settled) return false;
    this.startTime();
    return true;
  }

  #succeed(reply: ApiResponse): void {
    if (!this.settle()) return;
    // An answer may come before the request is complete.
    if (!this.request?.writableFinished) this.request?.destroy();
    this.resolve(reply);
  }
}

type Piece = Exclude<BodyPart, string | Secret>;

function bytesOf(piece: BodyPart): Piece {
  if (typeof piece === 'string') return Buffer.from(piece);
  return piece instanceof Secret ? Buffer.from(piece.reveal()) : piece;
}

function sizeOf(piece: Piece): number {
  return piece instanceof Uint8Array ? piece.length : piece.size;
}

/** Also where the connection ended and will never drain. */
function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done);
      request.off('close', done);
      resolve();
    };
    request.on('drain', done);
    request.on('close', done);
  });
}

function tooLarge(host: string, maxBytes: number): TransportError {
  return new TransportError('response_too_large', `${host} answered with more than ${maxBytes} bytes`, {
    sent: true,
    hint: 'ws.download saves an answer of any size',
  });
}

function inWords(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Number((ms / 1000).toFixed(1))} s`;
}
