import { pipeline } from 'node:stream/promises';
import { OAuthProfileError, TransportError } from '../errors.ts';
import type { ApiRequest, BodyPart, CallApi, FileContent, TlsFiles } from '../ports.ts';
import { Secret } from '../redaction/secret.ts';
import type { Connector } from './connector.ts';
import { isForbiddenHeader, isHeaderName, isHeaderValue } from './header-rules.ts';
import { sendRequest } from './request.ts';
import { decompress, readBody } from './response-body.ts';

const NO_TLS_FILES: TlsFiles = { ca: undefined, cert: undefined, certKey: undefined };

/** Methods whose requests have a Content-Length even without a body (RFC 9110 §8.6). */
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Creates the {@link CallApi} port, which sends the requests of scripts. */
export function createCallApi(connector: Connector): CallApi {
  return async (request, limits) => {
    const { url, method, tls = NO_TLS_FILES } = request;
    const { maxBytes, save } = limits;
    const body = request.body?.map(toContent);
    const headers = headerList(request, body);
    // Requests are never repeated, so none may be lost on a connection that the server is about to close.
    const target = { profile: undefined, url, reuseConnection: false, tls };
    return sendRequest(
      connector.route(target),
      target,
      {
        method,
        headers,
        writeBody: (outgoing) => pipeline(readContents(body ?? []), outgoing),
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
  };
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
