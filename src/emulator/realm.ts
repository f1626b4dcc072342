import type { KeyObject } from 'node:crypto';
import type { Dialect } from './dialect.ts';

/** A registered application. */
export interface Client {
  readonly id: string;
  readonly secret: string | undefined;
  /** `basic`, `body`, `none`, `private_key_jwt`. */
  readonly auth: string;
  readonly key: KeyObject | undefined;
  /** An audience of its assertions beside the endpoint's own address. */
  readonly audience: string | undefined;
}

/** One sign-in and all refresh tokens that come from it. */
export interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly user: string | undefined;
  readonly scope: string;
  revoked: boolean;
  /** Counts refreshes: where a refresh kills older access tokens, theirs is a lower one. */
  generation: number;
}

/** A refresh token's record. */
export interface RefreshToken {
  readonly family: Family;
  readonly expiresAt: number;
  usedAt: number | undefined;
  /** Came with a profile: it is never dropped to make room. */
  readonly pinned: boolean;
}

/** An authorization code's record. */
export interface Code {
  readonly clientId: string;
  readonly user: string;
  readonly scope: string;
  readonly redirectUri: string;
  readonly challenge: string | undefined;
  readonly challengeMethod: string;
  readonly offline: boolean;
  readonly expiresAt: number;
  /** A code serves one attempt, whatever comes of it. */
  used: boolean;
  /** What it was exchanged for. */
  family: Family | undefined;
}

/** A device code's record. */
export interface Device {
  readonly clientId: string;
  readonly scope: string;
  readonly userCode: string;
  readonly expiresAt: number;
  intervalMs: number;
  polledAt: number | undefined;
  decision: { readonly user: string } | 'declined' | undefined;
}

/** The person who can always sign in, so that every flow can be tried with any profile. */
export const BUILT_IN_USER = { name: 'ada@example.com', password: 'lovelace' } as const;

const MAX_RECORDS = 10_000;

/** What callers send and a record keeps is bounded too; Okta's documentation names this limit for scopes. */
export const MAX_KEPT_LENGTH = 4096;

/** What one provider knows: clients, users and what it has handed out. Everything that grows is bounded. */
export class Realm {
  readonly clients = new Map<string, Client>();
  /** Passwords by user name. */
  readonly users = new Map<string, string | undefined>([[BUILT_IN_USER.name, BUILT_IN_USER.password]]);
  readonly tenants = new Set(['common', 'organizations', 'consumers']);
  /** Token endpoints that profiles name, by host. */
  readonly tokenUrls = new Map<string, URL>();
  readonly refreshTokens = new Bounded<RefreshToken>();
  readonly codes = new Bounded<Code>();
  readonly devices = new Bounded<Device>();
  /** Access tokens that were revoked one by one. */
  readonly revokedTokens = new Bounded<object>();
  readonly families = new Bounded<Family>();
  #familyCount = 0;
  /** Where a client always gets the same token: how often it was invalidated. */
  readonly invalidations = new Map<string, number>();

  constructor(readonly dialect: Dialect) {}

  /** Several profiles may share a client; one that knows more of it says how it is registered. */
  addClient(client: Client): void {
    const known = this.clients.get(client.id);
    const knows = ({ secret, key }: Client): boolean => secret !== undefined || key !== undefined;
    if (known === undefined || !knows(known) || knows(client)) this.clients.set(client.id, client);
  }

  newFamily(clientId: string, user: string | undefined, scope: string): Family {
    const id = String(++this.#familyCount);
    const family: Family = { id, clientId, user, scope, revoked: false, generation: 0 };
    this.families.set(id, family);
    return family;
  }

  /** Knows a refresh token that a profile holds already. */
  adopt(token: string, clientId: string, user: string | undefined, scope: string): void {
    const family = this.newFamily(clientId, user ?? BUILT_IN_USER.name, scope);
    this.refreshTokens.set(token, { family, expiresAt: Number.POSITIVE_INFINITY, usedAt: undefined, pinned: true });
  }
}

/** A map that drops its oldest entries, except those that are pinned. */
class Bounded<T extends object> {
  readonly #entries = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: T): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= MAX_RECORDS) return;
    for (const [oldest, value] of this.#entries) {
      if ('pinned' in value && value.pinned === true) continue;
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  values(): IterableIterator<T> {
    return this.#entries.values();
  }

  get size(): number {
    return this.#entries.size;
  }
}
