import type { EmulatorRequest, EmulatorResponse } from './messages.ts';
import type { ErrorDescription, ErrorTable, Rejection } from './rejection.ts';
import type { Claims, Client, User } from './subjects.ts';

/** An endpoint; each provider defines its URL. */
export type Action =
  | 'token'
  | 'device'
  | 'verify'
  | 'authorize'
  | 'revoke'
  | 'introspect'
  | 'installation'
  | 'federation'
  | 'resource'
  | 'metadata'
  | 'keys';

/** The target of a request, as the real provider would see it. */
export interface RequestTarget {
  readonly host: string;
  readonly path: string;
  /** `https://` and the host, unless a profile's URL is `http://`. */
  readonly origin: string;
  /** The token endpoint that a profile configures on this host. */
  readonly tokenUrl: URL | undefined;
  /** The issuer that a profile configures. */
  readonly configuredIssuer: string | undefined;
  /** Tenants and authorization servers that exist. */
  readonly tenants: ReadonlySet<string>;
}

/** The grant type of RFC 8628. */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** The grant type of RFC 7523 §2.1. */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** The body of a token response. Members that are `undefined` are not sent. */
export type TokenResponse = Record<string, unknown>;

/** Tokens that were issued, before a provider formats them as a response. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scope: string;
  /** Seconds. */
  readonly lifetime: number;
  /** Epoch seconds. */
  readonly issuedAt: number;
  readonly grant: string;
}

/** Everything that the claims of a token can depend on. Times are epoch seconds. */
export interface TokenSubject {
  readonly issuer: string;
  readonly clientId: string;
  readonly client: Client | undefined;
  readonly clientAuth: 'none' | 'secret' | 'assertion';
  readonly user: User | undefined;
  readonly scopes: readonly string[];
  /** The audience that the request or the configuration names. */
  readonly audience: string | undefined;
  readonly target: RequestTarget;
  readonly id: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly authTime: number | undefined;
  readonly nonce: string | undefined;
}

/** The format of JWT access tokens. `iss`, `iat`, `exp`, the id and configured claims are added. */
export interface AccessTokenFormat {
  readonly typ?: string;
  readonly idClaim: string;
  readonly idPrefix?: string;
  readonly claims: (subject: TokenSubject) => Claims;
}

