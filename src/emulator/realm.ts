import type { FaultKind } from './faults.ts';
import type { EmulatorRequest } from './messages.ts';
import type { Action, EmulatedProvider } from './provider.ts';
import type { ProviderSettings } from './settings.ts';
import type { Client, Credential, User } from './subjects.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';
import type { TokenStates } from './tokens/token-state.ts';

/** The state and the time that an endpoint handles a request with. */
export interface RequestContext {
  readonly request: EmulatorRequest;
  readonly realm: Realm;
  readonly keys: SigningKeys;
  readonly states: TokenStates;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly fault?: FaultKind | undefined;
  /** The key that access tokens are bound to (RFC 7638). */
  readonly keyThumbprint?: string | undefined;
}

/** All refresh tokens that come from one authorization (RFC 9700 §4.14). */
export interface TokenFamily {
  readonly id: number;
  readonly clientId: string;
  readonly user: string | undefined;
  readonly scope: string;
  /** The audience that the authorization request named. */
  readonly audience: string | undefined;
  /** Epoch seconds. */
  readonly authTime: number | undefined;
  revoked: boolean;
  /** The number of refreshes. Access tokens of an earlier generation are invalid where a refresh revokes them. */
  generation: number;
}

/** The record of a refresh token. Times are epoch milliseconds. */
export interface RefreshToken {
  readonly family: TokenFamily;
  expiresAt: number;
  usedAt: number | undefined;
  /** Whether it comes from a profile and is never evicted. */
  readonly pinned: boolean;
}

/** The record of an authorization code. */
export interface Code {
  readonly clientId: string;
  readonly user: string;
  readonly scope: string;
  readonly audience: string | undefined;
  readonly nonce: string | undefined;
  /** Epoch seconds. */
  readonly authTime: number;
  readonly redirectUri: string;
  readonly challenge: string | undefined;
  readonly challengeMethod: string;
  readonly offline: boolean;
  readonly expiresAt: number;
  /** Set by the first attempt to exchange the code, successful or not. */
  used: boolean;
  /** The token family that was issued for it. */
  family: TokenFamily | undefined;
}

/** The record of a device code. */
export interface Device {
  readonly clientId: string;
  readonly scope: string;
  readonly userCode: string;
  readonly expiresAt: number;
  intervalMs: number;
  polledAt: number | undefined;
  decision: { readonly user: string } | 'denied' | undefined;
}

/** A user who can always sign in, so that every flow works with any profile. */
export const BUILT_IN_USER: User = {
  login: 'ada@example.com',
  password: 'lovelace',
  name: 'Ada Lovelace',
  given_name: 'Ada',
  family_name: 'Lovelace',
};

const MAX_RECORDS = 10_000;

/** Maximum length of request parameters that are stored; Okta documents this limit for scopes. */
export const MAX_STORED_LENGTH = 4096;

/** The state of one provider: clients, users and everything that was issued. All maps that requests can fill are bounded. */
export class Realm {
  readonly clients = new Map<string, Client>();
  /** Users of this realm's profiles. */
  readonly #users = new Map<string, User>();
  /** Tenants and authorization servers that exist. */
  readonly tenants = new Set<string>();
  /** Token URLs of profiles, by host. */
  readonly tokenUrls = new Map<string, URL>();
  /** Endpoints that profiles configure, by host and path. */
  readonly endpoints = new Map<string, Action>();
  /** Whether a profile sends its token requests as JSON. */
  acceptsJson = false;
  /** The issuer that a profile configures. */
  issuer: string | undefined;
  readonly refreshTokens = new BoundedMap<RefreshToken>();
  readonly codes = new BoundedMap<Code>();
  readonly devices = new BoundedMap<Device>();
  /** Access tokens that were revoked one by one, by token id or hash. */
  readonly revokedTokens = new BoundedMap<object>();
  readonly families = new BoundedMap<TokenFamily, number>();
  /** Access tokens that were issued up to this time count as expired. Epoch milliseconds. */
  expiredBefore = -1;
  #familyCount = 0;
  /** How often each client invalidated its token, for providers with stable tokens. */
  readonly invalidations = new Map<string, number>();

  /** `everyone` are the users of all realms. */
  constructor(
    readonly provider: EmulatedProvider,
    readonly everyone: ReadonlyMap<string, User>,
    readonly settings: ProviderSettings,
  ) {
    for (const tenant of provider.sharedTenants ?? []) this.tenants.add(tenant);
  }

  /** Registers a client, or another credential of a client that several profiles share. */
  addClient(id: string, credential: Credential): Client {
    const client = this.clients.get(id) ?? { id, credentials: [] };
    this.clients.set(id, client);
    client.credentials.push(credential);
    return client;
  }

  /** Registers the user of a profile. */
  addUser(login: string, password: string | undefined): void {
    this.#users.set(login, { ...this.everyone.get(login), login, password });
  }

  findUser(name: string | undefined): User | undefined {
    return name === undefined ? undefined : (this.#users.get(name) ?? this.everyone.get(name));
  }

  userNames(): string[] {
    return [...new Set([...this.everyone.keys(), ...this.#users.keys()])];
  }

  createFamily(grant: Pick<TokenFamily, 'clientId' | 'user' | 'scope' | 'audience' | 'authTime'>): TokenFamily {
    const family: TokenFamily = { ...grant, id: ++this.#familyCount, revoked: false, generation: 0 };
    this.families.set(family.id, family);
    return family;
  }

  /** Revokes one access token. A stable token is invalid once its client has more invalidations than it. */
  revokeAccessToken(token: { readonly clientId: string; readonly key: string; readonly invalidations: number }): void {
    if (this.provider.stableToken) this.invalidations.set(token.clientId, token.invalidations + 1);
    else this.revokedTokens.set(token.key, {});
  }

  /** Registers the refresh token of a profile. */
  addRefreshToken(token: string, clientId: string, user: string | undefined, scope: string): void {
    const name = user ?? BUILT_IN_USER.login;
    const family = this.createFamily({ clientId, user: name, scope, audience: undefined, authTime: undefined });
    this.refreshTokens.set(token, { family, expiresAt: Number.POSITIVE_INFINITY, usedAt: undefined, pinned: true });
  }

  /** Forgets clients, users and everything that was issued. */
  clear(): void {
    for (const map of [this.clients, this.#users, this.refreshTokens, this.codes, this.devices]) map.clear();
    for (const map of [this.revokedTokens, this.families, this.invalidations]) map.clear();
    this.expiredBefore = -1;
  }
}

/** A map that evicts its oldest entries, except pinned ones. */
class BoundedMap<T extends object, K = string> extends Map<K, T> {
  override set(key: K, value: T): this {
    super.set(key, value);
    if (this.size <= MAX_RECORDS) return this;
    for (const [oldest, record] of this) {
      if ('pinned' in record && record.pinned === true) continue;
      this.delete(oldest);
      break;
    }
    return this;
  }
}
