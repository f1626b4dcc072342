import { type ErrorCode, type ErrorResponse, ProviderError } from '../errors.ts';
import { JWT_BEARER, loginCommand, type Profile, providerName, testValue } from '../profile/profile.ts';
import { parseUrl } from '../profile/url.ts';
import type { ErrorHints } from '../providers/provider.ts';
import { MASK } from '../redaction/secret.ts';
import { parseErrorResponse } from './error-response.ts';
import { type Exchange, isErrorBody, isSuccess, type ParsedBody, parseBody } from './http-response.ts';
import { createLowerCaseQuote, createRedactedQuote, type Quote } from './redacted-quote.ts';
import { parseRetryAfter } from './retry-policy.ts';
import { isSecretOfErrorResponse, secretMembers } from './secret-members.ts';

/** Servers that do not send `invalid_grant` for a refresh token that is no longer valid: LemonLDAP::NG, glewlwyd. */
const ENDED = 'the refresh token may have expired or been revoked; {login}';

/** Hints for the standard errors (RFC 6749 §5.2, RFC 8628 §3.5, RFC 8707 §2, RFC 9449 §5) that the provider has no hint for. */
const standardHints: ErrorHints = {
  invalid_client: 'the client is unknown or its secret is wrong: check {client_id} and {client_secret}',
  invalid_grant: [
    { grant: 'password', hint: 'the username or password is wrong: check {username} and {password}' },
    {
      grant: 'refresh_token',
      hint: 'the refresh token is invalid, has expired, was revoked, or belongs to another client; {login}',
    },
    {
      grant: 'authorization_code',
      hint: 'the code is invalid, has expired, was already used, or belongs to another client: get a new one and set {code}',
    },
    {
      grant: JWT_BEARER,
      hint: 'the assertion was rejected: compare the clock of this machine, check {options.assertion.aud} and {options.assertion.sub}, and whether the key of {options.key_file} was revoked',
    },
  ],
  unauthorized_client: 'the client is not allowed to use this grant: check {client_id} and {grant_type}',
  unsupported_grant_type: 'the provider does not support this grant: set {grant_type}',
  invalid_scope: 'the scope is unknown, is malformed, or exceeds what was granted: set {scope}',
  authorization_pending: 'the user has not entered the user code yet: enter it, then try again',
  slow_down: 'wait a few seconds longer between requests',
  expired_token: 'the device code has expired: get a new one and set {device_code}',
  invalid_target: 'the resource or audience is unknown: set {resource} or {audience}',
  invalid_request: [
    { grant: 'refresh_token', hint: ENDED },
    'a parameter is missing, repeated or malformed: compare the request that oauth-profile explain shows with the documentation of the provider',
  ],
  access_denied: [
    { grant: 'refresh_token', hint: ENDED },
    'the user or a policy of the provider denied access: ask the administrator of {client_id}',
  ],
  invalid_dpop_proof:
    'the server rejected the proof of the key: its time may be wrong, so check the clock with oauth-profile check --online',
  use_dpop_nonce: 'the server rejected the nonce that it had sent: try again',
  consent_required: 'the user must consent; {login}',
  interaction_required: 'the user must interact with the provider, such as for multi-factor authentication; {login}',
  // No `error` at all.
  '': [
    { grant: 'refresh_token', hint: ENDED },
    'the provider gave no reason: compare the request that oauth-profile explain shows with the documentation of the provider',
  ],
};

/** Hints for unknown errors of other endpoints than the token endpoint: the URL may be another one. */
const wrongEndpointHints = {
  device_authorization:
    'the server may have no device authorization endpoint at this URL: set {options.device_authorization_url}, or log in with --browser',
  pushed_authorization:
    'the server rejected the authorization request: check {scope} and the registration of {client_id}, such as its redirect URIs',
  revocation: 'the server may have no revocation endpoint at this URL: set {options.revocation_url}',
  introspection: 'the server may have no introspection endpoint at this URL: set {options.introspection_url}',
};

/** Placeholder of the login command in a hint. */
const LOGIN = '{login}';

/** Errors of a refresh that only a new login resolves (OpenID Connect Core §3.1.2.6; MSAL InteractionRequiredAuthError; GitHub, Slack). */
const interactionErrors =
  /^(?:invalid_grant|interaction_required|consent_required|login_required|bad_token|(?:bad|invalid)_refresh_token)$/;

const STATUS_TEXT: Readonly<Record<number, string>> = {
  500: 'internal server error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
};

/** Microsoft's descriptions end with ids and a time. The correlation id is shown separately. */
const descriptionSuffix = /\s+Trace ID: \S+(?:\s.{0,150})?$/;

