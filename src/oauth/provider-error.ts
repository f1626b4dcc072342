import { type ErrorCode, type ErrorResponse, ProviderError } from '../errors.ts';
import { loginCommand } from '../profile/login-command.ts';
import { type Profile, providerName } from '../profile/profile.ts';
import type { ErrorHint } from '../providers/provider.ts';
import { MASK, Secret } from '../redaction/secret.ts';
import { parseErrorResponse } from './error-response.ts';
import type { HttpResponse } from './http-response.ts';
import { createLowerCaseQuote, createRedactedQuote, type Quote } from './redacted-quote.ts';
import type { ParsedBody } from './response-body.ts';
import { parseRetryAfter } from './retry-after.ts';
import { isSecretOfErrorResponse, secretMembers } from './secret-members.ts';
import type { TokenRequest } from './token-request.ts';
import { stripQuery } from './without-query.ts';

/** A hint for the standard codes (RFC 6749 §5.2), where the provider's own hints have none. */
const standardHints: readonly ErrorHint[] = [
  {
    error: 'invalid_client',
    hint: 'the client is unknown or its secret is wrong: check {client_id} and {client_secret}',
  },
  {
    error: 'invalid_grant',
    grant: 'password',
    hint: 'the user name or password is wrong: check {username} and {password}',
  },
  {
    error: 'invalid_grant',
    grant: 'refresh_token',
    hint: 'the refresh token is invalid, expired, revoked or of another client; {login}',
  },
  {
    error: 'invalid_grant',
    grant: 'authorization_code',
    hint: 'the code is invalid, expired, used or of another client: get a new one and set {code}',
  },
  { error: 'unauthorized_client', hint: 'the client may not use this grant: check {client_id} and {grant_type}' },
  { error: 'unsupported_grant_type', hint: 'the provider does not know this grant: set {grant_type}' },
  { error: 'invalid_scope', hint: 'the scope is unknown, malformed or too wide: set {scope}' },
  { error: 'authorization_pending', hint: 'nobody has entered the device code yet: enter it, then try again' },
  { error: 'slow_down', hint: 'wait some seconds longer before each try' },
  { error: 'expired_token', hint: 'the device code has expired: get a new one and set {device_code}' },
  { error: 'invalid_target', hint: 'the resource or audience is unknown: set {resource} or {audience}' },
];

/** Refusals of a refresh token that only a person can end (OpenID Connect Core §3.1.2.6, MSAL's list). */
const interactionErrors = new Set([
  'invalid_grant',
  'interaction_required',
  'consent_required',
  'login_required',
  'bad_token',
]);

/** Microsoft ends its words with ids and a time; the id that support asks for is shown on its own. */
const tail = /\s+Trace ID: \S+(?:\s.{0,150})?$/;

/** The provider's own words as a message repeats them. */
function wordsOf({ error, description, correlationId }: ErrorResponse): string {
  const told = correlationId === undefined ? description : description?.replace(tail, '');
  return [error, told].filter((part) => part !== undefined).join(': ');
}

/** Turns a reply that is no token into one error for a person: what happened, which variable to change, the provider's own words. */
export function toProviderError(
  profile: Profile,
  request: TokenRequest,
  reply: HttpResponse,
  body: ParsedBody,
  receivedAt: number,
): ProviderError {
  const { found } = secretMembers(body.kind === 'object' ? body.members : {}, [], isSecretOfErrorResponse);
  const quote = createRedactedQuote(profile, request, reply, found);
  const provider = parseErrorResponse(reply, body, quote);
  const who = providerName(profile);
  const words = wordsOf(provider);
  const said = words === '' ? `HTTP ${reply.status}` : `HTTP ${reply.status}, ${words}`;
  // The status comes first: Okta's 429 may say invalid_grant.
  if (reply.status === 429) {
    const retryAt = parseRetryAfter(reply.headers, receivedAt);
    const seconds = secondsUntil(retryAt, receivedAt);
    const wait = seconds === 0 ? 'wait a while' : `wait ${seconds} s`;
    return new ProviderError('rate_limited', `${who} takes no more requests for now (${said})`, {
      provider,
      retryAt,
      hint: `${wait} before another try, and reuse tokens instead of asking for new ones`,
    });
  }
  if (reply.status >= 500) {
    const retryAt = parseRetryAfter(reply.headers, receivedAt);
    const seconds = secondsUntil(retryAt, receivedAt);
    const later = seconds === 0 ? 'try again later' : `try again in ${seconds} s`;
    // Some servers are out of order whenever they mean no.
    const refusal = findHint(profile, provider, codeOf(profile, provider));
    return new ProviderError('provider_unavailable', `${who} is out of order (${said})`, {
      provider,
      retryAt,
      hint: refusal === undefined ? later : `${later}; if it says the same again, ${refusal}`,
    });
  }
  if (reply.status >= 300 && reply.status < 400) return redirected(profile, request, reply, provider, who, quote);
  const code = codeOf(profile, provider);
  return new ProviderError(code, `${who} refused profile ${profile.name} (${said})`, {
    provider,
    hint: findHint(profile, provider, code),
  });
}

