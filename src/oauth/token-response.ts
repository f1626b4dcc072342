import { ProviderError } from '../errors.ts';
import { isDefaultUrl } from '../profile/endpoints.ts';
import { type Profile, quoteShellArgument } from '../profile/profile.ts';
import { excerpt } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';
import { type Exchange, type HttpResponse, isSuccess, parseBody } from './http-response.ts';
import { parseSuccessBody } from './provider-error.ts';
import { createRedactedQuote } from './redacted-quote.ts';
import { memberNames, secretMembers } from './secret-members.ts';

/** A token response: all members as the provider sent them, and the standard ones parsed. */
export interface ParsedToken {
  /** Every member of the response, unchanged (D4). */
  readonly response: Readonly<Record<string, unknown>>;
  readonly accessToken: Secret;
  readonly refreshToken: Secret | undefined;
  /** All other secrets in the response, such as an id token. */
  readonly otherSecrets: readonly Secret[];
  readonly tokenType: string | undefined;
  /** Epoch milliseconds; `undefined` if the response has no `expires_in`. */
  readonly expiresAt: number | undefined;
}

/** Parses a token response (RFC 6749 §5.1). Throws {@link ProviderError} if there is no token in it. */
export function parseTokenResponse(exchange: Exchange): ParsedToken {
  const { profile, receivedAt } = exchange;
  const body = parseSuccessBody(exchange);
  if (body.kind !== 'object') throw unreadableResponse(exchange, `returned ${BODY_KINDS[body.kind]}`);
  const token = parseTokenMembers(profile, body.members, receivedAt);
  if (token === 'too_deep') throw unreadableResponse(exchange, 'returned JSON that is nested too deeply');
  if (token !== undefined) {
    if (profile.dpopKey !== undefined && token.tokenType?.toLowerCase() !== 'dpop')
      throw downgradeError(exchange, token.tokenType);
    return token;
  }
  const quote = createRedactedQuote(exchange, secretMembers(body.members, []).secrets);
  const names = quote(memberNames(body.members).join(', '), 200);
  const description = names === '' ? 'an empty object' : `members: ${names}`;
  throw unreadableResponse(exchange, `returned no access token (${description})`, true);
}

/** RFC 9449 §5: a client that relies on DPoP must discard a token of another type. The option says that it does. */
function downgradeError({ profile, response: { status } }: Exchange, tokenType = 'none'): ProviderError {
  const message = `${profile.url.host} returned a token that is not bound to the key (token_type ${excerpt(tokenType, 40)})`;
  return new ProviderError('response_unreadable', message, {
    provider: { status },
    hint: `enable DPoP for the client at the server, or remove ${profile.name}.options.dpop`,
  });
}

const BODY_KINDS = {
  html: 'an HTML page',
  text: 'text that is neither a JSON object nor form-encoded',
  empty: 'an empty body',
};

/** Parses the members of a token response; `undefined` without an access token. */
export function parseTokenMembers(
  { options }: Pick<Profile, 'options'>,
  members: Readonly<Record<string, unknown>>,
  receivedAt: number,
): ParsedToken | 'too_deep' | undefined {
  const { parent, value: token } = readPath(members, options.tokenPath ?? ['access_token']);
  if (typeof token !== 'string' || token === '') return undefined;
  // If the access token is nested, the other members are usually nested with it.
  const member = (name: string): unknown => parent[name] ?? members[name];
  const refreshToken = member('refresh_token');
  const tokenType = member('token_type');
  const { secrets, tooDeep } = secretMembers(members, [token, refreshToken]);
  if (tooDeep) return 'too_deep';
  return {
    response: members,
    accessToken: new Secret(token),
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? new Secret(refreshToken) : undefined,
    otherSecrets: secrets,
    tokenType: typeof tokenType === 'string' ? tokenType : undefined,
    expiresAt: parseExpiry(member('expires_in'), receivedAt),
  };
}

/**
 * Finds the refresh token in a 2xx response, even without an access token: a rotated refresh token must be stored in any
 * case. It is next to the place of the access token, or in one of the objects around it.
 */
export function findRefreshToken(
  response: HttpResponse,
  tokenPath: readonly (string | number)[] = ['access_token'],
): Secret | undefined {
  if (!isSuccess(response)) return undefined;
  const body = parseBody(response.body);
  if (body.kind !== 'object') return undefined;
  const parents = tokenPath.map((_, depth) => tokenPath.slice(0, depth));
  const tokens = parents.map((path) => readPath(body.members, [...path, 'refresh_token']).value);
  const nearest = tokens.findLast((token) => typeof token === 'string' && token !== '');
  return typeof nearest === 'string' ? new Secret(nearest) : undefined;
}

function unreadableResponse(
  { profile, response: { status } }: Exchange,
  description: string,
  hasMembers = false,
): ProviderError {
  const { url, name } = profile;
  return new ProviderError('response_unreadable', `${url.host} ${description} (HTTP ${status})`, {
    provider: { status },
    hint: isDefaultUrl(profile.provider, url)
      ? `show the request with: oauth-profile explain ${quoteShellArgument(name)}`
      : `check that ${name}.url is a token endpoint${hasMembers ? `; if the token is in another member, set ${name}.options.token_path` : ''}`,
  });
}

/** `expires_in` is a number of seconds; some providers send it as a string. */
function parseExpiry(expiresIn: unknown, receivedAt: number): number | undefined {
  const seconds =
    typeof expiresIn === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(expiresIn) ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== 'number') return undefined;
  const expiresAt = receivedAt + seconds * 1000;
  return Number.isFinite(expiresAt) ? expiresAt : undefined;
}

/** Follows a path of own members; `parent` is the innermost object on the path. */
function readPath(members: Readonly<Record<string, unknown>>, path: readonly (string | number)[]) {
  let parent: Readonly<Record<string, unknown>> = members;
  let value: unknown = members;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return { parent, value: undefined };
    parent = value as Record<string, unknown>;
    value = parent[step];
  }
  return { parent, value };
}
