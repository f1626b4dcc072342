import type { ClientRequest } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { OAuthProfileError, TransportError } from '../errors.ts';
import type { ApiLimits, ApiRequest, BodyPart, CallApi, FileContent, TlsFiles } from '../ports.ts';
import { isForbiddenHeader, isHeaderName, isHeaderValue } from '../profile/options/header-rules.ts';
import { Secret } from '../redaction/secret.ts';
import type { Connector } from './connector.ts';
import { isStaleConnection, sendRequest } from './request.ts';
import { decompress, readBody } from './response-body.ts';

const NO_TLS_FILES: TlsFiles = { ca: undefined, cert: undefined, certKey: undefined };

/** Methods whose requests have a Content-Length even without a body (RFC 9110 §8.6). */
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** RFC 9110 §9.2.2. */
const IDEMPOTENT_METHODS = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

/** Idle connections are closed after this time: many servers close theirs after 5 s. */
const IDLE_TIMEOUT_MS = 4_000;
/** A request that must not be repeated only uses a connection that was used this recently: the server is not about to close it. */
const RECENT_MS = 1_000;

/** Creates the {@link CallApi} port, which sends the requests of scripts. Connections are reused. */
export function createCallApi(connector: Connector): CallApi {
  /** End of the last response by origin, in epoch milliseconds. */
  const lastUsed = new Map<string, number>();
  return async (request, limits) => {
    const { url, method } = request;
    const isRecent = Date.now() - (lastUsed.get(url.origin) ?? 0) < RECENT_MS;
    try {
      return await sendOnce(connector, request, limits, IDEMPOTENT_METHODS.has(method) || isRecent);
    } catch (error) {
      // RFC 9112 §9.3.1: a request that a closing connection has lost is repeated if that has no other effect.
      if (!isStaleConnection(error) || !IDEMPOTENT_METHODS.has(method)) throw error;
      return await sendOnce(connector, request, limits, false);
    } finally {
      lastUsed.set(url.origin, Date.now());
    }
  };
}

function sendOnce(connector: Connector, request: ApiRequest, limits: ApiLimits, reuseConnection: boolean) {
  const { url, method, tls = NO_TLS_FILES } = request;
  const { maxBytes, save } = limits;
  const body = request.body?.map(toContent);
  const headers = headerList(request, body);
  const target = { profile: undefined, url, reuseConnection, idleTimeoutMs: IDLE_TIMEOUT_MS, tls };
  return sendRequest(
    connector.route(target),
    target,
    {
      method,
      headers,
      writeBody: (outgoing) => writeContents(body ?? [], outgoing),
      async readResponse(incoming, restartDeadline) {
        const { statusCode: status = 0, statusMessage: statusText = '', headers } = incoming;
        const chunks = decompress(incoming, url.host);
        const saveChunk = save?.(status);
        if (saveChunk !== undefined) {
          for await (const chunk of chunks) {
            await saveChunk(chunk);
            restartDeadline();
          }
          return { status, statusText, headers, body: new Uint8Array() };
        }
        const bytes = await readBody(chunks, maxBytes);
        if (bytes === undefined) throw responseTooLarge(url, maxBytes);
        // A copy without the spare capacity of the buffer: scripts may hold it for long.
        return { status, statusText, headers, body: new Uint8Array(bytes) };
      },
      timeoutHint: 'the server is slow or unavailable: try again, or increase the time limit of the step',
    },
    limits,
  );
}

function headerList({ url, method, headers }: ApiRequest, body: readonly Content[] | undefined): string[] {
  const list = ['Host', url.host];
  for (const [name, value] of headers) {
    const clear = typeof value === 'string' ? value : value.reveal();
    if (!isHeaderName(name)) throw invalidHeader('invalid character in the name of a header');
    if (isForbiddenHeader(name)) throw invalidHeader(`the header ${name} cannot be set by callers`);
    if (!isHeaderValue(clear)) {
      throw invalidHeader(
        `the value of header ${name} contains line breaks, control characters or non-ASCII characters`,
      );
    }
    list.push(name, clear);
  }
  if (body !== undefined || METHODS_WITH_BODY.has(method)) {
    list.push('Content-Length', String((body ?? []).reduce((sum, content) => sum + sizeOf(content), 0)));
  }
  return list;
}

function invalidHeader(message: string): OAuthProfileError {
  return new OAuthProfileError('data_invalid', message, { hint: 'correct the header; the request was not sent' });
}

type Content = Uint8Array | FileContent;

function toContent(part: BodyPart): Content {
  if (typeof part === 'string') return Buffer.from(part);
  return part instanceof Secret ? Buffer.from(part.reveal()) : part;
}

function sizeOf(content: Content): number {
  return content instanceof Uint8Array ? content.length : content.size;
}

/** Writes a body without files at once, which is several times as fast as a stream. */
function writeContents(contents: readonly Content[], outgoing: ClientRequest): void | Promise<void> {
  const bytes = contents.filter((content) => content instanceof Uint8Array);
  if (bytes.length < contents.length) return pipeline(readContents(contents), outgoing);
  outgoing.end(bytes.length > 1 ? Buffer.concat(bytes) : bytes[0]);
}

async function* readContents(contents: readonly Content[]): AsyncIterable<Uint8Array> {
  for (const content of contents) {
    let remaining = sizeOf(content);
    for await (const chunk of content instanceof Uint8Array ? [content] : content.read()) {
      remaining -= chunk.length;
      if (remaining < 0) break;
      yield chunk;
    }
    // The Content-Length has been sent already.
    if (remaining !== 0) {
      throw new OAuthProfileError('step_failed', 'a file changed size while it was being sent', { hint: 'try again' });
    }
  }
}

function responseTooLarge({ host }: URL, maxBytes: number): TransportError {
  return new TransportError('response_too_large', `the response from ${host} is larger than ${maxBytes} bytes`, {
    sent: true,
    hint: 'use ws.download to save a response of any size',
  });
}
