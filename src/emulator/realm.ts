import type { KeyObject } from 'node:crypto';
import type { EmulatedProvider } from './provider.ts';
import type { TokenSigner } from './token-signer.ts';

/** The state and the time that an endpoint handles a request with. */
export interface RequestContext {
  readonly realm: Realm;
  readonly signer: TokenSigner;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A registered client. */
export interface Client {
  readonly id: string;
  readonly secret: string | undefined;
  /** `client_secret_basic`, `client_secret_post`, `none` or `private_key_jwt`. */
  readonly auth: string;
  readonly key: KeyObject | undefined;
  /** An accepted audience of its assertions in addition to the endpoint's URL. */
  readonly audience: string | undefined;
}

/** All refresh tokens that come from one authorization (RFC 9700 §4.14). */
export interface TokenFamily {
  readonly id: string;
  readonly clientId: string;
  readonly user: string | undefined;
  readonly scope: string;
  revoked: boolean;
  /** The number of refreshes. Access tokens of an earlier generation are invalid where a refresh revokes them. */
  generation: number;
}

/** The record of a refresh token. Times are epoch milliseconds. */
export interface RefreshToken {
  readonly family: TokenFamily;
  readonly expiresAt: number;
  usedAt: number | undefined;
  /** Whether it comes from a profile and is never evicted. */
  readonly pinned: boolean;
}

/** The record of an authorization code. */
export interface Code {
  readonly clientId: string;
  readonly user: string;
  readonly scope: string;
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
export const BUILT_IN_USER = { name: 'ada@example.com', password: 'lovelace' } as const;

const MAX_RECORDS = 10_000;

/** Maximum length of request parameters that are stored; Okta documents this limit for scopes. */
export const MAX_STORED_LENGTH = 4096;

/** The state of one provider: clients, users and everything that was issued. All maps that requests can fill are bounded. */
export class Realm {
  readonly clients = new Map<string, Client>();
  /** Passwords by user name. */
  readonly users = new Map<string, string | undefined>([[BUILT_IN_USER.name, BUILT_IN_USER.password]]);
  readonly tenants = new Set(['common', 'organizations', 'consumers']);
  /** Token URLs of profiles, by host. */
  readonly tokenUrls = new Map<string, URL>();
  readonly refreshTokens = new BoundedMap<RefreshToken>();
  readonly codes = new BoundedMap<Code>();
  readonly devices = new BoundedMap<Device>();
  /** Access tokens that were revoked without a token family, by `jti`. */
  readonly revokedTokens = new BoundedMap<object>();
  readonly families = new BoundedMap<TokenFamily>();
  #familyCount = 0;
  /** How often each client invalidated its token, for providers with stable tokens. */
  readonly invalidations = new Map<string, number>();

  constructor(readonly provider: EmulatedProvider) {}

  /** Registers a client. Of several profiles with the same client id, one with credentials wins. */
  addClient(client: Client): void {
    const existing = this.clients.get(client.id);
    const hasCredentials = ({ secret, key }: Client): boolean => secret !== undefined || key !== undefined;
    if (existing === undefined || !hasCredentials(existing) || hasCredentials(client))
      this.clients.set(client.id, client);
  }

  createFamily(clientId: string, user: string | undefined, scope: string): TokenFamily {
    const id = String(++this.#familyCount);
    const family: TokenFamily = { id, clientId, user, scope, revoked: false, generation: 0 };
    this.families.set(id, family);
    return family;
  }

  /** Registers the refresh token of a profile. */
  registerRefreshToken(token: string, clientId: string, user: string | undefined, scope: string): void {
    const family = this.createFamily(clientId, user ?? BUILT_IN_USER.name, scope);
    this.refreshTokens.set(token, { family, expiresAt: Number.POSITIVE_INFINITY, usedAt: undefined, pinned: true });
  }
}

/** A map that evicts its oldest entries, except pinned ones. */
class BoundedMap<T extends object> extends Map<string, T> {
  override set(key: string, value: T): this {
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
