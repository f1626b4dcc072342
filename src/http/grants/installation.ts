import { type HttpResponse, isSuccess, parseBody } from '../../oauth/http-response.ts';
import type { CallApi, Clock, Limits, Send, WireRequest } from '../../ports.ts';
import { INSTALLATION_ID, type InstallationRequest } from '../../profile/profile.ts';

const MAX_BYTES = 1_048_576;

/**
 * Requests a token of an installation, whose id is looked up first if the profile has only a repository. The result is a token response (RFC 6749
 * §5.1), or the first error response.
 */
export async function sendInstallation(
  send: Send,
  callApi: CallApi,
  request: WireRequest,
  { lookupUrl }: InstallationRequest,
  clock: Pick<Clock, 'now'>,
  { timeoutMs, signal }: Limits,
): Promise<HttpResponse> {
  const deadline = clock.now() + timeoutMs;
  let { url } = request;
  if (lookupUrl !== undefined) {
    const { 'Content-Type': _, ...headers } = request.headers;
    const lookup = {
      method: 'GET',
      url: lookupUrl,
      headers: Object.entries(headers),
      body: undefined,
      tls: request.tls,
    };
    const { status, body, ...found } = await callApi(lookup, { timeoutMs, signal, maxBytes: MAX_BYTES });
    const response = {
      status,
      headers: found.headers as HttpResponse['headers'],
      body: new TextDecoder().decode(body),
    };
    const id = successMembers(response)?.['id'];
    if (!Number.isSafeInteger(id)) return response;
    url = new URL(url.href.replace(INSTALLATION_ID, String(id)));
  }
  const response = await send({ ...request, url }, { timeoutMs: Math.max(1, deadline - clock.now()), signal });
  const { token, expires_at: expiry, ...others } = successMembers(response) ?? {};
  if (typeof token !== 'string') return response;
  const expiresAt = Date.parse(String(expiry));
  const lifetime = Number.isNaN(expiresAt) ? {} : { expires_in: Math.floor((expiresAt - clock.now()) / 1000) };
  return { ...response, body: JSON.stringify({ access_token: token, token_type: 'bearer', ...lifetime, ...others }) };
}

function successMembers(response: HttpResponse): Readonly<Record<string, unknown>> | undefined {
  const body = parseBody(response.body);
  return isSuccess(response) && body.kind === 'object' ? body.members : undefined;
}
