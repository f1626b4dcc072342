import type { Secret } from './secret/secret.ts';
import type { AssertionSpec } from './token/build-request.ts';
import type { Reply } from './token/reply.ts';

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

/** Where an emulator listens, and the certificate to trust there. */
export interface EmulatorAddress {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
}

/** Bounds of one attempt. */
export interface Bounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request once and gives back whatever was answered; only a missing answer throws, a `TransportError`. */
export type Send = (request: WireRequest, bounds: Bounds) => Promise<Reply>;

/** Signs a client assertion (RFC 7523 §2.2). */
export type Sign = (spec: AssertionSpec, profile: string, bounds: Bounds) => Promise<Secret>;

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
