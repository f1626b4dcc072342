/** Ways to misbehave on request. */
export const faultKinds = [
  'slow',
  'hang',
  'reset-before',
  'reset-after',
  '429',
  '500',
  'html',
  'truncate',
  'empty',
  'huge',
  'wrong-type',
  'no-password',
] as const;

/** One of {@link faultKinds}. */
export type FaultKind = (typeof faultKinds)[number];

/** A fault of the token endpoint: of its n-th request, counted from 1, or of every one. */
export interface Fault {
  readonly kind: FaultKind;
  readonly at?: number | undefined;
}

/** Reads `429` or `reset-after:2`. */
export function parseFault(text: string): Fault | undefined {
  const [, name, at] = /^([a-z0-9-]+?)(?::([1-9]\d{0,8}))?$/.exec(text) ?? [];
  const kind = faultKinds.find((one) => one === name);
  return kind && { kind, at: at === undefined ? undefined : Number(at) };
}
