import type { ServerResponse } from 'node:http';
import { OAuthProfileError } from '../errors.ts';
import type { Rejection } from './access-rules.ts';

/** Responds with the reason why a request was not sent on. */
export function sendRejection(response: ServerResponse, { status, message, hint }: Rejection): void {
  const headers: string[] = [];
  // Browsers send the credentials in the URL of a proxy only after this header.
  if (status === 407) headers.push('Proxy-Authenticate', 'Basic realm="oauth-profile"');
  if (status === 401) headers.push('WWW-Authenticate', 'Basic realm="oauth-profile"');
  sendJson(response, status, { code: 'forbidden', message, hint }, headers);
}

/** Responds with 502 (Bad Gateway): there is no token, or no response from the API. */
export function sendError(response: ServerResponse, error: unknown): void {
  const known = error instanceof OAuthProfileError;
  // The message of an unexpected error may contain a header.
  const { code, message, hint } = known
    ? error
    : { code: 'response_unreadable', message: 'the request could not be sent on', hint: 'check its headers' };
  sendJson(response, 502, { code, message, hint }, []);
}

function sendJson(response: ServerResponse, status: number, body: object, headers: string[]): void {
  // A part of another response has been sent: the client must not take it for complete.
  if (response.headersSent) return void response.destroy();
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, [
    ...['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))],
    ...['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'],
    // The rest of the request body is not read.
    ...(response.req.complete ? [] : ['Connection', 'close']),
    ...headers,
  ]);
  response.end(text);
}
