import { OAuthProfileError, TransportError } from '../errors.ts';
import { cacheKey } from '../oauth/cache-key.ts';
import type { Kept, Ports, TokenStore } from '../ports.ts';
import type { Profile } from '../profile/profile.ts';
import { findFamily, refreshes } from './find-family.ts';
import { findContent, findFresh } from './find-fresh.ts';
import type { Flights } from './single-flight.ts';
import type { Obtained, Wish } from './wish.ts';

const PATIENCE_MS = 2_000;

let asking: typeof import('./asking.ts') | undefined;

/** Who finds a fresh token needs nothing of what it takes to ask for one. */
async function loadAsking(): Promise<typeof import('./asking.ts')> {
  asking ??= await import('./asking.ts');
  return asking;
}

/** What obtaining a token takes beside the ports. */
export interface Keeping {
  /** Opens the store when it is first needed. */
  readonly openStore: () => Promise<TokenStore>;
  readonly flights: Flights<Obtained>;
  /** Tells a person what could not be kept. */
  readonly warn: (text: string) => void;
}

/**
 * A token for a profile: one that is kept and fresh, or a new one. However many want the same, in this process and in others, the provider is
 * asked once; a refresh is never sent but through the store.
 */
export function obtainToken(profile: Profile, wish: Wish, ports: Ports, keeping: Keeping): Promise<Obtained> {
  if (refreshes(profile)) return obtainRefreshed(profile, wish, ports, keeping);
  return wish.keep ? obtainOther(profile, wish, ports, keeping) : ask(profile, wish, ports);
}

async function obtainRefreshed(profile: Profile, wish: Wish, ports: Ports, keeping: Keeping): Promise<Obtained> {
  const store = await keeping.openStore();
  const { name, kept } = await findFamily(profile, store);
  return obtainKept(profile, wish, ports, { ...keeping, store, name, kept });
}

/** What is no refresh can do without a store. */
async function obtainOther(profile: Profile, wish: Wish, ports: Ports, keeping: Keeping): Promise<Obtained> {
  try {
    const store = await keeping.openStore();
    const name = store.fingerprint(cacheKey(profile));
    return await obtainKept(profile, wish, ports, { ...keeping, store, name, kept: await store.read(name) });
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || error.code !== 'store_unwritable') throw error;
    keeping.warn(`the token is not kept: ${error.message}`);
    return ask(profile, wish, ports);
  }
}

async function ask(profile: Profile, { signal }: Wish, ports: Ports): Promise<Obtained> {
  const { acquireToken } = asking ?? (await loadAsking());
  return { reply: await acquireToken(profile, ports, signal), reused: false };
}

async function obtainKept(
  profile: Profile,
  wish: Wish,
  ports: Ports,
  { store, name, kept, flights, warn }: Keeping & { store: TokenStore; name: string; kept: Kept | undefined },
): Promise<Obtained> {
  const key = store.fingerprint(cacheKey(profile));
  const fresh = wish.anew ? undefined : findFresh(profile, wish, kept, key, store.now());
  if (fresh !== undefined) return inLocalTime(fresh, ports, store);
  const { timeoutMs } = profile.options;
  const startedAt = ports.clock.now();
  const work = (abandoned: AbortSignal, close: () => void): Promise<Obtained> =>
    store.update(
      name,
      async (held) => {
        close();
        const waitedMs = ports.clock.now() - startedAt;
        const { askInTurn } = await loadAsking();
        return askInTurn({ profile, key, wish, ports, store, held, warn }, waitedMs, abandoned);
      },
      {
        timeoutMs,
        signal: abandoned,
        contentWith: (found, queuedAt) => findContent({ profile, key, wish, store }, found, queuedAt),
      },
    );
  const rejected = wish.rejected && store.fingerprint(wish.rejected);
  const flight = JSON.stringify([name, key, wish.anew, wish.forgetRefusal, wish.minTtlMs, rejected]);
  const error = (): Error =>
    new TransportError('timeout', `no token came within ${timeoutMs / 1000} s`, {
      sent: false,
      hint: `try again, or raise ${profile.name}.options.timeout`,
    });
  // The asking itself ends in time and knows better what went wrong; this is for who waits for others.
  const patience = { signal: wish.signal, timeout: { ms: timeoutMs + PATIENCE_MS, error } };
  return inLocalTime(await flights.join(flight, work, patience), ports, store);
}

/** A kept token ends in the store's time; whoever holds it on looks at the clock of this machine. */
function inLocalTime({ reply, reused }: Obtained, { clock }: Ports, store: TokenStore): Obtained {
  const { expiresAt } = reply;
  if (!reused || expiresAt === undefined) return { reply, reused };
  return { reply: { ...reply, expiresAt: expiresAt + clock.now() - store.now() }, reused };
}
