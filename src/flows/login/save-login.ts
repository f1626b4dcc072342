import { OAuthProfileError } from '../../errors.ts';
import { cacheKey } from '../../oauth/cache-key.ts';
import type { ParsedToken } from '../../oauth/token-response.ts';
import type { Held, Kept, Ports, TokenStore } from '../../ports.ts';
import type { Binding } from '../../profile/parse-profile.ts';
import { getClientId, type Profile } from '../../profile/profile.ts';
import type { Secret } from '../../redaction/secret.ts';
import { createFamily, loginName } from '../find-family.ts';
import { keepToken } from '../keep-token.ts';
import { type FamilyRecord, fromKept, type LoginRecord, toKept } from '../stored-record.ts';

/** How long a login waits for its turn. */
const WAIT = { timeoutMs: 30_000, signal: undefined };

/** What a login leaves behind. */
export interface NewLogin {
  /** The profile as it is read with the login: it refreshes with the new token. */
  readonly profile: Profile & { readonly family: string };
  readonly refreshToken: Secret;
  /** The response that brought it. */
  readonly reply: ParsedToken;
  /** Who signed in, as far as the provider said. */
  readonly account: string | undefined;
  /** The refresh token in the profile's own variables, which the login replaces. */
  readonly pasted: string | Secret | undefined;
}

/** Fails while nothing is lost yet, where what a login brings could not be kept. */
export async function assertStoreWritable(profile: string, binding: Binding, store: TokenStore): Promise<void> {
  await store.update(loginName(profile, binding, store), async () => {}, WAIT);
}

/** Keeps the refresh token of a login, its first access token, and that it is this profile's; an older login of the profile goes. */
export async function saveLogin(login: NewLogin, ports: Ports, store: TokenStore): Promise<void> {
  const { profile, pasted } = login;
  await store.update(
    profile.family,
    async (held) => {
      const record = firstRecord(login, ports, store);
      await write(held, toKept(record, record.members.at(-1) ?? ''));
    },
    WAIT,
  );
  const binding = { origin: profile.url.origin, clientId: getClientId(profile) };
  const former = await store.update(
    loginName(profile.name, binding, store),
    async (held) => {
      const old = fromKept(held.kept, 'login');
      const seen = pasted === undefined ? [] : [store.fingerprint(pasted)];
      const record: LoginRecord = {
        kind: 'login',
        profile: profile.name,
        family: profile.family,
        replaced: [...new Set([...(old?.replaced ?? []), ...seen])].slice(-32),
        at: store.now(),
      };
      await write(held, toKept(record, record.family));
      return old?.family;
    },
    WAIT,
  );
  if (former !== undefined && former !== profile.family) await store.update(former, (held) => held.remove(), WAIT);
}

/** The login of a profile as it is kept. */
export interface StoredLogin {
  readonly family: string;
  readonly refreshToken: Secret;
  readonly account: string | undefined;
}

/** What a former login of this profile left, whatever the profile itself holds. */
export async function findStoredLogin(
  profile: string,
  binding: Binding,
  store: TokenStore,
): Promise<StoredLogin | undefined> {
  const login = fromKept(await store.read(loginName(profile, binding, store)), 'login');
  const family = login && fromKept(await store.read(login.family), 'family');
  if (login === undefined || family === undefined) return undefined;
  return { family: login.family, refreshToken: family.refreshToken, account: family.account };
}

/** Nobody else may write meanwhile; who does so all the same must not go unnoticed. */
async function write(held: Held, kept: Kept): Promise<void> {
  if (await held.write(kept)) return;
  throw new OAuthProfileError('store_locked', 'another process changed the login at the same time', {
    hint: 'log in again',
  });
}

function firstRecord(
  { profile, reply, refreshToken, account }: NewLogin,
  { clock }: Ports,
  store: TokenStore,
): FamilyRecord {
  const { scope } = reply.response;
  return {
    ...createFamily(profile, refreshToken, store),
    tokens: { [store.fingerprint(cacheKey(profile))]: keepToken(reply, store.now(), store, clock) },
    account,
    scope: typeof scope === 'string' ? scope : undefined,
  };
}
