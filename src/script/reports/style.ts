import type { Counts, StepState } from '../result.ts';

/** The colours that the terminal's reports use. */
export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

const marks = { passed: '✓', failed: '✗', skipped: '-' } as const;

/** A text behind the mark of its state, both in its colour. */
export function marked({ red, green, dim }: Style, state: StepState, text: string): string {
  const paint = { passed: green, failed: red, skipped: dim }[state];
  return state === 'failed' || text === state ? paint(`${marks[state]} ${text}`) : `${paint(marks[state])} ${text}`;
}

/** `5 passed, 1 failed, 2 skipped`; what there is none of is left out. */
export function countsInWords({ red, yellow }: Style, { passed, failed, skipped }: Counts): string {
  return [
    ...(passed > 0 || failed + skipped === 0 ? [`${passed} passed`] : []),
    ...(failed > 0 ? [red(`${failed} failed`)] : []),
    ...(skipped > 0 ? [yellow(`${skipped} skipped`)] : []),
  ].join(', ');
}
