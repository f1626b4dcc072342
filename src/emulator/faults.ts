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
} satisfies Record<string, Apply>;

/** Faults in the tokens themselves, for tests of APIs that validate them. The endpoints apply them. */
const tokenFaults = [
  'no-password',
  'wrong-audience',
  'wrong-issuer',
  'wrong-kid',
  'bad-signature',
  'expired-token',
  'expired-signing-key',
  'rotated-jwks',
  'revoked-token',
  'clock-skew',
] as const;

/** The only fault that is injected at the JWKS and not at the token endpoint. */
const SLOW_JWKS = 'slow-jwks';

/** One of {@link faultKinds}. */
export type FaultKind = keyof typeof faults | (typeof tokenFaults)[number] | typeof SLOW_JWKS;

/** Faults that the emulator can inject. */
export const faultKinds: readonly FaultKind[] = [
  ...(Object.keys(faults) as (keyof typeof faults)[]),
  ...tokenFaults,
  SLOW_JWKS,
];

/** A fault to inject. */
export interface Fault {
  readonly kind: FaultKind;
  /** The number of the request to the token endpoint (`slow-jwks`: to the JWKS), counted from 1. Default: every request. */
  readonly at?: number | undefined;
}

/** Chooses the fault of each request. */
export class FaultPlan {
  #faults: readonly Fault[] = [];
  #counts = { token: 0, keys: 0 };

  get faults(): readonly Fault[] {
    return this.#faults;
  }

  /** Replaces all faults and counts requests from 1 again. */
  set(faults: readonly Fault[]): void {
    this.#faults = faults;
    this.#counts = { token: 0, keys: 0 };
  }

  next(action: string): Fault | undefined {
    if (action !== 'token' && action !== 'keys') return undefined;
    const count = ++this.#counts[action];
    return this.#faults.find(
      ({ kind, at }) => (kind === SLOW_JWKS) === (action === 'keys') && (at === undefined || at === count),
    );
  }
}

/** Parses `429` or `reset-after:2`. */
export function parseFault(value: string): Fault | undefined {
  const [, name, at] = /^([a-z0-9-]+?)(?::([1-9]\d{0,8}))?$/.exec(value) ?? [];
  const kind = faultKinds.find((one) => one === name);
  return kind && { kind, at: at === undefined ? undefined : Number(at) };
}

/** Handles a request with a fault, if there is one. */
export async function applyFault(
  fault: Fault | undefined,
  ...[respond, rateLimited]: Parameters<Apply>
): Promise<Outcome> {
  const byKind: Readonly<Partial<Record<FaultKind, Apply>>> = faults;
  const apply = fault && byKind[fault.kind === SLOW_JWKS ? 'slow' : fault.kind];
  return apply?.(respond, rateLimited) ?? { response: await respond() };
}
