import { expect } from 'vitest';
import { findFamily } from '../../src/flows/find-family.ts';
import { obtainToken } from '../../src/flows/obtain-token.ts';
import { Flights } from '../../src/flows/single-flight.ts';
import { type FamilyRecord, readRecord, toKept } from '../../src/flows/stored-record.ts';
import type { Obtained, Wish } from '../../src/flows/wish.ts';
import type { Held, Kept, TokenStore } from '../../src/ports.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { fakePorts } from './fake-ports.ts';
import { ManualClock } from './manual-clock.ts';
import { profileOf } from './profile-of.ts';
import { RotatingProvider } from './rotating-provider.ts';

/** The refresh token that stands in the profile. */
export const FIRST = 'pasted-refresh-token';
export const isRefresh = {
  type: 'custom',
  url: 'https://id.test/token',
  grant_type: 'refresh_token',
  client_id: 'app',
};
export const machine = {
  type: 'custom',
  url: 'https://id.test/token',
  grant_type: 'client_credentials',
  client_id: 'app',
};

/** One process: callers that share a store with others have each their own. */
export class Process {
  readonly warnings: string[] = [];
  readonly lines: string[] = [];
  readonly clock: ManualClock;
  readonly #flights: Flights<Obtained>;

  constructor(
    readonly provider: RotatingProvider,
    readonly store: TokenStore,
    clock: ManualClock,
  ) {
    this.clock = clock;
    this.#flights = new Flights<Obtained>(clock);
  }

  async get(profile: Profile, wish: Partial<Wish> = {}): Promise<string> {
    return (await this.obtain(profile, wish)).reply.accessToken.reveal();
  }

  obtain(profile: Profile, wish: Partial<Wish> = {}): Promise<Obtained> {
    const full = {
      minTtlMs: 60_000,
      anew: false,
      keep: true,
      forgetRefusal: false,
      rejected: undefined,
      signal: undefined,
    };
    const log = (line: string) => this.lines.push(line);
    const ports = fakePorts({ send: this.provider.send, clock: this.clock as never, log });
    return obtainToken(profile, { ...full, ...wish }, ports, {
      openStore: async () => this.store,
      flights: this.#flights,
      warn: (text) => this.warnings.push(text),
    });
  }
}

/** A provider, a store and a profile of theirs; `start` begins a process. */
export function world(fields: Record<string, unknown> = isRefresh) {
  const clock = new ManualClock();
  const provider = new RotatingProvider(FIRST, clock);
  const store = createMemoryStore(clock);
  const start = (): Process => new Process(provider, store, clock);
  const refreshing = fields['grant_type'] === 'refresh_token' ? { refresh_token: FIRST } : {};
  return { clock, provider, store, start, profile: profileOf({ ...refreshing, ...fields }) };
}

/** The family of a profile as it is kept. */
export async function recordOf(profile: Profile, store: TokenStore): Promise<FamilyRecord> {
  const { kept } = await findFamily(profile, store);
  const record = kept && readRecord(kept);
  if (record?.kind !== 'family') expect.fail('no family is kept');
  return record;
}

/** The same store, but whoever has a turn holds something else. */
export function withHeld(store: TokenStore, change: (held: Held) => Partial<Held>): TokenStore {
  return {
    ...store,
    update: (name, act, wait) => store.update(name, (held) => act({ ...held, ...change(held) }), wait),
  };
}

/** The family as another machine leaves it that rotated: another refresh token, its own access token, no attempt under way. */
export function rotated(record: FamilyRecord, refreshToken: string, store: TokenStore, accessToken?: string): Kept {
  const member = store.fingerprint(refreshToken);
  const tokens = Object.entries(record.tokens).map(([key, token]) => [
    key,
    accessToken === undefined
      ? token
      : {
          ...token,
          response: new Secret(JSON.stringify({ access_token: accessToken, expires_in: 3600 })),
          obtainedAt: store.now(),
          expiresAt: store.now() + 3_600_000,
        },
  ]);
  return toKept(
    {
      ...record,
      refreshToken: new Secret(refreshToken),
      members: [...record.members, member],
      tokens: Object.fromEntries(tokens),
      attempt: undefined,
    },
    member,
  );
}
