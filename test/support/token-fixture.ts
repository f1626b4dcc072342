import { expect } from 'vitest';
import type { Client } from '../../src/client.ts';
import { type FamilyRecord, parseRecord, serializeRecord } from '../../src/flows/records.ts';
import { SingleFlight } from '../../src/flows/single-flight.ts';
import type { TokenResult } from '../../src/flows/token-cache.ts';
import { findFamily } from '../../src/flows/token-family.ts';
import { type GetTokenOptions, getProfileToken } from '../../src/get-token.ts';
import type { RecordLock, StoredRecord, TokenStore } from '../../src/ports.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { createPlainMemoryStore } from './memory-store.ts';
import { fakePorts, ManualClock } from './ports.ts';
import { profileOf } from './profile-of.ts';
import { RotatingProvider } from './rotating-provider.ts';

/** The refresh token that is configured in the profile. */
export const FIRST = 'configured-refresh-token';
/** Fields of a profile that refreshes; {@link createTokenFixture} adds {@link FIRST}. */
export const refreshProfile = {
  type: 'custom',
  url: 'https://id.test/token',
  grant_type: 'refresh_token',
  client_id: 'app',
};
/** Fields of a profile of a client without a user. */
export const machineProfile = {
  type: 'custom',
  url: 'https://id.test/token',
  grant_type: 'client_credentials',
  client_id: 'app',
};

/** One process. Processes share a store, and each has its own single flight. */
export class TestProcess {
  readonly warnings: string[] = [];
  /** Lines of `--verbose`. */
  readonly lines: string[] = [];
  readonly client: Client;

  constructor(provider: RotatingProvider, store: TokenStore, clock: ManualClock) {
    const client: Partial<Client> = {
      ports: fakePorts({
        send: (...args) => provider.send(...args),
        clock,
        log: (line: string) => void this.lines.push(line),
      }),
      openStore: async () => store,
      singleFlight: new SingleFlight(clock),
      warn: (message: string) => void this.warnings.push(message),
    };
    this.client = client as Client;
  }

  /** The access token of {@link getToken}. */
  async get(profile: Profile, options: GetTokenOptions = {}): Promise<string> {
    return (await this.getToken(profile, options)).token.accessToken.reveal();
  }

  getToken(profile: Profile, options: GetTokenOptions = {}): Promise<TokenResult> {
    return getProfileToken(this.client, profile, { reuse: true, ...options });
  }
}

/** A provider, a store and a profile. `start` starts a process that uses the store, or another one. */
export function createTokenFixture(fields: Record<string, unknown> = refreshProfile) {
  const clock = new ManualClock();
  const provider = new RotatingProvider(FIRST, clock);
  const store = createPlainMemoryStore(clock);
  const start = (ownStore: TokenStore = store): TestProcess => new TestProcess(provider, ownStore, clock);
  const configured = fields['grant_type'] === 'refresh_token' ? { refresh_token: FIRST } : {};
  return { clock, provider, store, start, profile: profileOf({ ...configured, ...fields }) };
}

/** A promise that a test resolves. */
export function createGate(): { promise: Promise<void>; open: () => void } {
  let open = (): void => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** The stored token family of a profile. */
export async function familyOf(profile: Profile, store: TokenStore): Promise<FamilyRecord> {
  const { record } = await findFamily(profile, store);
  const family = record && parseRecord(record);
  if (family?.kind !== 'family') expect.fail('no family is stored');
  return family;
}

/** A store whose locks have some functions replaced. */
export function withLockFunctions(
  store: TokenStore,
  replace: (lock: RecordLock<unknown>) => Partial<RecordLock<unknown>>,
): TokenStore {
  return {
    ...store,
    async lock(key, options) {
      const lock = await store.lock(key, options);
      return { ...lock, ...replace(lock) } as typeof lock;
    },
  };
}

/** Writes a record under its lock. */
export async function writeRecord(store: TokenStore, key: string, record: StoredRecord): Promise<void> {
  const lock = await store.lock(key, { timeoutMs: 1_000, signal: undefined });
  try {
    await lock.write(record);
  } finally {
    await lock.release();
  }
}

/** Removes a record under its lock. */
export async function removeRecord(store: TokenStore, key: string): Promise<void> {
  const lock = await store.lock(key, { timeoutMs: 1_000, signal: undefined });
  try {
    await lock.remove();
  } finally {
    await lock.release();
  }
}

/** The family after a rotation by another machine: another refresh token, its own access token, no attempt in progress. */
export function rotateFamily(
  family: FamilyRecord,
  refreshToken: string,
  store: TokenStore,
  accessToken?: string,
): StoredRecord {
  const tokens = Object.entries(family.tokens).map(([key, token]) => [
    key,
    accessToken === undefined
      ? token
      : {
          ...token,
          response: new Secret(JSON.stringify({ access_token: accessToken, expires_in: 3600 })),
          receivedAt: store.now(),
          expiresAt: store.now() + 3_600_000,
        },
  ]);
  return serializeRecord({
    ...family,
    refreshToken: new Secret(refreshToken),
    tokenHashes: [...family.tokenHashes, store.fingerprint(refreshToken)],
    tokens: Object.fromEntries(tokens),
    attempt: undefined,
  });
}
