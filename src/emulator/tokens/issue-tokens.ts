import { createHash } from 'node:crypto';
import { publicUrl, requestTarget } from '../endpoints/target.ts';
import type { AccessTokenFormat, IssuedTokens, TokenSubject } from '../provider.ts';
import type { RequestContext, TokenFamily } from '../realm.ts';
import type { Claims, User } from '../subjects.ts';
import { applyTokenFault, changeClaims } from './token-faults.ts';

/** The client, the user and the scope that tokens are issued for. */
export interface TokenGrant {
  readonly clientId: string;
  readonly clientAuth: TokenSubject['clientAuth'];
  readonly user: string | undefined;
  readonly scope: string;
  readonly audience?: string | undefined;
  /** Epoch seconds. */
  readonly authTime?: number | undefined;
  readonly nonce?: string | undefined;
  readonly grant: string;
  /** Changes that the control API requests. */
  readonly overrides?: TokenOverrides | undefined;
}

/** Changes to the tokens of a grant. A claim or header parameter that is `null` is removed. */
interface TokenOverrides {
  readonly claims?: Claims | undefined;
  readonly header?: Claims | undefined;
  /** Seconds; negative for an expired token. */
  readonly lifetime?: number | undefined;
  /** A user that is not registered. */
  readonly user?: User | undefined;
}

/** The content of an opaque access token. Times are epoch seconds. */
export interface OpaqueToken {
  readonly clientId: string;
  readonly user?: string | undefined;
  readonly scope: string;
  readonly issuer: string;
  readonly iat: number;
  readonly exp?: number | undefined;
  readonly aud?: string | undefined;
  /** The id of the token; for stable tokens the number of invalidations instead. */
  readonly id?: string | undefined;
  readonly invalidations?: number | undefined;
}

/** Issues an access token, and an id token for the scope `openid`. `family` is set if a refresh token belongs to it. */
export async function issueTokens(
  context: RequestContext,
  grant: TokenGrant,
  family?: TokenFamily,
  refreshToken?: string,
): Promise<IssuedTokens> {
  const { realm, keys, fault } = context;
  const { scope, grant: grantType } = grant;
  if (fault === 'rotated-jwks') await keys.rotate(false);
  const subject = describeSubject(context, grant, family);
  const accessToken = realm.settings.isOpaque
    ? opaqueAccessToken(context, subject, scope)
    : await jwtAccessToken(context, subject);
  if (fault === 'revoked-token') {
    const { id: key, clientId } = subject;
    realm.revokeAccessToken({ key, clientId, invalidations: realm.invalidations.get(clientId) ?? 0 });
  }
  const wantsIdToken = grant.user !== undefined && subject.scopes.includes('openid');
  return {
    accessToken,
    refreshToken,
    idToken: wantsIdToken ? await createIdToken(context, subject, accessToken) : undefined,
    scope,
    lifetime: subject.expiresAt - subject.issuedAt,
    issuedAt: subject.issuedAt,
    grant: grantType,
  };
}

type Subject = TokenSubject & Pick<TokenGrant, 'overrides'>;

/** Everything that the claims of the tokens depend on. */
export function describeSubject(
  { request, realm, states, now }: RequestContext,
  grant: TokenGrant,
  family?: TokenFamily,
): Subject {
  const { clientId, clientAuth, scope, authTime, nonce, overrides } = grant;
  const client = realm.clients.get(clientId);
  const target = requestTarget(realm, request);
  const issuedAt = Math.floor(now / 1000);
  const lifetime = overrides?.lifetime ?? client?.access_token_lifetime ?? realm.settings.accessTokenLifetime;
  const { id: familyId = 0, generation = 0 } = family ?? {};
  return {
    issuer: publicUrl(request, realm.provider.issuer(target)),
    clientId,
    client,
    clientAuth,
    user: overrides?.user ?? realm.findUser(grant.user),
    scopes: scope.split(' ').filter((one) => one !== ''),
    audience: grant.audience ?? client?.audience ?? realm.settings.audience,
    target,
    id: states.createId({ issuedAt: now, clientId, user: grant.user ?? '', family: familyId, generation }),
    issuedAt,
    expiresAt: issuedAt + lifetime,
    authTime,
    nonce,
    overrides,
  };
}

/** The JWT profile for access tokens (RFC 9068). */
export const rfc9068: AccessTokenFormat = {
  typ: 'at+jwt',
  idClaim: 'jti',
  claims: ({ issuer, audience, clientId, client, user, scopes, authTime }) => ({
    // Without a resource indicator, the audience is the default resource (RFC 9068 §3).
    aud: audience ?? issuer,
    sub: user === undefined ? clientId : (user.sub ?? user.login),
    client_id: clientId,
    scope: scopes.join(' ') || undefined,
    auth_time: authTime,
    groups: user?.groups,
    roles: user?.roles ?? client?.roles,
  }),
};

