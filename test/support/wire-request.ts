import { expect } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';
import { createConnector } from '../../src/http/connector.ts';
import { createSend } from '../../src/http/send.ts';
import type { EmulatorEndpoint, Environment, Limits, Send, TlsFiles, WireRequest } from '../../src/ports.ts';

/** The real transport of token requests, with these proxy variables. */
export function sendWith(env: Environment = {}, emulator?: EmulatorEndpoint): Send {
  return createSend(createConnector(env, emulator));
}

/** A token request, with changes. */
export function post(url: string, changes: Partial<WireRequest> = {}): WireRequest {
  return {
    profile: 'graph',
    url: new URL(url),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: 'grant_type=client_credentials',
    reuseConnection: false,
    tls: noTls,
    ...changes,
  };
}

export const noTls: TlsFiles = { ca: undefined, cert: undefined, certKey: undefined };

/** Limits that a local request does not reach. */
export function bounds(signal?: AbortSignal, timeoutMs = 10_000): Limits {
  return { timeoutMs, signal };
}

/** Returns the error of a rejected promise; it must be an `OAuthProfileError`. */
export async function errorOf(promise: Promise<unknown>): Promise<OAuthProfileError> {
  const error = await promise.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof OAuthProfileError)) throw error;
  return error;
}