/** 0 where the provider does not say, or says "at once" while it still refuses. */
function secondsUntil(retryAt: number | undefined, receivedAt: number): number {
  return retryAt === undefined ? 0 : Math.ceil((retryAt - receivedAt) / 1000);
}

/** What to do about a refusal, where that is known; a person who must sign in is told the command. */
export function findHint(profile: Profile, refusal: ErrorResponse, code: ErrorCode): string | undefined {
  const known = matchHint(profile, refusal)?.hint;
  const needsLogin = code === 'login_required' && known?.includes(LOGIN) !== true;
  const hint = needsLogin ? (known === undefined ? LOGIN : `${known}; then ${LOGIN}`) : known;
  return hint === undefined ? undefined : fillHint(hint, profile) + encodingHint(profile, refusal);
}

/** In a hint: the command that signs a person in. */
const LOGIN = '{login}';

function codeOf(profile: Profile, { error }: ErrorResponse): ErrorCode {
  return profile.grant === 'refresh_token' && error !== undefined && interactionErrors.has(error)
    ? 'login_required'
    : 'provider_rejected';
}

/** Credentials are never sent after a redirect, so its target is told to the person instead. */
function redirected(
  profile: Profile,
  request: TokenRequest,
  reply: HttpResponse,
  provider: ErrorResponse,
  who: string,
  quote: Quote,
): ProviderError {
  const target = targetOf(reply, profile, quote, createLowerCaseQuote(profile, request));
  return new ProviderError(
    'redirected',
    `${who} redirects to ${target} (HTTP ${reply.status}); secrets are not sent on`,
    {
      provider,
      hint: `if the token endpoint has moved there, set ${profile.name}.url`,
    },
  );
}

/** The address alone: a query may repeat what was sent. */
function targetOf(reply: HttpResponse, profile: Profile, quote: Quote, quoteLowerCase: Quote): string {
  const location = String(reply.headers['location'] ?? '');
  const address = stripQuery(location);
  if (address === '' || !URL.canParse(address, profile.url.href)) return 'an unnamed place';
  // Searched as it came: a host loses its capitals by being parsed, and with them a secret its spelling.
  const hidden = stripQuery(quote(location, Number.POSITIVE_INFINITY)).includes(MASK);
  const { protocol, host, pathname } = new URL(address, profile.url);
  // And as it is read: a server may have written it without its capitals, which a host does not need.
  if (hidden || quoteLowerCase(host, Number.POSITIVE_INFINITY).includes(MASK)) {
    return 'an address with a secret of the request in it';
  }
  return quote(`${protocol}//${host}${pathname}`, 200);
}

function matchHint(profile: Profile, refusal: ErrorResponse): ErrorHint | undefined {
  const fits = (hint: ErrorHint): boolean =>
    (hint.codes === undefined || hint.codes.some((code) => refusal.codes?.includes(code) === true)) &&
    (hint.error === undefined || hint.error === refusal.error) &&
    (hint.description === undefined || hint.description.test(refusal.description ?? '')) &&
    (hint.grant === undefined || hint.grant === profile.grant);
  // A code that we do not know may mean anything that a person has to do; only without one it is a wrong password.
  const guess = refusal.codes !== undefined && refusal.error === 'invalid_grant' && profile.grant === 'password';
  const found = profile.provider.hints.find(fits) ?? (guess ? undefined : standardHints.find(fits));
  if (found !== undefined || refusal.error !== undefined || refusal.status !== 404) return found;
  return { hint: 'there is no token endpoint at this address: check {url}' };
}

/** `{client_secret}` → `graph.client_secret`, or what serves in its place; `{login}` → the command to run. */
export function fillHint(hint: string, profile: Profile): string {
  const { name, basic, clientAuth, options, provider } = profile;
  const signsIn = provider.login ?? options.authorizationUrl ?? options.deviceAuthorizationUrl;
  const login = signsIn === undefined ? `get a new one and set ${name}.refresh_token` : `run: ${loginCommand(name)}`;
  const inPlace = new Map<string, string>();
  if (clientAuth === 'private_key_jwt') inPlace.set('client_secret', 'options.key_file');
  if (basic !== undefined) inPlace.set('client_id', 'basic.user').set('client_secret', 'basic.password');
  return hint
    .replaceAll(LOGIN, () => login)
    .replace(/\{([a-z_.]+)\}/g, (_, field: string) => `${name}.${inPlace.get(field) ?? field}`);
}

/** A server that never decodes a Basic header takes a right secret for a wrong one, if encoding changed it (RFC 6749 §2.3.1). */
function encodingHint(profile: Profile, { error }: ErrorResponse): string {
  const { name, basic, clientAuth, fields } = profile;
  if (error !== 'invalid_client' || clientAuth !== 'client_secret_basic') return '';
  const secret = basic?.password.value ?? fields.find((field) => field.name === 'client_secret')?.value;
  const changes = (text: string): boolean => encodeURIComponent(text) !== text;
  if (!(secret instanceof Secret ? secret.test(changes) : changes(secret ?? ''))) return '';
  return `; if they are right, the server may not decode them: set ${name}.options.client_auth to basic_raw or body`;
}