async function jwtAccessToken(context: RequestContext, subject: Subject): Promise<string> {
  // A provider with opaque tokens can be configured to issue JWTs.
  const format = context.realm.provider.accessToken ?? rfc9068;
  const claims = {
    iss: subject.issuer,
    iat: subject.issuedAt,
    exp: subject.expiresAt,
    [format.idClaim]: `${format.idPrefix ?? ''}${subject.id}`,
    ...format.claims(subject),
    ...(context.keyThumbprint !== undefined && { cnf: { jkt: context.keyThumbprint } }),
    ...configuredClaims(subject),
  };
  return signClaims(context, subject, { typ: format.typ }, claims);
}

function opaqueAccessToken({ realm, states, fault }: RequestContext, subject: TokenSubject, scope: string): string {
  const { provider } = realm;
  const { clientId, issuer, user, audience, issuedAt, expiresAt, id } = subject;
  const { aud, iat, exp } = changeClaims(fault, { aud: audience, iat: issuedAt, exp: expiresAt });
  const content: OpaqueToken = provider.stableToken
    ? { clientId, scope, issuer, iat: 0, invalidations: realm.invalidations.get(clientId) ?? 0 }
    : { clientId, user: user?.login, scope, issuer, aud, iat, exp, id };
  const token = states.encode(content);
  return provider.encodeAccessToken?.(token) ?? token;
}

/** Issues an id token (OpenID Connect Core §2). `claims` replace those of the provider. */
export async function createIdToken(
  context: RequestContext,
  subject: Subject,
  accessToken: string | undefined,
  claims?: Claims,
): Promise<string> {
  const { provider, settings } = context.realm;
  const idClaims = {
    iss: subject.issuer,
    aud: subject.clientId,
    sub: subject.user?.sub ?? subject.user?.login,
    iat: subject.issuedAt,
    exp: subject.issuedAt + settings.idTokenLifetime,
    auth_time: subject.authTime,
    nonce: subject.nonce,
    ...(accessToken && provider.hasAccessTokenHash !== false && { at_hash: accessTokenHash(accessToken) }),
    ...(claims ?? provider.idClaims?.(subject)),
    ...configuredClaims(subject),
  };
  return signClaims(context, subject, { typ: provider.accessToken?.typ === undefined ? undefined : 'JWT' }, idClaims);
}

function signClaims(context: RequestContext, { overrides }: Subject, header: Claims, claims: Claims): Promise<string> {
  return applyTokenFault(context, override(header, overrides?.header), override(claims, overrides?.claims));
}

function override(members: Claims, changes: Claims = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...members, ...changes }).filter(([, value]) => value !== null));
}

/** The left half of the hash of the access token (OpenID Connect Core §3.1.3.6). All signing algorithms use SHA-256. */
function accessTokenHash(accessToken: string): string {
  return createHash('sha256').update(accessToken, 'ascii').digest().subarray(0, 16).toString('base64url');
}

function configuredClaims({ user, client }: TokenSubject): Claims {
  return { ...user?.claims, ...client?.claims };
}

/** Issues the first tokens of a user, with a refresh token if the provider issues one for this request. */
export function issueUserTokens(
  context: RequestContext,
  grant: TokenGrant & { readonly user: string },
  offline = true,
): Promise<IssuedTokens> {
  const { provider, settings } = context.realm;
  const { requiredScope } = provider.refresh;
  const hasScope = requiredScope === undefined || grant.scope.split(' ').includes(requiredScope);
  if (settings.refreshPolicy === 'none' || !offline || !hasScope) return issueTokens(context, grant);
  const { clientId, user, scope, audience, authTime } = grant;
  const family = context.realm.createFamily({ clientId, user, scope, audience, authTime });
  return issueTokens(context, grant, family, createRefreshToken(context, family));
}

/** Creates another refresh token of a token family. `lifetime` is in seconds; default: the setting of the provider. */
export function createRefreshToken(
  { realm, states, now }: RequestContext,
  family: TokenFamily,
  lifetime = realm.settings.refreshTokenLifetime,
): string {
  const token = states.random('rt-');
  const expiresAt = now + lifetime * 1000;
  realm.refreshTokens.set(token, { family, expiresAt, usedAt: undefined, pinned: false });
  return token;
}