/** The behaviour of one provider, as data. All providers share the endpoints. */
export interface EmulatedProvider {
  readonly type: string;
  /** The token URL of a profile that sets none; `{tenant}` and fields of the profile are replaced. */
  readonly tokenUrl?: string;
  /** Values of the variables in the token URL for a profile that sets none. */
  readonly urlDefaults?: Readonly<Record<string, string>>;
  /** Whether requests to the endpoints may be JSON. */
  readonly jsonRequests?: boolean;
  /** Grants that are other names of a standard grant. */
  readonly grantAliases?: Readonly<Record<string, string>>;
  /** Parameters that the provider adds to the redirect with the code. */
  readonly redirectParameters?: Readonly<Record<string, string>>;
  readonly hosts?: RegExp;
  /** Whether each host has its own clients and tokens; otherwise all hosts of the provider share them. */
  readonly isolatedHosts?: boolean;
  /** Paths of the endpoints; the first match wins. */
  readonly routes: Readonly<Partial<Record<Action, RegExp>>>;
  readonly grants: readonly string[];
  readonly clientAuth: {
    /** The registered method of a confidential client whose profile sets none. */
    readonly default: 'client_secret_basic' | 'client_secret_post';
    /** How id and secret in a Basic header are read: percent-decoded (the default), as they are, or in either way. */
    readonly basicDecoding?: 'raw' | 'either';
    /** Whether credentials in the body are rejected. */
    readonly basicOnly?: boolean;
    /** Whether a client may only use the method that it is registered with. */
    readonly registeredMethodOnly?: boolean;
    /** Whether a client may sign assertions with its secret (`client_secret_jwt`). */
    readonly secretAssertions?: boolean;
    /** Whether a header takes precedence over credentials in the body; by default, both at once are rejected. */
    readonly headerWins?: boolean;
  };
  /** Whether the password grant works without a client id. */
  readonly passwordGrantWithoutClient?: boolean;
  readonly tenantsWithoutPasswordGrant?: readonly string[];
  readonly rejectedParameters?: readonly string[];
  readonly scopeRequiredFor?: readonly string[];
  /** Whether a scope exists; default: all do. */
  readonly isScope?: (scope: string) => boolean;
  /** Whether the client credentials grant may request this scope; default: any. */
  readonly allowsClientScope?: (scope: string) => boolean;
  /** Whether a reused code also revokes the tokens issued for it (RFC 6749 §4.1.2). It is always rejected. */
  readonly codeReuseRevokesTokens?: boolean;
  /** The metadata document (RFC 8414, OpenID Connect Discovery), if the provider has one. Common members are added. */
  readonly metadata?: (target: RequestTarget) => Record<string, unknown> | undefined;
  /** The issuer of tokens that are requested at this target. */
  readonly issuer: (target: RequestTarget) => string;
  /** Whether authorization responses have the parameter `iss` (RFC 9207). */
  readonly sendsIssuer?: boolean;
  readonly revocation?: {
    /** Whether tokens can be revoked without client authentication. */
    readonly withoutClientAuth?: boolean;
    /** Whether an unknown token is an error; by RFC 7009 §2.2 it is not. */
    readonly rejectsUnknown?: boolean;
    /** Whether the token of another confidential client, or a failed authentication, is an error. */
    readonly rejectsOthers?: boolean;
  };
  readonly refresh: {
    /**
     * - `reusable`: each refresh returns a new refresh token, and the old one stays valid.
     * - `static`: a refresh returns no refresh token.
     * - `single_use`: a refresh replaces the refresh token and invalidates earlier access tokens.
     * - `rotating`: a refresh replaces the refresh token; reuse after the grace period revokes the token family.
     * - `none`: no refresh tokens are issued.
     */
    readonly policy: 'reusable' | 'static' | 'single_use' | 'rotating' | 'none';
    readonly graceSeconds?: number;
    /** Whether a refresh may request scopes that were not granted before. */
    readonly allowsNewScopes?: boolean;
    /** The scope that must be requested to get a refresh token. */
    readonly requiredScope?: string;
    /** Whether the authorization request must have `access_type=offline` to get a refresh token. */
    readonly offlineAccessOnly?: boolean;
    readonly lifetimeSeconds: number;
  };
  /** Lifetime of access tokens. */
  readonly lifetimeSeconds: number;
  readonly idTokenLifetimeSeconds?: number;
  readonly device?: {
    /** Seconds. */
    readonly expiresIn: number;
    /** Whether the response has `verification_uri_complete`. */
    readonly hasCompleteUri?: boolean;
    readonly verificationPath: string;
    /** Whether the response has a `message` for the user. */
    readonly hasMessage?: boolean;
    readonly hasDash?: boolean;
    readonly uriMember?: string;
  };
  /** Whether a request with a proof gets a token that is bound to its key (RFC 9449). Default: proofs are ignored. */
  readonly dpop?: boolean;
  /** Whether a client gets the same access token each time. */
  readonly stableToken?: boolean;
  /** JWT access tokens. Without it, access tokens are opaque. */
  readonly accessToken?: AccessTokenFormat;
  /** Converts an opaque token into the provider's format; default: unchanged. */
  readonly encodeAccessToken?: (token: string) => string;
  readonly decodeAccessToken?: (token: string) => string;
  /** The claims of an id token. `nonce`, `auth_time` and the claims of the user are added. */
  readonly idClaims?: (subject: TokenSubject) => Claims;
  /** Whether id tokens from the token endpoint have the claim `at_hash`. Default: true. */
  readonly hasAccessTokenHash?: boolean;
  /** Changes the standard token response (RFC 6749 §5.1). */
  readonly response?: (standard: TokenResponse, issued: IssuedTokens) => TokenResponse;
  readonly errors?: ErrorTable;
  /** The response to a rejected request, if it is not the one of RFC 6749 §5.2. */
  readonly errorResponse?: (error: ErrorDescription, kind: Rejection['kind'], now: number) => EmulatorResponse;
  /** The introspection response for a valid token. Default: the members of RFC 7662 §2.2. */
  readonly introspection?: (standard: Claims, subject: ResourceSubject) => Claims;
  /** The protected resource: data about the user or the client. */
  readonly resource: (subject: ResourceSubject, request: EmulatorRequest) => EmulatorResponse;
  /** The header of the protected resource, in lower case, that contains the token itself. Default: `authorization`. */
  readonly apiHeader?: string;
  /** The response of the protected resource to an invalid access token. */
  readonly unauthorizedResponse: () => EmulatorResponse;
  /** The tenant or authorization server in a URL. */
  readonly tenantOf?: (url: { readonly host: string; readonly path: string }) => string | undefined;
  /** Tenants that always exist. */
  readonly sharedTenants?: readonly string[];
  /** Further names of the tenant of a profile. */
  readonly relatedTenants?: (tenant: string) => readonly string[];
}

/** The client and the user that a valid access token was issued for. */
export interface ResourceSubject {
  readonly clientId: string;
  readonly user: User | undefined;
  readonly scopes: readonly string[];
  readonly issuer: string;
  readonly target: RequestTarget;
  /** Epoch seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number | undefined;
}
