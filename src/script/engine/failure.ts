import { OAuthProfileError } from '../../errors.ts';
import { attempt } from '../attempt.ts';
import { displayText, displayValue } from '../compare.ts';
import type { Failure } from '../result.ts';
import { type FailureDetails, StepFailure } from '../step-context.ts';

/** Maximum length of a message or value in a result, in characters. */
const MAX_SHOWN = 4_000;

/** How strings of a result are masked. */
export interface Masking {
  /** Masks every secret known so far. */
  redact(text: string): string;
  /** Masks the secrets of profiles and tokens only: what the author of the script has written must not change because of an API. */
  redactKnown(text: string): string;
}

/** Describes an error that a step has thrown. */
export function toFailure(error: unknown, { redact, redactKnown }: Masking): Failure {
  const shown = (text: string): string => displayText(text, MAX_SHOWN, redact);
  const isKnown = error instanceof StepFailure || error instanceof OAuthProfileError;
  const { hint, expected, actual }: FailureDetails =
    error instanceof StepFailure ? error.details : error instanceof OAuthProfileError ? { hint: error.hint } : {};
  return {
    code: error instanceof OAuthProfileError ? error.code : 'step_failed',
    message: shown(isKnown ? error.message : describeThrown(error)),
    ...(hint !== undefined && { hint: shown(hint) }),
    ...(expected !== undefined && { expected: displayText(displayValue(expected), MAX_SHOWN, redactKnown) }),
    ...(actual !== undefined && { actual: shown(displayValue(actual)) }),
  };
}

/** A command can throw any value, even one that cannot be converted to a string. */
function describeThrown(error: unknown): string {
  const describe = () => (error instanceof Error ? `${error.name}: ${error.message}` : `Error: ${String(error)}`);
  return attempt(describe) ?? 'Error: unknown error';
}
