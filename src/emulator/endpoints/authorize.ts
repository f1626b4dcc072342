import { type EmulatorResponse, html, parseUrl } from '../messages.ts';
import { escapeHtml, page } from '../pages.ts';
import { MAX_STORED_LENGTH, type RequestContext } from '../realm.ts';
import { describeError, Rejection } from '../rejection.ts';
import { signInAndConsent } from './sign-in.ts';
import { publicUrl, requestTarget } from './target.ts';
import { hasScopes, requestedAudience } from './token.ts';

const CODE_MS = 600_000;

/** The authorization endpoint (RFC 6749 §4.1.1): signs the user in and redirects the browser with a code. */
export function authorizeEndpoint(context: RequestContext): EmulatorResponse {
  const { request, realm, states, now } = context;
  const { query } = request;
  const { type } = realm.provider;
  const clientId = query.get('client_id') ?? '';
  const redirectUri = query.get('redirect_uri') ?? '';
  const issue = findIssue(context, clientId, redirectUri) ?? findLongParameter(query);
  // Never redirect to an unchecked URI (RFC 6749 §4.1.2.1).
  if (issue !== undefined)
    return html(400, page('Invalid request', type, `<p class="error" role="alert">${escapeHtml(issue)}</p>`));
  const redirect = (parameters: Record<string, string>): EmulatorResponse => {
    const target = new URL(redirectUri);
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    const state = query.get('state');
    if (state !== null) target.searchParams.set('state', state);
    if (realm.provider.sendsIssuer) {
      // The pages of a client that uses the production URLs have this parameter.
      const viaLoopback = request.viaLoopback && !query.has('oauth_profile_page');
      const issuer = realm.provider.issuer(requestTarget(realm, request));
      target.searchParams.set('iss', publicUrl({ ...request, viaLoopback }, issuer));
    }
    return { status: 302, headers: { Location: target.href, 'Cache-Control': 'no-store' }, body: '' };
  };
  if (query.get('response_type') !== 'code') return redirect({ error: 'unsupported_response_type' });
  const challenge = query.get('code_challenge') ?? undefined;
  const method = query.get('code_challenge_method') ?? 'plain';
  if (challenge !== undefined && method !== 'S256' && method !== 'plain') return redirect({ error: 'invalid_request' });
  const [unsupported] = (realm.provider.rejectedParameters ?? []).filter((name) => query.has(name));
  if (unsupported !== undefined) {
    const { body } = describeError(new Rejection('unsupported_parameter', unsupported), realm.provider.errors);
    return redirect({ ...body });
  }
  const scope = query.get('scope') ?? '';
  const client = realm.clients.get(clientId);
  if (scope !== '' && !hasScopes(realm.provider, client, scope)) return redirect({ error: 'invalid_scope' });
  const step = signInAndConsent(context, { clientId, scope }, {});
  if (step === 'denied') return redirect({ error: 'access_denied', error_description: 'The user denied access.' });
  if ('page' in step) return html(step.status, step.page);
  const code = states.random('code-');
  const offline = !realm.provider.refresh.offlineAccessOnly || query.get('access_type') === 'offline';
  realm.codes.set(code, {
    clientId,
    user: step.user,
    scope,
    audience: requestedAudience(query),
    nonce: query.get('nonce') ?? undefined,
    authTime: Math.floor(now / 1000),
    redirectUri,
    challenge,
    challengeMethod: method,
    offline,
    expiresAt: now + CODE_MS,
    used: false,
    family: undefined,
  });
  return redirect({ code, ...realm.provider.redirectParameters });
}

/** Node accepts URLs of up to 16 KiB, and parts of them are stored with a code. */
function findLongParameter(query: URLSearchParams): string | undefined {
  const [name] = [...query].find(([, value]) => value.length > MAX_STORED_LENGTH) ?? [];
  return name === undefined ? undefined : `The parameter ${name} is too long.`;
}

function findIssue({ realm }: RequestContext, clientId: string, redirectUri: string): string | undefined {
  const client = realm.clients.get(clientId);
  if (client === undefined) return `No profile has the client_id ${clientId || '(none)'}.`;
  const { protocol, hostname } = parseUrl(redirectUri) ?? {};
  if (hostname === undefined) return 'The redirect_uri is missing or not a URL.';
  if (client.redirect_uris?.some((uri) => isSameRedirect(uri, redirectUri)) === false)
    return `The redirect_uri ${redirectUri} is not registered for the client.`;
  const isLoopback = protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return isLoopback || protocol === 'https:' ? undefined : 'The redirect_uri must be https: or on loopback.';
}

/** Redirect URIs are compared exactly, except for the port of a loopback IP address (RFC 8252 §7.3). */
function isSameRedirect(registered: string, requested: string): boolean {
  const withoutPort = (uri: string): string => uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d+(?=\/|$)/, '$1');
  return registered === requested || withoutPort(registered) === withoutPort(requested);
}
