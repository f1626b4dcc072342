import type { EmulatorState } from '../emulator-state.ts';
import type { EmulatorRequest } from '../messages.ts';
import type { Realm, RequestContext } from '../realm.ts';
import type { Claims } from '../subjects.ts';
import { createIdToken, createRefreshToken, describeSubject, issueTokens } from '../tokens/issue-tokens.ts';
import { findToken } from '../tokens/verify-token.ts';
import { decodeJwt } from './request-log.ts';

/** A token to issue directly. */
export interface TokenRequest {
  readonly provider?: string;
  readonly host?: string;
  readonly path?: string;
  readonly type?: 'access_token' | 'id_token' | 'refresh_token';
  readonly urls?: 'loopback' | 'production';
  readonly client_id?: string;
  readonly user?: string;
  readonly scope?: string;
  readonly audience?: string;
  readonly nonce?: string;
  readonly expires_in?: number;
  readonly claims?: Claims;
  readonly header?: Claims;
}

/** Issues a token as the token endpoint would, with any changes. Neither the client nor the user need be registered. */
export async function issueToken(emulator: EmulatorState, origin: string, options: TokenRequest) {
  const { type = 'access_token', client_id: clientId = 'emulator', user: name, scope = '', claims, header } = options;
  const realm = emulator.realms.open(options.provider, options.host?.toLowerCase());
  const context = contextOf(emulator, realm, tokenRequest(realm, origin, options));
  const user = name === undefined ? undefined : (realm.findUser(name) ?? { login: name });
  const { audience, nonce, expires_in: lifetime } = options;
  const authTime = user && Math.floor(context.now / 1000);
  const grant = {
    ...{ clientId, clientAuth: 'secret' as const, user: name, scope, audience, nonce, authTime, grant: 'control' },
    overrides: { claims, header, lifetime, user },
  };
  if (type === 'refresh_token') {
    const family = realm.createFamily({ clientId, user: name, scope, audience, authTime });
    return { type, token: createRefreshToken(context, family, lifetime) };
  }
  const token =
    type === 'id_token'
      ? await createIdToken(context, describeSubject(context, grant), undefined)
      : (await issueTokens(context, grant)).accessToken;
  const decoded = decodeJwt(token);
  return { type, token, ...decoded, issuer: describeSubject(context, grant).issuer };
}

/** Decodes any token and reports whether it is valid. */
export async function inspectToken(emulator: EmulatorState, origin: string, token: string) {
  const decoded = decodeJwt(token);
  for (const realm of emulator.realms.all()) {
    const record = realm.refreshTokens.get(token);
    if (record !== undefined) {
      const { family, expiresAt, usedAt } = record;
      const isRevoked = family.revoked || (usedAt !== undefined && realm.settings.refreshPolicy === 'single_use');
      const status = isRevoked ? 'revoked' : expiresAt <= emulator.clock() ? 'expired' : 'active';
      const { clientId, user, scope } = family;
      return { format: 'refresh_token', status, provider: realm.provider.type, client_id: clientId, user, scope };
    }
    const known = await find(emulator, realm, origin, token);
    if (known === undefined) continue;
    return {
      format: decoded === undefined ? 'opaque' : 'jwt',
      status: known.invalid ?? 'active',
      provider: realm.provider.type,
      client_id: known.clientId,
      user: known.user?.login,
      scope: known.scopes.join(' '),
      ...decoded,
    };
  }
  if (decoded === undefined) return { format: 'unknown', status: 'unknown' };
  const isSigned = (await emulator.keys.verify(token)) !== undefined;
  return { format: 'jwt', status: isSigned ? 'unknown' : 'invalid_signature', ...decoded };
}

/** Revokes a token, and everything that was issued with it. Returns whether it is known. */
export async function revokeToken(emulator: EmulatorState, origin: string, token: string): Promise<boolean> {
  for (const realm of emulator.realms.all()) {
    const known = await find(emulator, realm, origin, token);
    const family = realm.refreshTokens.get(token)?.family ?? known?.family;
    if (family !== undefined) family.revoked = true;
    else if (known !== undefined) realm.revokeAccessToken(known);
    else continue;
    return true;
  }
  return false;
}

/** Lets a token expire now. Returns whether it is known. */
export async function expireToken(emulator: EmulatorState, origin: string, token: string): Promise<boolean> {
  for (const realm of emulator.realms.all()) {
    const record = realm.refreshTokens.get(token);
    const known = await find(emulator, realm, origin, token);
    if (record !== undefined) record.expiresAt = emulator.clock();
    else if (known !== undefined) realm.revokeAccessToken(known);
    else continue;
    return true;
  }
  return false;
}

function find(emulator: EmulatorState, realm: Realm, origin: string, token: string) {
  return findToken(contextOf(emulator, realm, tokenRequest(realm, origin, {})), token);
}

function contextOf({ keys, states, clock }: EmulatorState, realm: Realm, request: EmulatorRequest): RequestContext {
  return { request, realm, keys, states, now: clock() };
}

/** A request to the token endpoint of a realm. */
function tokenRequest(realm: Realm, origin: string, { host, path, urls }: TokenRequest): EmulatorRequest {
  const [[known, url] = []] = realm.tokenUrls;
  const usual = realm.provider.tokenUrl?.replace('{tenant}', 'organizations');
  const { host: usualHost, pathname } = url ?? new URL(usual ?? 'https://localhost/token');
  const target = { host: (host ?? known ?? usualHost).toLowerCase(), path: path ?? pathname };
  return {
    ...target,
    method: 'POST',
    query: new URLSearchParams(),
    headers: {},
    form: new URLSearchParams(),
    body: '',
    origin,
    viaLoopback: urls !== 'production',
  };
}
