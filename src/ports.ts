import type { TransportError } from './errors.ts';
import type { HttpResponse } from './oauth/http-response.ts';
import type { AssertionSpec } from './oauth/token-request.ts';
import type { Secret } from './redaction/secret.ts';

/** One POST, ready to go over the wire. */
export interface WireRequest {
  /** The profile's name, for messages. */
  readonly profile: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body: string;
  /** Whether a kept connection may serve; one that closes at that moment loses the request. */
  readonly reuseConnection: boolean;
  readonly tls: TlsFiles;
}

/** PEM texts that a profile adds to the connection. */
export interface TlsFiles {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly certKey: string | undefined;
}

/** Environment variables, as `process.env` holds them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where an emulator listens, and the certificate to trust there. */
export interface EmulatorEndpoint {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
}

/** Bounds of one attempt. */
export interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request once and gives back whatever was answered; only a missing answer throws, a `TransportError`. */
export type Send = (request: WireRequest, bounds: Limits) => Promise<HttpResponse>;

/** One request of a script to an API. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  /** In the order in which they are sent; the transport adds Host and Content-Length. */
  readonly headers: readonly (readonly [name: string, value: string | Secret])[];
  /** One piece behind the other; `undefined` where there is none at all. */
  readonly body: readonly BodyPart[] | undefined;
  /** What the connection is given beside the system's own certificates. */
  readonly tls?: TlsFiles | undefined;
}

/** A piece of a body; a file is read while it is sent. */
export type BodyPart = string | Secret | Uint8Array | FileContent;

