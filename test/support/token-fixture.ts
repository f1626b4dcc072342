import { expect } from 'vitest';
import type { Client } from '../../src/client.ts';
import { TransportError } from '../../src/errors.ts';
import { type FamilyRecord, parseRecord, serializeRecord } from '../../src/flows/records.ts';
import { SingleFlight } from '../../src/flows/single-flight.ts';
import type { TokenResult } from '../../src/flows/token-cache.ts';
import { findFamily } from '../../src/flows/token-family.ts';
import { type GetTokenOptions, getProfileToken } from '../../src/get-token.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import type { Send, StoredRecord, TokenStore, WireRequest } from '../../src/ports.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { fakePorts, ManualClock } from './ports.ts';
import { profileOf } from './profiles.ts';
import { createPlainMemoryStore } from './store.ts';

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

/** A provider that rotates refresh tokens and revokes the family when one is used twice. A test can delay or lose its responses. */
export class RotatingProvider {
  readonly requests: URLSearchParams[] = [];
  /** The only valid refresh token. */
  current: string;
  /** Whether the family is revoked, because a refresh token was used twice. */
  revoked = false;
  /** `expires_in` of every token, in seconds. */
  expiresIn: number | undefined = 3600;
  /** Replaces the next responses, one each. `lose` processes the request and sends no response; `unreachable` receives no request. */
  readonly next: (HttpResponse | 'lose' | 'unreachable')[] = [];
  /** While set, responses wait for it. */
  gate: Promise<void> | undefined;
  #issued = 0;

  /** Every request advances `clock` by a millisecond. */
  constructor(
    first: string,
    readonly clock: { time: number },
  ) {
    this.current = first;
  }

  send: Send = async (request: WireRequest) => {
    const form = new URLSearchParams(request.body);
    this.requests.push(form);
    this.clock.time++;
    const planned = this.next.shift();
    if (planned === 'unreachable') throw new TransportError('connection_failed', 'unreachable', { sent: false });
    const response = typeof planned === 'object' ? planned : this.#respond(form);
    await this.gate;
    if (planned === 'lose') throw new TransportError('timeout', 'the response was lost', { sent: true });
    return response;
  };

  #respond(form: URLSearchParams): HttpResponse {
    if (form.get('grant_type') !== 'refresh_token') return jsonResponse(200, this.#issueToken());
    if (this.revoked || form.get('refresh_token') !== this.current) {
      this.revoked = true;
      return jsonResponse(400, { error: 'invalid_grant' });
    }
    this.current = `rotated-refresh-token-${this.#issued + 1}`;
    return jsonResponse(200, { ...this.#issueToken(), refresh_token: this.current });
  }

  #issueToken(): Record<string, unknown> {
    const access_token = `access-token-${++this.#issued}`;
    return { access_token, token_type: 'Bearer', ...(this.expiresIn !== undefined && { expires_in: this.expiresIn }) };
  }
}

/** A JSON response. */
export function jsonResponse(status: number, members: Record<string, unknown>): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(members) };
}
