import { type EmulatorResponse, json, text } from './messages.ts';
import type { Outcome } from './server.ts';

type Apply = (respond: () => Promise<EmulatorResponse>, rateLimited: () => EmulatorResponse) => Promise<Outcome>;

const SLOW_MS = 3_000;
const page = '<!doctype html><title>Maintenance</title><p>Please try again later.</p>';

/** `respond` processes the request; faults that do not call it fail before the request has an effect. */
const faults = {
  slow: async (respond) => ({ response: await respond(), delayMs: SLOW_MS }),
  hang: async () => 'hang',
  'reset-before': async () => 'reset',
  'reset-after': async (respond) => {
    await respond();
    return 'reset';
  },
  '429': async (_, rateLimited) => ({ response: rateLimited() }),
  '500': async () => ({ response: text(500, 'Internal Server Error') }),
  html: async () => ({ response: { status: 200, headers: { 'Content-Type': 'text/html' }, body: page } }),
  truncate: async (respond) => ({ response: await respond(), isTruncated: true }),
  empty: async () => ({ response: { status: 200, body: '' } }),
  huge: async () => ({ response: json(200, { access_token: 'x'.repeat(2 ** 21) }) }),
  'wrong-type': async (respond) => ({ response: { ...(await respond()), headers: { 'Content-Type': 'text/html' } } }),
  // The token endpoint reads this one itself.
  'no-password': async (respond) => ({ response: await respond() }),
} satisfies Record<string, Apply>;

/** One of {@link faultKinds}. */
export type FaultKind = keyof typeof faults;

/** Faults that the emulator can inject. */
export const faultKinds = Object.keys(faults) as readonly FaultKind[];

/** A fault to inject at the token endpoint. */
export interface Fault {
  readonly kind: FaultKind;
  /** The number of the request, counted from 1. Default: every request. */
  readonly at?: number | undefined;
}

/** Parses `429` or `reset-after:2`. */
export function parseFault(value: string): Fault | undefined {
  const [, name, at] = /^([a-z0-9-]+?)(?::([1-9]\d{0,8}))?$/.exec(value) ?? [];
  const kind = faultKinds.find((one) => one === name);
  return kind && { kind, at: at === undefined ? undefined : Number(at) };
}

/** Handles a request with a fault, if there is one. */
export async function applyFault(fault: Fault | undefined, ...[respond, rateLimited]: Parameters<Apply>) {
  const apply: Apply | undefined = fault && faults[fault.kind];
  return apply?.(respond, rateLimited) ?? { response: await respond() };
}
