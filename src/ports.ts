import type { TransportError } from './errors.ts';
import type { NonceResponse } from './oauth/dpop.ts';
import type { HttpResponse } from './oauth/http-response.ts';
import type { AssertionSpec, SourceSpec } from './oauth/token-request.ts';
import type { Impersonation, InstallationRequest } from './profile/profile.ts';
import type { Secret } from './redaction/secret.ts';

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Time limit and cancellation of one operation. */
export interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The system clock. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`; rejects when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Writes one line for `--verbose`. The line must not contain a secret. */
export type Log = (line: string) => void;

/** The ports that every token request uses. */
export interface Ports {
  readonly send: Send;
  readonly sign: Sign;
  readonly readAssertion: ReadAssertion;
  /** Loaded at first use. */
  readonly dpop: () => Promise<Dpop>;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** Package version, for the User-Agent header. */
  readonly version: string;
}

/** One POST to a token endpoint. */
export interface WireRequest {
  /** Name of the profile, for messages. */
  readonly profile: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body: string;
  /** Whether a keep-alive connection may be used; the server may close it at the same moment, which loses the request. */
  readonly reuseConnection: boolean;
  readonly tls: TlsFiles;
  /** Set if the token in the response is exchanged for one of a service account. */
  readonly impersonation?: Impersonation | undefined;
  /** Set if the token is that of an installation of an application. */
  readonly installation?: InstallationRequest | undefined;
}

/** PEM contents that a profile adds to a connection. */
export interface TlsFiles {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly certKey: string | undefined;
}

/** Sends one request once and returns any HTTP response. Throws a `TransportError` only if no response arrives. */
export type Send = (request: WireRequest, limits: Limits) => Promise<HttpResponse>;

/** Signs an assertion (RFC 7523 §2.1, §2.2). */
export type Sign = (spec: AssertionSpec, profile: string, limits: Limits) => Promise<Secret>;

/** Reads an assertion of another issuer: a CI system, a cloud, or the provider of another profile. */
export type ReadAssertion = (spec: SourceSpec, profile: string, limits: Limits) => Promise<Secret>;

/** Proofs that the sender of a request has the key of its token (RFC 9449). The nonces of servers are remembered. */
export interface Dpop {
  /** Creates a private key, as a JWK. */
  createKey(): Secret;
  /** JWK thumbprint (RFC 7638), for `dpop_jkt`. */
  thumbprint(key: Secret): string;
  /** Creates the header `DPoP` of one request: to a token endpoint, or with `accessToken` to an API. */
  createProof(key: Secret, method: string, url: URL, accessToken?: Secret): Secret;
  /** Remembers the nonce of a response. Returns whether the request was rejected because its proof lacks this nonce: it may be repeated once. */
  acceptNonce(url: URL, response: NonceResponse): boolean;
}

/** A running emulator and the certificate authority to trust. */
export interface EmulatorEndpoint {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  /** Hosts on this machine that are emulated. All others on this machine are connected to directly. */
  readonly loopbackHosts?: readonly string[] | undefined;
  /** Further origins that are connected to directly. */
  readonly allow?: readonly string[] | undefined;
}

/** A record as the store returns it. */
export interface StoredRecord {
  /** Hash of the newest refresh token. A write succeeds only if the stored version is still the one last read. */
  readonly version: string;
  /** JSON; the store encrypts it. */
  readonly content: Secret;
  /** Names by which {@link TokenStore.read} also finds the record. Default: none. */
  readonly aliases?: readonly string[];
}

/** A stored record with its key. */
export interface FoundRecord extends StoredRecord {
  readonly key: string;
}

/** Encrypted records with an exclusive lock for each key. Shared by the processes of a user, or by machines. */
export interface TokenStore {
  /** Directory or URL, for messages. */
  readonly location: string;
  /** Keyed digest that is the same for every user of the store, also after a change of encryption keys. */
  fingerprint(value: string | Secret): string;
  /** Epoch milliseconds by the clock that all users of the store share. */
  now(): number;
  /** Reads the record with this key or alias, without waiting for its lock. */
  read(name: string): Promise<FoundRecord | undefined>;
  list(): Promise<readonly FoundRecord[]>;
  /**
   * Acquires the exclusive lock for `key` and re-reads its record. Rejects with `store_locked` after `timeoutMs`. An abort ends the wait, but
   * never releases a lock that is held.
   */
  lock<T = never>(key: string, options: LockOptions<T>): Promise<RecordLock<T>>;
  /** Waits for held locks to be released, then closes files and connections. */
  close(): Promise<void>;
}

/** How to wait for a lock. */
export interface LockOptions<T> extends Limits {
  /**
   * Called while another owner holds the lock, each time the record changes. A result other than `undefined` ends the wait without the lock; so
   * does an error. `queuedAt` is the store's time at which the wait began.
   */
  readonly acceptIf?: ((record: StoredRecord | undefined, queuedAt: number) => T | undefined) | undefined;
}

/** A record whose lock this caller holds until `release`. */
export interface RecordLock<T = never> {
  /** Result of `acceptIf`. If it is set, the lock was not acquired and only `release` may be called. */
  readonly accepted: T | undefined;
  /** The record as of the acquisition. */
  readonly record: StoredRecord | undefined;
  /** The store's time at which the wait began. */
  readonly queuedAt: number;
  /** Reads the record again: an owner that lost its lock may still have written a successor. */
  reload(): Promise<StoredRecord | undefined>;
  /**
   * Replaces the record; durable when it resolves. Returns `false` and writes nothing if another owner changed the version. With `reserve`, also
   * reserves disk space for a later, larger write, so that a full disk is noticed before a request is sent.
   */
  write(next: StoredRecord, options?: { readonly reserve?: boolean }): Promise<boolean>;
  remove(): Promise<void>;
  /** Releases the lock. May be called more than once. */
  release(): Promise<void>;
}

/** One request of a script to an API. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  /** In sending order. Host and Content-Length are added. */
  readonly headers: readonly (readonly [name: string, value: string | Secret])[];
  /** Parts in sending order; `undefined` for a request without a body. */
  readonly body: readonly BodyPart[] | undefined;
  readonly tls?: TlsFiles | undefined;
}

/** Part of a request body. A file is read while it is sent. */
export type BodyPart = string | Secret | Uint8Array | FileContent;

/** Content of a file; each `read` starts at its beginning. */
export interface FileContent {
  /** In bytes, as of opening. Bytes appended later are not read. */
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** Limits of one request to an API. */
export interface ApiLimits extends Limits {
  readonly maxBytes: number;
  /**
   * Called with the status. If it returns a function, the body is streamed to it instead of being collected; then `maxBytes` does not apply and
   * `timeoutMs` is the longest time without data.
   */
  readonly save?: ((status: number) => ((chunk: Uint8Array) => Promise<void>) | undefined) | undefined;
}

/** Response of an API. */
export interface ApiResponse {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names. Repeated headers are joined with commas; `set-cookie` is a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Decompressed; empty if it was streamed. */
  readonly body: Uint8Array;
}

/** Sends one request to an API once. Redirects are returned, not followed. Throws a `TransportError` only if no response arrives. */
export type CallApi = (request: ApiRequest, limits: ApiLimits) => Promise<ApiResponse>;

/** Files that a script names, relative to `directory`. */
export interface Files {
  read(path: string, directory: string): Promise<Uint8Array>;
  /** Opens a file that is to be sent. */
  open(path: string, directory: string): Promise<FileContent>;
  /** Replaces the file or appends to it. Missing directories are created. */
  write(path: string, directory: string, content: Uint8Array, append: boolean): Promise<void>;
  /** Creates a file in chunks. It appears with `commit`; `discard` leaves nothing. */
  create(path: string, directory: string): Promise<FileWriter>;
}

/** A file that is being written. */
export interface FileWriter {
  write(chunk: Uint8Array): Promise<void>;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** A server's certificate. */
export interface CertificateInfo {
  readonly issuer: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Why this machine does not trust it. */
  readonly failure: TransportError | undefined;
  /** Host and port of the proxy that was used. */
  readonly proxy: string | undefined;
}

/** Connects and returns the server's certificate, trusted or not. Sends no client certificate. */
export type InspectCertificate = (
  profile: string,
  url: URL,
  ca: string | undefined,
  limits: Limits,
) => Promise<CertificateInfo>;

/** The ports that an interactive login uses in addition to {@link Ports}. */
export interface LoginPorts {
  /** 256 random bits, base64url. */
  randomString(): string;
  /** SHA-256, base64url. */
  sha256(value: Secret): string;
  /** Waits for a browser redirect. Only a query that `isExpected` accepts ends the wait. */
  listen(target: RedirectTarget, isExpected: (query: string) => boolean): Promise<RedirectListener>;
  /** Opens the user's browser. Returns the reason if that fails. */
  openBrowser(url: string): Promise<string | undefined>;
  /** URL at which the user's browser finds a page of the provider: its own, or the emulator's. */
  pageUrl(url: URL): string;
  readonly callApi: CallApi;
}

/** Loopback URL of the redirect. */
export interface RedirectTarget {
  /** `localhost`, `[::1]` or an IPv4 address such as `127.0.0.1`. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly path: string;
}

/** A loopback server that accepts one redirect. */
export interface RedirectListener {
  readonly port: number;
  /** Resolves with the redirect, after the server stopped listening. */
  readonly redirect: Promise<Redirect>;
  /** Stops listening, after the last page was sent. */
  close(): Promise<void>;
}

/** A browser redirect that waits for a result page. */
export interface Redirect {
  readonly query: string;
  show(page: 'signed-in' | 'denied' | 'failed'): void;
}
