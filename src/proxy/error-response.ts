import { type ServerResponse, STATUS_CODES } from 'node:http';
import { OAuthProfileError } from '../errors.ts';
import type { Rejection } from './access-rules.ts';

/** Headers that request the caller secret. Browsers send the credentials in the URL of a proxy only after such a response. */
const challenges: Readonly<Record<number, string>> = { 401: 'WWW-Authenticate', 407: 'Proxy-Authenticate' };

/** The rejection of a request for which there is no token, or no response from the API. */
export function toRejection(error: unknown): Rejection {
  if (error instanceof OAuthProfileError)
    return { status: 502, code: error.code, message: error.message, hint: error.hint };
  // The message of an unexpected error may contain a header.
  const message = 'the request or its response could not be sent on';
  return { status: 502, code: 'response_unreadable', message, hint: 'check the headers of both' };
}

/** Responds with the reason why a request was not sent on, as JSON. */
export function sendRejection(response: ServerResponse, { status, code, message, hint }: Rejection): void {
  // A part of another response has been sent: the client must not take it for complete.
  if (response.headersSent) return void response.destroy();
  const body = `${JSON.stringify({ code: code ?? 'forbidden', message, hint })}\n`;
  const challenge = challenges[status];
  // The reason phrase of the API may be what could not be sent.
  response.writeHead(status, STATUS_CODES[status], {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(challenge !== undefined && { [challenge]: 'Basic realm="oauth-profile"' }),
    // The rest of the request body is not read.
    ...(!response.req.complete && { Connection: 'close' }),
  });
  response.end(body);
}
