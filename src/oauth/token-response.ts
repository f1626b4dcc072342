import type { Profile } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import { type HttpResponse, isSuccess } from './http-response.ts';
import { isErrorBody, parseBody } from './response-body.ts';
import { secretMembers } from './secret-members.ts';

/** A token response: what the provider sent, and what we understood of it. */
export interface ParsedToken {
  /** Every member that the provider sent, as it sent it. */
  readonly response: Readonly<Record<string, unknown>>;
  readonly accessToken: Secret;
  readonly refreshToken: Secret | undefined;
  /** Every further secret in the response, such as an id token: whoever watches secrets must hear of them too. */
  readonly otherSecrets: readonly Secret[];
  readonly tokenType: string | undefined;
  /** Epoch milliseconds; `undefined` where the provider does not say. */
  readonly expiresAt: number | undefined;
}

/** Reads a reply (RFC 6749 §5.1), `undefined` where it is no token; {@link explainReply} tells why. */
export function parseTokenResponse(profile: Profile, reply: HttpResponse, receivedAt: number): ParsedToken | undefined {
  const body = isSuccess(reply) ? parseBody(reply.body) : undefined;
  if (body?.kind !== 'object' || isErrorBody(body.members)) return undefined;
  const found = parseTokenMembers(profile, body.members, receivedAt);
  return found?.otherSecrets === undefined ? undefined : (found as ParsedToken);
}

/** What a response's members mean, `undefined` where they hold no token. */
export function parseTokenMembers(
  { options }: Profile,
  members: Readonly<Record<string, unknown>>,
  receivedAt: number,
): (Omit<ParsedToken, 'otherSecrets'> & { otherSecrets: readonly Secret[] | undefined }) | undefined {
  const { holder, token } = locate(members, options.tokenPath ?? ['access_token']);
  if (typeof token !== 'string' || token === '') return undefined;
  // Where the token is nested, its companions usually stand beside it.
  const companion = (name: string): unknown => holder[name] ?? members[name];
  const refreshToken = companion('refresh_token');
  const tokenType = companion('token_type');
  const { found: otherSecrets, tooDeep } = secretMembers(members, [token, refreshToken]);
  return {
    response: members,
    accessToken: new Secret(token),
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? new Secret(refreshToken) : undefined,
    otherSecrets: tooDeep ? undefined : otherSecrets,
    tokenType: typeof tokenType === 'string' ? tokenType : undefined,
    expiresAt: expiryOf(companion('expires_in'), receivedAt),
  };
}

/** The refresh token in a successful reply, also in one that holds no access token: beside where that should be, or above. */
export function findRefreshToken(
  reply: HttpResponse,
  tokenPath: readonly (string | number)[] = ['access_token'],
): Secret | undefined {
  if (!isSuccess(reply)) return undefined;
  const parsed = parseBody(reply.body);
  if (parsed.kind !== 'object') return undefined;
  const above = tokenPath.map((_, depth) => tokenPath.slice(0, depth));
  const tokens = above.map((path) => locate(parsed.members, [...path, 'refresh_token']).token);
  const nearest = tokens.findLast((token) => typeof token === 'string' && token !== '');
  return typeof nearest === 'string' ? new Secret(nearest) : undefined;
}

/** `expires_in` is a number, but some providers send it as text. */
function expiryOf(lifetime: unknown, receivedAt: number): number | undefined {
  const seconds = typeof lifetime === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(lifetime) ? Number(lifetime) : lifetime;
  if (typeof seconds !== 'number') return undefined;
  const expiresAt = receivedAt + seconds * 1000;
  return Number.isFinite(expiresAt) ? expiresAt : undefined;
}

function locate(members: Readonly<Record<string, unknown>>, path: readonly (string | number)[]) {
  let holder: Readonly<Record<string, unknown>> = members;
  let token: unknown = members;
  for (const step of path) {
    if (typeof token !== 'object' || token === null || !Object.hasOwn(token, step)) return { holder, token: undefined };
    holder = token as Record<string, unknown>;
    token = holder[step];
  }
  return { holder, token };
}
