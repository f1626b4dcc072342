import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Emulator } from '../../src/emulator/start-emulator.ts';

/** A complete response. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any response.
  readonly json: any;
}

/** Sends a request to the emulator: `https:` with the real host of the URL, `http:` to the emulator itself. */
export function sendRequest(
  emulator: Emulator,
  url: string,
  options: { form?: Record<string, string>; headers?: Record<string, string>; method?: string; body?: string } = {},
): Promise<ReceivedResponse> {
  const { protocol, host, hostname, pathname, search } = new URL(url);
  const { form, headers = {}, body = form && new URLSearchParams(form).toString() } = options;
  const secure = protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)(
      {
        host: '127.0.0.1',
        port: emulator.port,
        path: pathname + search,
        method: options.method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          Host: host,
          ...(body !== undefined && {
            'Content-Type': 'application/x-www-form-urlencoded',
            'Content-Length': Buffer.byteLength(body),
          }),
          ...headers,
        },
        ...(secure && { ca: emulator.ca, servername: hostname }),
        agent: false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          let json: unknown;
          try {
            json = JSON.parse(text);
          } catch {
            json = undefined;
          }
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** A Basic header with client credentials. */
export function basic(user: string, password: string): { Authorization: string } {
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
