import { type ErrorResponse, OAuthProfileError, ProviderError } from '../errors.ts';
import type { Kept } from '../ports.ts';
import { Secret } from '../redaction/secret.ts';

/** A token response, kept. */
export interface KeptToken {
  /** The response as JSON, without its refresh token: the family has the newest. */
  readonly response: Secret;
  readonly hadRefreshToken: boolean;
  /** When the attempt began that brought it, when it came, and when it ends if that is known; all in the store's time. */
  readonly startedAt: number;
  readonly obtainedAt: number;
  readonly expiresAt: number | undefined;
}

/** How an attempt failed, for those who had queued before it began. */
interface KeptFailure {
  readonly startedAt: number;
  /** Fingerprint of the request. */
  readonly key: string;
  readonly error: KeptError;
}

/** An error in the form in which it can be kept; it holds no secret. */
export interface KeptError {
  readonly code: OAuthProfileError['code'];
  readonly message: string;
  readonly hint: string | undefined;
  readonly provider: ErrorResponse | undefined;
}

/** A token of a grant other than a refresh. */
export interface TokenRecord {
  readonly kind: 'token';
  /** Who asked last. */
  readonly profile: string;
  readonly tokens: Readonly<Record<string, KeptToken>>;
  readonly failure: KeptFailure | undefined;
}

/** A refresh token and all its successors: whatever profile holds one of them, there is one newest. */
export interface FamilyRecord extends Omit<TokenRecord, 'kind'> {
  readonly kind: 'family';
  /** What it is bound to: a server, and the fingerprint of a client. */
  readonly origin: string;
  readonly client: string;
  readonly refreshToken: Secret;
  /** Fingerprints of the last members, the newest at the end. */
  readonly members: readonly string[];
  /** A request that was sent and whose outcome is not known yet. */
  readonly attempt: { readonly sentAt: number; readonly until: number } | undefined;
  /** The provider refused for good; the same request is not sent again before `until`. */
  readonly refusal: { readonly key: string; readonly until: number; readonly error: KeptError } | undefined;
  readonly account: string | undefined;
  readonly scope: string | undefined;
}

/** What a login left: which family serves a profile. */
export interface LoginRecord {
  readonly kind: 'login';
  readonly profile: string;
  readonly family: string;
  /** Fingerprints of the pasted refresh tokens that the login replaced. */
  readonly replaced: readonly string[];
  readonly at: number;
}

type AnyRecord = TokenRecord | FamilyRecord | LoginRecord;

/** A record as the store takes it; `head` is what a write compares. */
export function toKept(record: AnyRecord, head: string): Kept {
  const revealing = function (this: Record<string, unknown>, key: string, value: unknown): unknown {
    const original = this[key];
    return original instanceof Secret ? original.reveal() : value;
  };
  return { head, content: Secret.untracked(JSON.stringify(record, revealing)) };
}

/** A record as it was kept; `undefined` where there is none of this kind. */
export function fromKept<K extends AnyRecord['kind']>(
  kept: Kept | undefined,
  kind: K,
): Extract<AnyRecord, { kind: K }> | undefined {
  if (kept === undefined) return undefined;
  const record = readRecord(kept);
  return record.kind === kind ? (record as Extract<AnyRecord, { kind: K }>) : undefined;
}

/** A record of any kind. */
export function readRecord(kept: Kept): AnyRecord {
  const record = JSON.parse(kept.content.reveal());
  if (record.kind === 'login') return record;
  for (const token of Object.values<{ response: string | Secret }>(record.tokens)) {
    token.response = Secret.untracked(String(token.response));
  }
  if (record.kind === 'family') record.refreshToken = new Secret(record.refreshToken);
  return record;
}

/** An error to be kept; what is no error of ours is a bug, and nobody else's. */
export function toKeptError(error: unknown): KeptError | undefined {
  if (!(error instanceof OAuthProfileError)) return undefined;
  const { code, message, hint } = error;
  return { code, message, hint, provider: error instanceof ProviderError ? error.provider : undefined };
}

/** The error again. */
export function fromKeptError({ code, message, hint, provider }: KeptError): OAuthProfileError {
  return provider === undefined
    ? new OAuthProfileError(code, message, { hint: hint })
    : new ProviderError(code, message, { hint: hint, provider });
}
