import type { EmulatorResponse } from './message.ts';
import type { Problem } from './problem.ts';

/** What an endpoint does; a dialect says where it stands. */
export type Action = 'token' | 'device' | 'verify' | 'authorize' | 'revoke' | 'resource' | 'metadata' | 'keys';

/** An endpoint's place: method, path, and in `tenant` the part of the path that names one. */
interface Route {
  readonly action: Action;
  readonly method: 'GET' | 'POST' | 'ANY';
  readonly path: RegExp;
}

/** Where a caller asked, as the real provider would see it. */
export interface Place {
  readonly host: string;
  readonly path: string;
  /** `https://` and the host, unless a profile says `http://`. */
  readonly origin: string;
  /** The token endpoint that a profile names on this host. */
  readonly tokenUrl: URL | undefined;
}

/** A token as it was granted, before a dialect gives it its shape. */
export interface Issued {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scope: string;
  readonly lifetime: number;
  /** Epoch seconds. */
  readonly issuedAt: number;
  readonly grant: string;
}

/** The ways of one provider, as data; the endpoints are the same for all. */
export interface Dialect {
  readonly type: string;
  /** Where a profile that names no address sends its token request; `{tenant}` is replaced. */
  readonly tokenUrl: string | undefined;
  readonly hosts: RegExp | undefined;
  /** Each host is a world of its own; else all hosts of the provider share clients and tokens. */
  readonly hostsApart: boolean;
  readonly routes: readonly Route[];
  /** Grants that the token endpoint knows. */
  readonly grants: readonly string[];
  readonly clientAuth: {
    /** How a confidential client is registered that does not say. */
    readonly usual: 'basic' | 'body';
    /** How a Basic header's parts are read: percent-decoded, as they are, or either; `no` refuses it. */
    readonly basic: 'decoded' | 'raw' | 'either' | 'no';
    readonly body: boolean;
    /** Only the method that the client is registered for serves. */
    readonly onlyRegistered: boolean;
    /** Header and body at once. */
    readonly both: 'refused' | 'header_wins';
  };
  /** Whether a client without an id may use the password grant. */
  readonly anonymousPassword: boolean;
  /** Tenants that do not serve the password grant. */
  readonly tenantsWithoutPassword: readonly string[];
  /** Grants that need a scope. */
  readonly scopeRequiredFor: readonly string[];
  /** Whether an application on its own may ask for this scope. */
  readonly allowsOwnScope: (scope: string) => boolean;
  /** Whether a code that comes twice kills the tokens it was exchanged for (RFC 6749 §4.1.2); it is refused in any case. */
  readonly codeReuseRevokes: boolean;
  /** The document that the provider publishes of itself (RFC 8414, OpenID Connect Discovery), where it has one. */
  readonly metadata: ((place: Place) => Record<string, unknown> | undefined) | undefined;
  /** The issuer, where authorization responses name it (RFC 9207). */
  readonly issuer: ((place: Place) => string) | undefined;
  /** Whether a token can be revoked by whoever holds it. */
  readonly revokesWithoutClient: boolean;
  readonly refresh: {
    /** `stays`: a new one each time, the old stays valid. `kept`: none is returned. `once`: replaced, the old and its access tokens die. `rotates`: replaced, reuse after the grace kills the family. `none`: there are none. */
    readonly policy: 'stays' | 'kept' | 'once' | 'rotates' | 'none';
    readonly graceSeconds: number;
    /** Whether a refresh may ask for more than was granted. */
    readonly widens: boolean;
    /** Scope that a refresh token must be asked for with. */
    readonly scope: string | undefined;
    /** Whether a sign-in page gives one only to those who ask with `access_type=offline`. */
    readonly onRequest: boolean;
    readonly lifetimeSeconds: number;
  };
  readonly lifetimeSeconds: number;
  readonly device:
    | { readonly expiresIn: number; readonly complete: boolean; readonly verifyPath: string; readonly message: boolean }
    | undefined;
  /** Whether the same client gets the same access token again. */
  readonly sameToken: boolean;
  /** Puts a self-contained token into the provider's form. */
  readonly dress: (token: string) => string;
  readonly undress: (token: string) => string;
  readonly response: (issued: Issued) => Record<string, unknown>;
  readonly refusal: (problem: Problem, context: { now: number; grant: string }) => EmulatorResponse;
  /** What the protected resource says of the caller. */
  readonly resource: (user: string | undefined, clientId: string, path: string) => EmulatorResponse;
  readonly resourceRefusal: () => EmulatorResponse;
  /** The tenant that an address names. */
  readonly tenantOf: (address: { readonly host: string; readonly path: string }) => string | undefined;
}
