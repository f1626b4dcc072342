import { type HttpResponse, isErrorBody, isSuccess, parseBody } from '../../oauth/http-response.ts';
import type { Clock, Limits, Send, WireRequest } from '../../ports.ts';
import type { Impersonation } from '../../profile/profile.ts';
import { Secret } from '../../redaction/secret.ts';

/**
 * Sends a token exchange to Google's STS, then exchanges its token for one of a service account. The result is a token response (RFC 6749 §5.1), or
 * the first error response.
 */
export async function sendImpersonated(
  send: Send,
  request: WireRequest,
  { url, scope, lifetimeSeconds }: Impersonation,
  clock: Pick<Clock, 'now'>,
  { timeoutMs, signal }: Limits,
): Promise<HttpResponse> {
  const startedAt = clock.now();
  const first = await send(request, { timeoutMs, signal });
  const federated = memberOf(first, 'access_token');
  if (federated === undefined) return first;
  const token = new Secret(federated);
  const response = await send(
    {
      ...request,
      url,
      headers: {
        ...request.headers,
        'Content-Type': 'application/json',
        Authorization: new Secret(`Bearer ${federated}`),
      },
      body: JSON.stringify({ scope, lifetime: `${lifetimeSeconds}s` }),
    },
    { timeoutMs: Math.max(1, timeoutMs - (clock.now() - startedAt)), signal },
  );
  const secrets = [...(response.secrets ?? []), token];
  const accessToken = memberOf(response, 'accessToken');
  if (accessToken === undefined) return { ...response, secrets };
  const expiresAt = Date.parse(memberOf(response, 'expireTime') ?? '');
  const lifetime = Number.isNaN(expiresAt) ? {} : { expires_in: Math.floor((expiresAt - clock.now()) / 1000) };
  const body = JSON.stringify({ access_token: accessToken, token_type: 'Bearer', ...lifetime });
  return { ...response, body, secrets };
}

function memberOf(response: HttpResponse, name: string): string | undefined {
  const body = parseBody(response.body);
  if (!isSuccess(response) || body.kind !== 'object' || isErrorBody(body.members)) return undefined;
  const value = body.members[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
