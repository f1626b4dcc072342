import { type ErrorResponse, OAuthProfileError, ProviderError } from '../errors.ts';
import type { LoginChallenge } from '../oauth/challenge.ts';
import type { StoredRecord } from '../ports.ts';
import type { IssuerEndpoints } from '../profile/issuer.ts';
import { Secret } from '../redaction/secret.ts';

/** A cached token response. All times are the store's, in epoch milliseconds. */
export interface CachedToken {
  /** The response as JSON, without its refresh token: the family has the newest one. */
  readonly response: Secret;
  readonly hadRefreshToken: boolean;
  /** Start of the attempt that returned the token. */
  readonly startedAt: number;
  readonly receivedAt: number;
  /** `undefined` if the response has no `expires_in`. */
  readonly expiresAt: number | undefined;
}

/** An error in the form in which it is stored. Contains no secret. */
export interface CachedError {
  readonly code: OAuthProfileError['code'];
  readonly message: string;
  readonly hint: string | undefined;
  readonly provider: ErrorResponse | undefined;
}

/** A failed attempt, for the callers that were queued before it began. */
interface FailedAttempt {
  readonly startedAt: number;
  /** Cache key of the request. */
  readonly key: string;
  readonly error: CachedError;
}

/** Tokens of a grant other than `refresh_token`. */
export interface TokenRecord {
  readonly kind: 'token';
  /** Name of the profile that requested the token last. */
  readonly profile: string;
  /** Origin of the token URL; `undefined` in records of earlier versions. */
  readonly origin?: string;
  /** By cache key. */
  readonly tokens: Readonly<Record<string, CachedToken>>;
  readonly failure?: FailedAttempt | undefined;
  /** The key that the tokens are bound to (RFC 9449), a private JWK. */
  readonly dpopKey?: Secret | undefined;
}

/** A refresh token and its successors (a token family, RFC 9700 §4.14), with the access tokens obtained with them. */
export interface FamilyRecord extends Omit<TokenRecord, 'kind'> {
  readonly kind: 'family';
  /** Origin of the token URL that the family is bound to. */
  readonly origin: string;
  /** Fingerprint of the client id that the family is bound to. */
  readonly client: string;
  /** `undefined` if the provider issued none at the login: the access token is used until it expires. */
  readonly refreshToken?: Secret | undefined;
  /** {@link familyKey} of the last refresh tokens, newest last. The family is found by each of them. */
  readonly tokenHashes: readonly string[];
  /** Journal: a request was sent and its outcome is not known yet. Its response may arrive until `until`. */
  readonly attempt?: { readonly sentAt: number; readonly until: number } | undefined;
  /** Error response that is returned for the same request until `until`, without sending it again. */
  readonly cachedError?: { readonly key: string; readonly until: number; readonly error: CachedError } | undefined;
  readonly account?: string | undefined;
  /** Parameters of the redirect of the login, which are added to each token response. */
  readonly redirectMembers?: Readonly<Record<string, string>> | undefined;
  /** Granted scope. */
  readonly scope?: string | undefined;
  /** Scope that the login requested, empty if none; `undefined` for a configured refresh token. */
  readonly requestedScope?: string | undefined;
}

/** A record with cached tokens. */
export type CacheRecord = TokenRecord | FamilyRecord;

/** A login: which family belongs to a profile. */
export interface LoginRecord {
  readonly kind: 'login';
  readonly profile: string;
  /** Key of the family's record. */
  readonly family: string;
  /** Fingerprints of configured refresh tokens that the login replaced. */
  readonly replaced: readonly string[];
  readonly at: number;
  /** Parameters that an API requires of the next login. */
  readonly challenge?: LoginChallenge | undefined;
}

/** The endpoints of an issuer, from its metadata. */
export interface MetadataRecord {
  readonly kind: 'metadata';
  /** Name of the profile that read it last. */
  readonly profile: string;
  /** Always empty: earlier versions expect tokens in every record. */
  readonly tokens: Readonly<Record<string, never>>;
  readonly endpoints: IssuerEndpoints;
  readonly expiresAt: number;
}

type AnyRecord = CacheRecord | LoginRecord | MetadataRecord;

/** Converts a record to its stored form. The version of a family is the fingerprint of its newest refresh token. */
export function serializeRecord(record: AnyRecord): StoredRecord {
  const reveal = function (this: Record<string, unknown>, key: string, value: unknown): unknown {
    const original = this[key];
    return original instanceof Secret ? original.reveal() : value;
  };
  const content = Secret.untracked(JSON.stringify(record, reveal));
  if (record.kind === 'family') {
    return { version: record.tokenHashes.at(-1) ?? 'no refresh token', content, aliases: record.tokenHashes };
  }
  return { version: record.kind === 'login' ? record.family : '', content };
}

/** Reads a stored record of any kind. */
export function parseRecord(stored: StoredRecord): AnyRecord {
  const record = JSON.parse(stored.content.reveal());
  if (record.kind === 'login') return record;
  for (const token of Object.values<{ response: string | Secret }>(record.tokens)) {
    token.response = Secret.untracked(String(token.response));
  }
  if (record.refreshToken !== undefined) record.refreshToken = new Secret(record.refreshToken);
  if (record.dpopKey !== undefined) record.dpopKey = new Secret(record.dpopKey);
  return record;
}

/** Reads a stored record that has cached tokens. */
export function parseCacheRecord(stored: StoredRecord | undefined): CacheRecord | undefined {
  const record = stored && parseRecord(stored);
  return record?.kind === 'login' || record?.kind === 'metadata' ? undefined : record;
}

/** Reads a stored record if it is of the given kind. */
export function parseRecordOf<K extends AnyRecord['kind']>(
  kind: K,
  stored: StoredRecord | undefined,
): Extract<AnyRecord, { kind: K }> | undefined {
  const record = stored && parseRecord(stored);
  return record?.kind === kind ? (record as Extract<AnyRecord, { kind: K }>) : undefined;
}

/** Converts an error for storage. Returns `undefined` for anything that is not an {@link OAuthProfileError}: those are bugs. */
export function serializeError(error: unknown): CachedError | undefined {
  if (!(error instanceof OAuthProfileError)) return undefined;
  const { code, message, hint } = error;
  return { code, message, hint, provider: error instanceof ProviderError ? error.provider : undefined };
}

/** Restores a stored error. */
export function parseError({ code, message, hint, provider }: CachedError): OAuthProfileError {
  return provider === undefined
    ? new OAuthProfileError(code, message, { hint })
    : new ProviderError(code, message, { hint, provider });
}
