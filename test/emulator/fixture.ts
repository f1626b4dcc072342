import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/config.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';

type Fields = Record<string, string>;

/** An emulator that runs for all tests of a `describe` block, with a clock that only the tests advance. */
export interface EmulatorFixture {
  readonly emulator: Emulator;
  /** Epoch milliseconds. */
  now: number;
  get(url: string, headers?: Fields): Promise<ReceivedResponse>;
  post(url: string, form: Fields, headers?: Fields): Promise<ReceivedResponse>;
}

/** Starts an emulator before the tests of the block and closes it after them. */
export function useEmulator(options: EmulatorOptions = { profiles }): EmulatorFixture {
  let running: Emulator | undefined;
  beforeAll(async () => {
    running = await startEmulator({ clock: () => fixture.now, ...options });
  });
  afterAll(() => running?.close());
  const fixture: EmulatorFixture = {
    get emulator() {
      if (running === undefined) throw new Error('the emulator is not running yet');
      return running;
    },
    now: Date.parse('2026-01-01T00:00:00Z'),
    get: (url, headers = {}) => sendRequest(fixture.emulator, url, { headers }),
    post: (url, form, headers = {}) => sendRequest(fixture.emulator, url, { form, headers }),
  };
  return fixture;
}

/** A profile for each provider, with everything that the emulator can know. */
export const profiles = {
  graph: {
    type: 'microsoft',
    tenant_id: 'contoso.com',
    client_id: 'ms',
    client_secret: 'ms~secret',
    username: 'ada@contoso.com',
    password: 'pw-ada',
    refresh_token: 'ms-rt',
  },
  public: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'ms-public' },
  drive: { type: 'google', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' },
  org: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'o',
    client_secret: 'o-secret',
    username: 'bob',
    password: 'pw-bob',
    refresh_token: 'o-rt',
    scope: 'openid offline_access',
  },
  lab: {
    type: 'gitlab',
    client_id: 'l',
    client_secret: 'gloas-secret',
    username: 'root',
    password: 'pw-root',
    refresh_token: 'l-rt',
  },
  x: { type: 'twitter', client_id: 'key', client_secret: 'x-secret' },
  acme: {
    type: 'custom',
    url: 'https://login.example.test/oauth/token',
    client_id: 'c',
    client_secret: 'c secret',
    username: 'eve',
    password: 'pw-eve',
    refresh_token: 'c-rt',
  },
};

/** The token endpoint of each provider. */
export const tokenUrls = {
  microsoft: 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token',
  google: 'https://accounts.google.com/o/oauth2/token',
  okta: 'https://acme.okta.com/oauth2/default/v1/token',
  gitlab: 'https://gitlab.com/oauth/token',
  twitter: 'https://api.twitter.com/oauth2/token',
  custom: 'https://login.example.test/oauth/token',
};

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