/** A file's content, read from its beginning as often as it is asked for. */
export interface FileContent {
  /** In bytes; what was added to the file since is not read. */
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** Bounds of one request to an API. */
export interface ApiLimits extends Limits {
  readonly maxBytes: number;
  /**
   * Asked when the status is known. What it gives back gets the body piece by piece, each when the one before is done with, instead of having it
   * collected; `maxBytes` does not count then, and the time is that of the longest silence.
   */
  readonly save?: ((status: number) => ((piece: Uint8Array) => Promise<void>) | undefined) | undefined;
}

/** What an API answered. */
export interface ApiResponse {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case; what was sent several times is joined with commas, cookies are a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Unpacked; empty where it was saved. */
  readonly body: Uint8Array;
}

/** Sends one request to an API once; a redirect is a reply like any other, only a missing reply throws, a `TransportError`. */
export type CallApi = (request: ApiRequest, bounds: ApiLimits) => Promise<ApiResponse>;

/** A server's certificate as it shows it to everybody. */
export interface CertificateInfo {
  readonly issuer: string;
  /** Epoch milliseconds. */
  readonly endsAt: number;
  /** Why this machine does not trust it; `undefined` where it does. */
  readonly failure: TransportError | undefined;
  /** Host and port of the proxy that the connection went through. */
  readonly proxy: string | undefined;
}

/** Connects and looks at the certificate, whoever signed it; not even a client certificate is sent. */
export type InspectCertificate = (
  profile: string,
  url: URL,
  ca: string | undefined,
  bounds: Limits,
) => Promise<CertificateInfo>;

/** Files that a script names; relative paths start from its folder. They are the user's own, so a path may lead anywhere. */
export interface Files {
  read(path: string, folder: string): Promise<Uint8Array>;
  /** Finds a file that is to be sent. */
  open(path: string, folder: string): Promise<FileContent>;
  /** Replaces the file, or adds to it; folders that are missing are made. */
  write(path: string, folder: string, content: Uint8Array, append: boolean): Promise<void>;
  /** Opens a file for a content that comes in pieces: it is there after `commit`, and nothing is after `discard`. */
  create(path: string, folder: string): Promise<FileWriter>;
}

/** A file that is being written. */
export interface FileWriter {
  write(piece: Uint8Array): Promise<void>;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** Signs a client assertion (RFC 7523 §2.2). */
export type Sign = (spec: AssertionSpec, profile: string, bounds: Limits) => Promise<Secret>;

/** What a store keeps under a name. */
export interface Kept {
  /** A write succeeds exactly when this is still what the writer last saw: the fingerprint of the newest refresh token. */
  readonly head: string;
  /** JSON text; the store seals it. */
  readonly content: Secret;
}

/** Keeps tokens for later, for other processes, and for other machines. Nothing is written in clear. */
export interface TokenStore {
  /** Where that is, for a person. */
  readonly place: string;
  /** A digest, the same for everybody, whatever keys change: for names, which the store hides, and to recognise what must not be kept. */
  fingerprint(text: string | Secret): string;
  /** Epoch milliseconds, the same for everybody who shares the store: of this machine, or of the server that all machines share. */
  now(): number;
  /** What is kept now; waits for nobody. */
  read(name: string): Promise<Kept | undefined>;
  /** Everything that is kept. */
  list(): Promise<readonly { readonly name: string; readonly kept: Kept }[]>;
  /**
   * Alone in the world for this name: what is kept is read again, `change` decides, and writes before anybody else gets in. Fails with
   * `store_locked` when the turn does not come in time; the signal ends the waiting, never a change that has begun.
   */
  update<T>(name: string, change: (held: Held) => Promise<T>, wait: Wait<T>): Promise<T>;
  /** Waits for changes under way, then lets go of connections and locks. */
  close(): Promise<void>;
}

/** How long to wait for a turn, and what to be content with instead. */
export interface Wait<T> extends Limits {
  /**
   * Asked while others have their turn: what they wrote may do as well, and then no turn is needed. What it throws ends the waiting. A store
   * that cannot look while it waits need not ask.
   */
  readonly contentWith?: ((kept: Kept | undefined, queuedAt: number) => T | undefined) | undefined;
}

/** A name of the store while nobody else may change it. */
export interface Held {
  /** As it was found when the turn came. */
  readonly kept: Kept | undefined;
  /** When the caller began to wait, in the store's time. */
  readonly queuedAt: number;
  readAgain(): Promise<Kept | undefined>;
  /**
   * Durable once it resolves. `false`: somebody else's head stands there by now, and nothing was written. `reserve` takes the room for a later,
   * larger write of this holder beforehand, so that a full disk is noticed before a request is sent.
   */
  write(next: Kept, options?: { readonly reserve?: boolean }): Promise<boolean>;
  remove(): Promise<void>;
}

/** Time. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Waits; an abort ends it early with an error. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** A number from 0 up to 1. */
type Random = () => number;

/** A line for a person who asked to see more. It carries no secret. */
export type Log = (line: string) => void;

/** The outside world of the flows. */
export interface Ports {
  readonly send: Send;
  readonly sign: Sign;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Version of this package, for the User-Agent. */
  readonly version: string;
}

/** What the sign-in of a person takes of the outside world beside the ports. */
export interface LoginPorts {
  /** 256 bits that nobody can guess, base64url. */
  randomString(): string;
  /** SHA-256, base64url. */
  sha256(text: Secret): string;
  /** Waits for a browser to come back; only a query that `isAwaited` accepts ends the wait. */
  listen(address: RedirectTarget, isAwaited: (query: string) => boolean): Promise<RedirectListener>;
  /** Opens the person's browser; `undefined` when that worked, else why not. */
  openBrowser(address: string): Promise<string | undefined>;
  /** Where the person's browser finds a page: at its own address, or at an emulator's. */
  pageUrl(url: URL): string;
  /** A JSON document that anybody may read; `undefined` where there is none. */
  readDocument(url: URL, tls: TlsFiles, bounds: Limits): Promise<unknown>;
}

/** Where a browser comes back to: this machine, and this address alone. */
export interface RedirectTarget {
  /** `localhost`, `[::1]` or an address such as `127.0.0.1`. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly path: string;
}

/** A listener on loopback that takes one redirect. */
export interface RedirectListener {
  readonly port: number;
  /** The redirect; by the time it comes nobody listens any more. */
  readonly redirect: Promise<Redirect>;
  /** Ends the listening, after the page that was shown last has gone out. */
  close(): Promise<void>;
}

/** A browser that came back, and waits for a page. */
export interface Redirect {
  readonly query: string;
  show(page: 'signed-in' | 'refused' | 'failed'): void;
}
