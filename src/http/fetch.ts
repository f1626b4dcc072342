import type { CallApi, TlsFiles } from '../ports.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 33_554_432;
/** A response with one of these statuses must be constructed without a body, not with an empty one (Fetch standard, "null body status"). */
const NULL_BODY_STATUSES = new Set([204, 205, 304]);

/** A `fetch` on {@link CallApi}, so that a token source can send requests to an emulator and always checks certificates. Redirects are returned, not followed. */
export async function fetchThrough(callApi: CallApi, request: Request, tls?: TlsFiles): Promise<Response> {
  const { method, signal } = request;
  const body = request.body === null ? undefined : [new Uint8Array(await request.arrayBuffer())];
  const response = await callApi(
    { method, url: new URL(request.url), headers: [...request.headers], body, tls },
    { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal },
  );
  const { status, statusText } = response;
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const item of typeof value === 'string' ? [value] : (value ?? [])) headers.append(name, item);
  }
  return new Response(NULL_BODY_STATUSES.has(status) ? null : Buffer.from(response.body), {
    status,
    statusText,
    headers,
  });
}
