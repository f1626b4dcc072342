/** A request with its real host, independent of how it arrived. */
export interface EmulatorRequest {
  readonly method: string;
  /** The real host, such as `login.microsoftonline.com`, in lower case. */
  readonly host: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly form: URLSearchParams;
  readonly body: string;
  /** The emulator's own origin, such as `http://127.0.0.1:8400`. Pages of a host are below `/<host>`. */
  readonly origin: string;
  /** Whether the client connected to the emulator's own URL, not to the production URL. */
  readonly viaLoopback: boolean;
}

/** A response of an endpoint. */
export interface EmulatorResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** A JSON response that must not be cached (RFC 6749 §5.1). */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): EmulatorResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** A plain-text response. */
export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): EmulatorResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body };
}

/** An HTML page that runs no scripts and cannot be framed. */
export function html(status: number, body: string): EmulatorResponse {
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
    body,
  };
}

/** Parses a URL, `undefined` if it is invalid. `URL.canParse` is not reliable in Node 20. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The members of a JSON body; none if it is empty or malformed. */
export function jsonMembers({ body }: Pick<EmulatorRequest, 'body'>): Record<string, unknown> {
  try {
    return Object(JSON.parse(body || '{}'));
  } catch {
    return {};
  }
}