/** Parses the body of a response. Throws a {@link ProviderError} for an error response, whatever its status. */
export function parseSuccessBody(exchange: Exchange): ParsedBody {
  const body = parseBody(exchange.response.body);
  const isError = !isSuccess(exchange.response) || (body.kind === 'object' && isErrorBody(body.members));
  if (isError) throw toProviderError(exchange, body);
  return body;
}

/** Creates the error for an error response: what happened, which variable to change, and the provider's error (D15). */
export function toProviderError(exchange: Exchange, body: ParsedBody): ProviderError {
  const { profile, response } = exchange;
  const { secrets } = secretMembers(body.kind === 'object' ? body.members : {}, [], isSecretOfErrorResponse);
  const quote = createRedactedQuote(exchange, secrets);
  const provider = parseErrorResponse(response, body, quote);
  const { status } = response;
  // The status takes precedence: Okta's 429 may contain invalid_grant.
  if (status === 429) return rateLimitError(exchange, provider);
  if (status >= 500) return serverError(exchange, provider);
  if (status >= 300 && status < 400) return redirectError(exchange, provider, quote);
  const code = selectErrorCode(profile, provider);
  const description = describeError(provider);
  const details = description === '' ? `HTTP ${status}` : `HTTP ${status}, ${description}`;
  const message = `${providerName(profile)} rejected the request for profile ${profile.name} (${details})`;
  return new ProviderError(code, message, { provider, hint: findHint(profile, provider, code) });
}

function rateLimitError({ profile, response, receivedAt }: Exchange, provider: ErrorResponse): ProviderError {
  const retryAt = parseRetryAfter(response.headers, receivedAt);
  const seconds = secondsUntil(retryAt, receivedAt);
  return new ProviderError('rate_limited', describeStatus(profile, provider, 'rate limit exceeded'), {
    provider,
    retryAt,
    hint: `${seconds === 0 ? 'wait' : `wait ${seconds} s`} before the next request, and reuse tokens instead of requesting new ones`,
  });
}

function serverError({ profile, response, receivedAt }: Exchange, provider: ErrorResponse): ProviderError {
  const retryAt = parseRetryAfter(response.headers, receivedAt);
  const seconds = secondsUntil(retryAt, receivedAt);
  const retry = seconds === 0 ? 'try again later' : `try again in ${seconds} s`;
  // Some servers return 5xx with an OAuth error instead of 4xx.
  const hint = findHint(profile, provider, selectErrorCode(profile, provider));
  const message = describeStatus(profile, provider, STATUS_TEXT[response.status] ?? 'server error');
  return new ProviderError('provider_unavailable', message, {
    provider,
    retryAt,
    hint: hint === undefined ? retry : `${retry}; if the error persists: ${hint}`,
  });
}

/** `microsoft returned HTTP 503 (service unavailable)`, followed by the provider's own error. */
function describeStatus(profile: Profile, provider: ErrorResponse, statusText: string): string {
  const description = describeError(provider);
  const isRepeated = description.toLowerCase() === statusText;
  const start = `${providerName(profile)} returned HTTP ${provider.status} (${statusText})`;
  return description === '' || isRepeated ? start : `${start}: ${description}`;
}

/** The provider's `error` and description for a message. */
function describeError({ error, description, correlationId }: ErrorResponse): string {
  const shown = correlationId === undefined ? description : description?.replace(descriptionSuffix, '');
  return [error, shown].filter((part) => part !== undefined).join(': ');
}

/** Seconds until `retryAt`, rounded up; 0 if the provider did not send a time, or one that has passed. */
function secondsUntil(retryAt: number | undefined, receivedAt: number): number {
  return retryAt === undefined ? 0 : Math.ceil((retryAt - receivedAt) / 1000);
}

function selectErrorCode(profile: Profile, response: ErrorResponse): ErrorCode {
  const { status, error = '' } = response;
  if (profile.grant !== 'refresh_token') return 'provider_rejected';
  const mayHaveEnded = (status === 400 || status === 401) && matchHint(profile, response) === ENDED;
  return interactionErrors.test(error) || mayHaveEnded ? 'login_required' : 'provider_rejected';
}

/** Redirects are not followed, since that would send the credentials elsewhere (D13): the message names the target. */
function redirectError(exchange: Exchange, provider: ErrorResponse, quote: Quote): ProviderError {
  const { profile, response } = exchange;
  const target = describeTarget(exchange, quote);
  const message = `${providerName(profile)} redirected to ${target} (HTTP ${response.status}); redirects are not followed`;
  return new ProviderError('redirected', message, {
    provider,
    hint: `if the token endpoint has moved there, set ${profile.name}.url`,
  });
}

