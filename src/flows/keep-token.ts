import { type ParsedToken, parseTokenMembers } from '../oauth/token-response.ts';
import type { Clock, TokenStore } from '../ports.ts';
import type { Profile } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import type { KeptToken } from './stored-record.ts';

const REFRESH_TOKEN = 'refresh_token';

/** A token response that has just come, to be kept: its times become those of the store. */
export function keepToken(
  reply: ParsedToken,
  startedAt: number,
  store: Pick<TokenStore, 'now'>,
  clock: Pick<Clock, 'now'>,
): KeptToken {
  const { refresh_token: refreshToken, ...rest } = reply.response;
  const obtainedAt = store.now();
  // One that is nested, beside the access token, leaves its place empty.
  const emptied = (name: string, value: unknown): unknown =>
    name === REFRESH_TOKEN && reply.refreshToken?.test((token) => token === value) ? '' : value;
  return {
    response: Secret.untracked(JSON.stringify(rest, emptied)),
    hadRefreshToken: refreshToken !== undefined,
    startedAt,
    obtainedAt,
    expiresAt: reply.expiresAt === undefined ? undefined : obtainedAt + reply.expiresAt - clock.now(),
  };
}

/** When a kept token ends; `undefined` where nobody knows. */
export function endOf({ expiresAt, obtainedAt }: KeptToken, { options }: Profile): number | undefined {
  if (expiresAt !== undefined && expiresAt !== null) return expiresAt;
  return options.defaultTtlMs === undefined ? undefined : obtainedAt + options.defaultTtlMs;
}

/** The reply that a kept token was, with the seconds that it has left (D4). */
export function reviveToken(
  profile: Profile,
  kept: KeptToken,
  refreshToken: Secret | undefined,
  now: number,
): ParsedToken | undefined {
  const filled = (name: string, value: unknown): unknown =>
    name === REFRESH_TOKEN && value === '' ? refreshToken?.reveal() : value;
  const response = JSON.parse(kept.response.reveal(), filled) as Record<string, unknown>;
  const left = kept.expiresAt === undefined ? undefined : Math.max(0, Math.floor((kept.expiresAt - now) / 1000));
  if (left !== undefined) setLeft(response, profile.options.tokenPath ?? [], left);
  if (kept.hadRefreshToken && refreshToken !== undefined) {
    response[REFRESH_TOKEN] = refreshToken.reveal();
  }
  const reply = parseTokenMembers(profile, response, now);
  return reply === 'too_deep' ? undefined : reply;
}

/** Beside the token, or at the top; as the type that the provider sent. */
function setLeft(members: Record<string, unknown>, path: readonly (string | number)[], seconds: number): void {
  const value = members['expires_in'];
  if (value !== undefined) members['expires_in'] = typeof value === 'string' ? String(seconds) : seconds;
  const inner = path[0] === undefined ? undefined : members[path[0]];
  if (typeof inner === 'object' && inner !== null) {
    setLeft(inner as Record<string, unknown>, path.slice(1), seconds);
  }
}
