import type { RequestContext } from '../issue.ts';
import { type EmulatorRequest, type EmulatorResponse, html } from '../message.ts';
import { escapeHtml, page } from '../pages.ts';
import { MAX_KEPT_LENGTH } from '../realm.ts';
import { placeOf } from './metadata.ts';
import { signInAndConsent } from './sign-in.ts';

const CODE_MS = 600_000;

/** The authorization endpoint (RFC 6749 §4.1.1): signs a person in and sends the browser back with a code. */
export function authorizeEndpoint(desk: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { realm, mint, now } = desk;
  const { query } = request;
  const { type } = realm.dialect;
  const clientId = query.get('client_id') ?? '';
  const redirectUri = query.get('redirect_uri') ?? '';
  const mistake = mistakeIn(desk, clientId, redirectUri) ?? tooLong(query);
  // Nobody is sent to an address that was not checked (RFC 6749 §4.1.2.1).
  if (mistake !== undefined)
    return html(
      400,
      page('This request cannot be used', type, `<p class="error" role="alert">${escapeHtml(mistake)}</p>`),
    );
  const back = (parameters: Record<string, string>): EmulatorResponse => {
    const target = new URL(redirectUri);
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    const state = query.get('state');
    if (state !== null) target.searchParams.set('state', state);
    const issuer = realm.dialect.issuer?.(placeOf(desk, request));
    if (issuer !== undefined) target.searchParams.set('iss', issuer);
    return { status: 302, headers: { Location: target.href, 'Cache-Control': 'no-store' }, body: '' };
  };
  if (query.get('response_type') !== 'code') return back({ error: 'unsupported_response_type' });
  const challenge = query.get('code_challenge') ?? undefined;
  const method = query.get('code_challenge_method') ?? 'plain';
  if (challenge !== undefined && method !== 'S256' && method !== 'plain') return back({ error: 'invalid_request' });
  const scope = query.get('scope') ?? '';
  const step = signInAndConsent(desk, request, { clientId, scope }, {});
  if (step === 'denied') return back({ error: 'access_denied', error_description: 'The person said no.' });
  if ('page' in step) return html(step.status, step.page);
  const code = mint.opaque('code-');
  const offline = !realm.dialect.refresh.onRequest || query.get('access_type') === 'offline';
  realm.codes.set(code, {
    clientId,
    user: step.user,
    scope,
    redirectUri,
    challenge,
    challengeMethod: method,
    offline,
    expiresAt: now + CODE_MS,
    used: false,
    family: undefined,
  });
  return back({ code });
}

/** Node takes addresses of up to 16 KiB, and a code keeps parts of them. */
function tooLong(query: URLSearchParams): string | undefined {
  const [name] = [...query].find(([, value]) => value.length > MAX_KEPT_LENGTH) ?? [];
  return name === undefined ? undefined : `The parameter ${name} is too long.`;
}

function mistakeIn({ realm }: RequestContext, clientId: string, redirectUri: string): string | undefined {
  if (!realm.clients.has(clientId)) return `No profile has the client_id ${clientId || '(none)'}.`;
  if (!URL.canParse(redirectUri)) return 'The redirect_uri is missing or not an address.';
  const { protocol, hostname } = new URL(redirectUri);
  const loopback = protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return loopback || protocol === 'https:' ? undefined : 'The redirect_uri is neither https: nor on this machine.';
}
