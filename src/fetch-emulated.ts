import { composeCallApi, type ProcessEnvironment } from './compose.ts';
import type { EmulatorEndpoint } from './ports.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 33_554_432;
/** RFC 9110 §6.4.1 and the fetch standard: such a response has no body, not even an empty one. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** `fetch` for a token source that talks to an emulator: to real addresses, which all end there. */
export async function fetchEmulated(
  request: Request,
  surroundings: ProcessEnvironment,
  emulator: EmulatorEndpoint,
): Promise<Response> {
  const { callApi } = composeCallApi(surroundings, emulator);
  const body = request.body === null ? undefined : [new Uint8Array(await request.arrayBuffer())];
  const headers = [...request.headers];
  const reply = await callApi(
    { method: request.method, url: new URL(request.url), headers, body },
    { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal: request.signal },
  );
  const answered = new Headers();
  for (const [name, value] of Object.entries(reply.headers)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) answered.append(name, one);
  }
  const { status, statusText } = reply;
  return new Response(WITHOUT_BODY.has(status) ? null : Buffer.from(reply.body), {
    status,
    statusText,
    headers: answered,
  });
}
