import type { CallApi } from '../ports.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 33_554_432;
/** Responses without a body (RFC 9110 §6.4.1, Fetch standard). */
const NULL_BODY_STATUS = new Set([204, 205, 304]);

/** `fetch` through `callApi`, for a token source that uses an emulator. */
export async function fetchEmulated(request: Request, callApi: CallApi): Promise<Response> {
  const body = request.body === null ? undefined : [new Uint8Array(await request.arrayBuffer())];
  const { status, statusText, headers, ...response } = await callApi(
    { method: request.method, url: new URL(request.url), headers: [...request.headers], body },
    { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal: request.signal },
  );
  const responseHeaders = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) responseHeaders.append(name, one);
  }
  return new Response(NULL_BODY_STATUS.has(status) ? null : Buffer.from(response.body), {
    status,
    statusText,
    headers: responseHeaders,
  });
}
