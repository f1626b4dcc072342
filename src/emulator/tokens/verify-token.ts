import { createHash } from 'node:crypto';
import { requestTarget } from '../endpoints/target.ts';
import { parseUrl } from '../messages.ts';
import type { ResourceSubject } from '../provider.ts';
import type { Realm, RequestContext, TokenFamily } from '../realm.ts';
import type { Claims } from '../subjects.ts';
import type { OpaqueToken } from './issue-tokens.ts';

/** An access token that this emulator issued, valid or not. */
export interface KnownToken extends ResourceSubject {
  /** Identifies the token in the list of revoked ones. */
  readonly key: string;
  readonly family: TokenFamily | undefined;
  readonly invalidations: number;
  readonly audience: unknown;
  readonly claims: Claims;
  /** Why it is not accepted. */
  readonly invalid: 'expired' | 'revoked' | undefined;
}

/** Recognises an access token by its signature or its message authentication code. */
export async function findToken(context: RequestContext, token: string): Promise<KnownToken | undefined> {
  const { realm, states, keys, request } = context;
  const { provider } = realm;
  const target = requestTarget(realm, request);
  const opaque = states.decode<OpaqueToken>(decodeToken(provider.decodeAccessToken, token));
  const jwt = opaque === undefined ? await keys.verify(token) : undefined;
  if (opaque === undefined && jwt === undefined) return undefined;
  const { iss, iat, exp, aud, scope, scp, client_id, cid, azp, sub, jti, uti } = jwt ?? {};
  const id = opaque?.id ?? String(uti ?? jti ?? '').replace(/^AT\./, '');
  const state = states.readId(id);
  // The emulators of a process share the signing key; the id distinguishes their tokens.
  if (state === undefined && jwt !== undefined) return undefined;
  // The issuer separates the realms of one emulator.
  const issuer = String(opaque?.issuer ?? iss);
  if (issuer !== provider.issuer(target) && !isOwnIssuer(issuer, realm, target.host)) return undefined;
  const family = state && realm.families.get(state.family);
  const known: Omit<KnownToken, 'invalid'> = {
    key: state === undefined ? createHash('sha256').update(token).digest('base64url') : id,
    clientId: state?.clientId ?? opaque?.clientId ?? String(client_id ?? cid ?? azp ?? ''),
    user: realm.findUser(state === undefined ? String(sub ?? '') : state.user || undefined),
    scopes: [opaque?.scope ?? scope ?? scp ?? []]
      .flat()
      .flatMap((one) => String(one).split(' '))
      .filter(Boolean),
    issuer,
    target,
    family,
    invalidations: opaque?.invalidations ?? 0,
    issuedAt: Number(opaque?.iat ?? iat ?? 0),
    expiresAt: opaque === undefined ? (exp as number | undefined) : opaque.exp,
    audience: opaque?.aud ?? aud,
    claims: jwt ?? {},
  };
  return { ...known, invalid: findIssue(context, known, state?.generation, state?.issuedAt) };
}

/** Whether the issuer, under its production URL or on loopback, belongs to the realm of a request. */
function isOwnIssuer(issuer: string, realm: Realm, requested: string): boolean {
  const { host = '', pathname = '' } = parseUrl(issuer) ?? {};
  const { hosts, isolatedHosts } = realm.provider;
  return [host, pathname.split('/')[1] ?? ''].some(
    (name) => name === requested || realm.tokenUrls.has(name) || (!isolatedHosts && hosts?.test(name)),
  );
}

function findIssue(
  { realm, now }: RequestContext,
  { clientId, key, family, invalidations, expiresAt }: Omit<KnownToken, 'invalid'>,
  generation = 0,
  issuedAt = now,
): KnownToken['invalid'] {
  const { provider, settings } = realm;
  if ((expiresAt !== undefined && expiresAt * 1000 <= now) || issuedAt <= realm.expiredBefore) return 'expired';
  const isRevoked =
    family?.revoked === true ||
    realm.revokedTokens.has(key) ||
    // With single-use refresh tokens, a refresh invalidates earlier access tokens.
    (settings.refreshPolicy === 'single_use' && family !== undefined && generation !== family.generation) ||
    (provider.stableToken && invalidations !== (realm.invalidations.get(clientId) ?? 0));
  return isRevoked ? 'revoked' : undefined;
}

/** A malformed token is not decoded. */
function decodeToken(decode: ((token: string) => string) | undefined, token: string): string {
  try {
    return decode?.(token) ?? token;
  } catch {
    return '';
  }
}
