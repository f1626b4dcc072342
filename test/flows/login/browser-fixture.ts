import { createHash } from 'node:crypto';
import type { OAuthProfileError } from '../../../src/errors.ts';
import { type BrowserLoginOptions, loginWithAuthorizationCode } from '../../../src/flows/login/authorization-code.ts';
import type { CallApi, LoginPorts, Redirect, RedirectTarget, WireRequest } from '../../../src/ports.ts';
import { fakePorts, ManualClock, settle } from '../../support/ports.ts';
import { loginProfileOf } from '../../support/profiles.ts';

export const google = { type: 'google', client_id: 'desktop', client_secret: 'GOCSPX-secret', scope: 'email' };
export const microsoft = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read' };
const granted = { access_token: 'at-value', refresh_token: 'rt-value', token_type: 'Bearer', expires_in: 3600 };

/** The first two random strings of a login. */
export const STATE = 'random-string-1';
export const VERIFIER = 'random-string-2';

/** Settings of {@link startBrowserLogin}. */
interface BrowserSettings {
  /** Default: {@link google}. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly options?: Partial<BrowserLoginOptions>;
  /** Response of the token endpoint, or the failure of the request. Default: tokens. */
  readonly response?: object | Error;
  /** Why no browser can be opened. */
  readonly problem?: string;
  /** Lines that the user types. Without them there is no terminal. */
  readonly lines?: string[];
  /** Metadata of the server, or the failure to read it. */
  readonly document?: unknown;
  readonly signal?: AbortSignal;
}

/** Starts a login whose browser is the function `redirect`. */
export function startBrowserLogin(settings: BrowserSettings = {}) {
  const { fields = google, options, response = granted, problem, lines, document, signal } = settings;
  const clock = new ManualClock();
  const sent: WireRequest[] = [];
  const log: string[] = [];
  let randomStrings = 0;
  let receive: (redirect: Redirect) => void = () => {};
  const seen = {
    target: undefined as RedirectTarget | undefined,
    isExpected: (_: string) => false,
    opened: undefined as string | undefined,
    pages: [] as string[],
    closed: false,
    shown: [] as [url: string, problem: string | undefined][],
    mistakes: [] as string[],
    warnings: [] as string[],
  };
  const loginPorts: LoginPorts = {
    randomString: () => `random-string-${++randomStrings}`,
    sha256: (value) => createHash('sha256').update(value.reveal()).digest('base64url'),
    listen: async (target, isExpected) => {
      Object.assign(seen, { target, isExpected });
      return {
        port: target.port || 4711,
        redirect: new Promise((resolve) => {
          receive = resolve;
        }),
        close: async () => {
          seen.closed = true;
        },
      };
    },
    openBrowser: async (url) => {
      seen.opened = url;
      return problem;
    },
    pageUrl: ({ href }) => href,
    callApi: publishing(document),
  };
  const ports = fakePorts({
    clock,
    log: (line) => void log.push(line),
    send: async (request) => {
      sent.push(request);
      if (response instanceof Error) throw response;
      if ('status' in response) return { headers: {}, body: '', ...response } as never;
      return { status: 'error' in response ? 400 : 200, headers: {}, body: JSON.stringify(response) };
    },
  });
  const prompt = {
    readLine: lines && (async () => lines.shift() ?? (await new Promise<string>(() => {}))),
    showUrl: (url: string, why: string | undefined) => void seen.shown.push([url, why]),
    showMistake: (message: string) => void seen.mistakes.push(message),
    showWarning: (message: string) => void seen.warnings.push(message),
  };
  const outcome = loginWithAuthorizationCode(
    loginProfileOf(fields),
    { port: undefined, open: true, ...options },
    ports,
    loginPorts,
    prompt,
    signal,
  ).then(
    (token) => ({ token, error: undefined }),
    (error: OAuthProfileError) => ({ token: undefined, error }),
  );
  /** The browser is redirected with this query. */
  const redirect = async (query: string): Promise<void> => {
    await settle();
    receive({ query, show: (page) => void seen.pages.push(page) });
  };
  return { seen, sent, clock, log, outcome, redirect };
}

/** A server that publishes this document, or the one of a promise, at every URL; without one, every response is 404. An error fails every request. */
export function publishing(published: unknown): CallApi {
  return async () => {
    const document = await published;
    if (document instanceof Error) throw document;
    const body = new TextEncoder().encode(document === undefined ? '' : JSON.stringify(document));
    return { status: document === undefined ? 404 : 200, statusText: '', headers: {}, body };
  };
}
