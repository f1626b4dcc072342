import { expect } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';

/** Returns the OAuthProfileError that `run` throws. */
export function failureOf(run: () => unknown): OAuthProfileError {
  try {
    run();
  } catch (error) {
    if (error instanceof OAuthProfileError) return error;
    throw error;
  }
  throw new TypeError('nothing failed');
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