/** The target without its query, which may repeat what was sent. */
function describeTarget(exchange: Exchange, quote: Quote): string {
  const location = String(exchange.response.headers['location'] ?? '');
  const target = removeQuery(location);
  const url = target === '' ? undefined : parseUrl(target, exchange.profile.url);
  if (url === undefined) return 'an invalid location';
  // Searched before parsing: the host of a parsed URL is in lower case, and a secret in it would not be found.
  const hasSecret = removeQuery(quote(location, Number.POSITIVE_INFINITY)).includes(MASK);
  const { protocol, host, pathname } = url;
  // Searched again after parsing: the server may have converted a secret to lower case.
  if (hasSecret || createLowerCaseQuote(exchange)(host, Number.POSITIVE_INFINITY).includes(MASK)) {
    return 'a URL that contains a secret of the request';
  }
  return quote(`${protocol}//${host}${pathname}`, 200);
}

function removeQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}

/**
 * The hint for an error response, and the warnings of the profile, each on its own line. If a login is required, it
 * contains the login command.
 */
export function findHint(profile: Profile, response: ErrorResponse, code: ErrorCode): string | undefined {
  const known = matchHint(profile, response);
  const lacksLogin = code === 'login_required' && known?.includes(LOGIN) !== true;
  const hint = lacksLogin ? (known === undefined ? LOGIN : `${known}; then ${LOGIN}`) : known;
  const lines = [...(hint === undefined ? [] : [fillHint(hint, profile)]), ...profile.warnings];
  if (response.error === 'invalid_client' && isChangedByEncoding(profile)) {
    const option = `${profile.name}.options.client_auth`;
    lines.push(
      `some servers do not decode the Basic header: set ${option} to client_secret_basic_raw or client_secret_post`,
    );
  }
  return lines.length === 0 ? undefined : lines.join('\n');
}

function matchHint({ provider, grant, endpoint }: Profile, response: ErrorResponse): string | undefined {
  const { codes = [], error, description = '', status } = response;
  const findIn = (hints: ErrorHints): string | undefined =>
    [...codes, error ?? '']
      .flatMap((code) => (Object.hasOwn(hints, code) ? (hints[code] ?? []) : []))
      .map((hint) => (typeof hint === 'string' ? { hint } : hint))
      .find((hint) => (hint.grant ?? grant) === grant && (hint.description?.test(description) ?? true))?.hint;
  // invalid_grant with an unknown code may have many causes; only without a code does it mean a wrong password.
  const isAmbiguous = codes.length > 0 && error === 'invalid_grant' && grant === 'password';
  const own = findIn(provider.hints);
  const found = own ?? (isAmbiguous ? undefined : findIn(standardHints));
  // Rails returns 404 with an `error` of its own, LemonLDAP::NG 401 for every unknown URL.
  if (endpoint !== undefined && (found === undefined || error === undefined)) return wrongEndpointHints[endpoint];
  const isRejected = status === 400 || status === 401;
  if (error !== undefined) return found ?? (isRejected && grant === 'refresh_token' ? ENDED : undefined);
  if (own !== undefined) return own;
  if (status === 404) return 'there is no token endpoint at this URL: check {url}';
  // Only 400 and 401 are responses of a token endpoint that say something about the request.
  return isRejected ? found : undefined;
}

/** Replaces the placeholders of {@link ErrorHints}. */
export function fillHint(hint: string, profile: Profile): string {
  const { name, options, provider } = profile;
  const canLogIn = provider.login ?? options.authorizationUrl ?? options.deviceAuthorizationUrl;
  const login = canLogIn === undefined ? `get a new one and set ${name}.refresh_token` : `run: ${loginCommand(name)}`;
  return hint
    .replaceAll(LOGIN, () => login)
    .replace(/\{([a-z_.]+)\}/g, (_, field: string) => `${name}.${replacedField(field, profile)}`);
}

/** The field that is used in the place of a client credential: a key file, or the Basic credentials. */
function replacedField(field: string, { basic, clientAuth }: Profile): string {
  if (basic !== undefined && field === 'client_id') return 'basic.user';
  if (basic !== undefined && field === 'client_secret') return 'basic.password';
  if (clientAuth === 'private_key_jwt' && field === 'client_secret') return 'options.key_file';
  return field;
}

/** Whether a server that does not decode the Basic header (RFC 6749 §2.3.1) receives another secret. */
function isChangedByEncoding({ basic, clientAuth, fields }: Profile): boolean {
  if (clientAuth !== 'client_secret_basic') return false;
  const secret = basic?.password.value ?? fields.find((field) => field.name === 'client_secret')?.value;
  return testValue(secret ?? '', (text) => encodeURIComponent(text) !== text);
}
