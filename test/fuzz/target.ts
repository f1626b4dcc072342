import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';

/** A parser, texts to begin with, and what must hold for any text at all. */
export interface Target {
  readonly name: string;
  /** Inputs as they are meant to be; mutation starts from them. */
  readonly seeds: readonly string[];
  /** Pieces with a meaning to this parser, which chance alone would hardly find. */
  readonly tokens: readonly string[];
  /** Longer inputs are cut. */
  readonly maxLength?: number;
  /** Runs in the tests; fewer where one is dear. */
  readonly runs?: number;
  /** Whether time is spent outside of JavaScript, so that counting its steps says nothing. */
  readonly uncounted?: true;
  /** Throws if a property is broken. */
  check(input: string): void | Promise<void>;
}

/** What came of an act: a value, or an error that is allowed. */
export type Outcome<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: Error };

type ErrorClass = abstract new (...args: never[]) => Error;

/** Does it twice; both times must come to the same, and a failure must be one of those that are documented. */
export function attempt<T>(act: () => T, allowed: ErrorClass = OAuthProfileError): Outcome<T> {
  const first = once(act, allowed);
  assert.equal(shown(once(act, allowed)), shown(first), 'the second answer is another than the first');
  return first;
}

function once<T>(act: () => T, allowed: ErrorClass): Outcome<T> {
  try {
    return { value: act() };
  } catch (error) {
    if (!(error instanceof allowed)) throw error;
    assert.notEqual(error.message, '', 'an error says nothing');
    return { error };
  }
}

/** A value with all its parts, secrets in clear: to compare, never to print. */
function shown(value: unknown): string {
  const seen = JSON.stringify(value, function (this: Record<string, unknown>, key, part: unknown) {
    const original = this[key];
    if (original instanceof Secret) return { secret: original.reveal() };
    if (original instanceof Error) return { ...original, message: original.message };
    if (original instanceof Map || original instanceof Set) return [...original];
    return part;
  });
  return seen ?? String(value);
}

/** Everything of a value that a program could print by accident. */
export function printed(value: unknown): string {
  const json = JSON.stringify(value) ?? '';
  // A stack is the message again and places in the code, and dear to make.
  if (value instanceof Error) return `${value.message}\n${json}\n${inspect({ ...value }, { depth: 6 })}`;
  return `${value}\n${json}\n${inspect(value, { depth: 6 })}`;
}
