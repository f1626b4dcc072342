import { OAuthProfileError } from '../../errors.ts';
import { parseAccount } from '../../oauth/account.ts';
import type { LoginChallenge } from '../../oauth/challenge.ts';
import { fillHint } from '../../oauth/provider-error.ts';
import type { ParsedToken } from '../../oauth/token-response.ts';
import type { Ports, RecordLock, TokenStore } from '../../ports.ts';
import { completeProfile } from '../../profile/complete-profile.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import type { ParsedProfile } from '../../profile/parse-profile.ts';
import { type Field, loginCommand, type Profile } from '../../profile/profile.ts';
import { type FamilyRecord, type LoginRecord, parseRecordOf, serializeRecord } from '../records.ts';
import { cacheKeyIn, toCachedToken } from '../token-cache.ts';
import { createFamily, familyKey, findLogin, loginKey, withLock } from '../token-family.ts';

const MAX_REPLACED = 32;

/** A login to perform and store. */
export interface LoginTask {
  readonly parsed: ParsedProfile;
  readonly login: LoginProfile;
  /** Lets the user log in, with the device code or the authorization code flow. */
  readonly authenticate: (login: LoginProfile) => Promise<ParsedToken>;
  /** Called if the user logged in with another account than before. */
  readonly mayReplace: (former: string, account: string) => Promise<boolean>;
}

/** A stored login. */
export interface LoginResult {
  readonly account: string | undefined;
  readonly scope: string | undefined;
  /** Expiry of the access token, in epoch milliseconds. */
  readonly expiresAt: number | undefined;
  /** Whether an earlier login was replaced. */
  readonly replaced: boolean;
  /** Set if the provider returned no refresh token: how to get one. */
  readonly refreshHint: string | undefined;
}

/** Logs the user in and stores the result. An error leaves an earlier login as it was. */
export async function login(task: LoginTask, { clock, dpop }: Ports, store: TokenStore): Promise<LoginResult> {
  const { name, url, clientId, configuredRefreshToken } = task.login;
  const binding = { origin: url.origin, clientId };
  const key = loginKey(name, binding, store);
  // Fails before the user logs in if the result could not be stored.
  await withLock(store, key, async () => {});
  const former = await findLogin(name, binding, store);
  const dpopKey = task.login.options.dpop ? (await dpop()).createKey() : undefined;
  const response = await task.authenticate({ ...withChallenge(task.login, former?.login.challenge), dpopKey });
  const { refreshToken, accessToken, expiresAt } = response;
  const account = parseAccount(response.response);
  const formerAccount = former?.family.account;
  if (formerAccount !== undefined && account !== undefined && formerAccount !== account) {
    if (!(await task.mayReplace(formerAccount, account))) {
      const message = `you logged in as ${account}, but ${name} is logged in as ${formerAccount}; nothing was changed`;
      throw new OAuthProfileError('usage', message, {
        hint: `to replace the login, run: ${loginCommand(name)} --force`,
      });
    }
  }
  const family = familyKey(binding, refreshToken ?? accessToken, store);
  const profile = { ...completeProfile(task.parsed, { refreshToken, family }), dpopKey };
  const scope = typeof response.response['scope'] === 'string' ? response.response['scope'] : undefined;
  const tokens = { [cacheKeyIn(store, profile)]: toCachedToken(response, store.now(), store, clock) };
  const requestedScope = String(task.login.scope?.value ?? '');
  const members = profile.options.redirectMembers.map((member) => [member, response.response[member]]);
  const redirectMembers = members.length === 0 ? undefined : Object.fromEntries(members);
  await withLock(store, family, (lock) =>
    write(lock, {
      ...createFamily(profile, refreshToken, store),
      tokens,
      account,
      scope,
      requestedScope,
      redirectMembers,
    }),
  );
  const formerFamily = await withLock(store, key, async (lock) => {
    const old = parseRecordOf('login', lock.record);
    const replaced = configuredRefreshToken === undefined ? [] : [store.fingerprint(configuredRefreshToken.value)];
    const allReplaced = [...new Set([...(old?.replaced ?? []), ...replaced])].slice(-MAX_REPLACED);
    await write(lock, { kind: 'login', profile: name, family, replaced: allReplaced, at: store.now() });
    return old?.family;
  });
  if (formerFamily !== undefined && formerFamily !== family)
    await withLock(store, formerFamily, (lock) => lock.remove());
  const refreshHint = refreshToken === undefined ? missingRefreshTokenHint(profile, requestedScope) : undefined;
  return { account, scope, expiresAt, replaced: former !== undefined, refreshHint };
}

/** Adds what an API required (RFC 9470 §5). It replaces parameters of the profile. */
function withChallenge(login: LoginProfile, challenge: LoginChallenge = {}): LoginProfile {
  const fields = Object.entries(challenge).map(([name, value]) => ({ name, value, source: 'challenge of an API' }));
  if (fields.length === 0) return login;
  const others = (list: readonly Field[]): Field[] => list.filter(({ name }) => !Object.hasOwn(challenge, name));
  return {
    ...login,
    extraParameters: [...others(login.extraParameters), ...fields],
    // Microsoft expects the claims in the token request too.
    tokenParameters: [...others(login.tokenParameters), ...fields.filter(({ name }) => name === 'claims')],
  };
}

/** OpenID Connect Core §11: with offline_access, a provider may require that the user consents. */
function missingRefreshTokenHint(profile: Profile, requestedScope: string): string {
  const hint = /(?:^|\s)offline_access(?:\s|$)/.test(requestedScope)
    ? 'many OpenID providers return one only after consent: set {prompt} to consent, then {login}'
    : 'many servers return one only with the scope offline_access, or to clients registered for refresh tokens: check {scope}, then {login}';
  return fillHint(profile.provider.login?.missingRefreshTokenHint ?? hint, profile);
}

async function write(lock: RecordLock, record: FamilyRecord | LoginRecord): Promise<void> {
  if (await lock.write(serializeRecord(record))) return;
  throw new OAuthProfileError('store_locked', 'another process changed the login at the same time', {
    hint: 'log in again',
  });
}
