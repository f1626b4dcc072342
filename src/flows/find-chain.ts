import { OAuthProfileError } from '../errors.ts';
import { clientIdOf, refreshTokenOf, unambiguous } from '../oauth/cache-key.ts';
import type { Kept, TokenStore } from '../ports.ts';
import type { Binding, Candidate } from '../profile/binding.ts';
import { loginCommand } from '../profile/login-command.ts';
import type { Login } from '../profile/parse-profile.ts';
import type { Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { type ChainRecord, fromKept } from './stored-record.ts';

/** Whether there is a chain to follow; a custom profile may say refresh_token and hold none. */
export function refreshes(profile: Profile): boolean {
  return profile.grant === 'refresh_token' && (refreshTokenOf(profile)?.length ?? 0) > 0;
}

/** The chain of a profile's refresh token: any known member leads to it, an unknown value begins one. */
export async function findChain(
  profile: Profile,
  store: TokenStore,
): Promise<{ readonly name: string; readonly kept: Kept | undefined }> {
  if (profile.chain !== undefined) return { name: profile.chain, kept: await store.read(profile.chain) };
  const token = refreshTokenOf(profile);
  if (token === undefined) throw new TypeError('a profile without a refresh token was not checked');
  const binding = { origin: profile.url.origin, clientId: clientIdOf(profile) };
  const name = chainName(binding, token, store);
  const kept = await store.read(name);
  if (kept !== undefined) return { name, kept };
  // A value pasted later than the chain's first: rare, so it may cost a look at everything.
  const member = store.fingerprint(token);
  for (const one of await store.list()) {
    const record = fromKept(one.kept, 'chain');
    if (record?.members.includes(member) && isBoundTo(record, binding, store)) return one;
  }
  return { name, kept: undefined };
}

/** The record of a chain that begins with this refresh token. */
export function beginChain(profile: Profile, refreshToken: Secret, store: TokenStore): ChainRecord {
  return {
    kind: 'chain',
    profile: profile.name,
    origin: profile.url.origin,
    client: store.fingerprint(clientIdOf(profile)),
    refreshToken,
    members: [store.fingerprint(refreshToken)],
    tokens: {},
    failure: undefined,
    attempt: undefined,
    refusal: undefined,
    account: undefined,
    scope: undefined,
  };
}

/** Name of the chain that a refresh token begins; the binding is part of it, so that no other client and no other server ever finds it. */
export function chainName({ origin, clientId }: Binding, token: string | Secret, store: TokenStore): string {
  return store.fingerprint(unambiguous(['chain', origin, clientId, token]));
}

/** Name of the record that says which chain a login of this profile began. */
export function loginName(profile: string, { origin, clientId }: Binding, store: TokenStore): string {
  return store.fingerprint(unambiguous(['login', profile, origin, clientId]));
}

/** The refresh token that a login left for a profile, unless a value was pasted since that the login did not replace. */
export async function findLogin(profile: string, candidate: Candidate, store: TokenStore): Promise<Login | undefined> {
  const login = fromKept(await store.read(loginName(profile, candidate, store)), 'login');
  if (login === undefined) return undefined;
  const chain = fromKept(await store.read(login.chain), 'chain');
  if (chain === undefined || !isBoundTo(chain, candidate, store)) return undefined;
  const { pasted } = candidate;
  if (pasted !== undefined) {
    const seen = store.fingerprint(pasted);
    if (!login.replaced.includes(seen) && !chain.members.includes(seen)) return undefined;
  }
  return { refreshToken: chain.refreshToken, chain: login.chain };
}

/** Refuses a record of another server or client: it is sent nowhere else. */
export function refuseForeign(record: ChainRecord, profile: Profile, store: TokenStore): void {
  if (isBoundTo(record, { origin: profile.url.origin, clientId: clientIdOf(profile) }, store)) return;
  throw new OAuthProfileError('store_unreadable', `the kept refresh token of ${profile.name} is bound elsewhere`, {
    advice: `run: ${loginCommand(profile.name)}`,
  });
}

function isBoundTo(record: ChainRecord, { origin, clientId }: Binding, store: TokenStore): boolean {
  return record.origin === origin && record.client === store.fingerprint(clientId);
}
