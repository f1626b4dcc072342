/** A request as the endpoints see it: transport and real host are settled. */
export interface EmulatorRequest {
  readonly method: string;
  /** The real host, such as `login.microsoftonline.com`, in lower case. */
  readonly host: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly form: URLSearchParams;
  /** Where a person's browser finds the pages of this host: `http://127.0.0.1:<port>/<host>`. */
  readonly base: string;
}

/** What goes back. */
export interface EmulatorResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A JSON answer that nobody may cache (RFC 6749 §5.1). */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): EmulatorResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** A plain-text answer. */
export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): EmulatorResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body };
}

/** A page. */
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
