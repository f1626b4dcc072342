/** Faults that the emulator can inject. */
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
