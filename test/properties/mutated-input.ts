import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { it } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';

/** Strings that parsers often handle wrongly: limits of numbers, names of prototypes, unpaired surrogates. */
const oddStrings = [
  ...['', '0', '-1', '1e999', '-0', '0x10', '9007199254740993', '9'.repeat(400), '1.5', 'NaN', 'Infinity', '007'],
  ...['null', 'true', '__proto__', 'constructor', 'toString', 'length', 'hasOwnProperty'],
  ...['\0', '\ufeff', '\u2028', '\ud800', '\udc00', '\u202e', '😀', 'ß', 'İ', '%', '%00', '%zz', '%C3', '\\u0000'],
  ...['\r\n', '\n', '\r', '\t', ' ', '\u00a0', '\u001b[31m', '"', "'", '`', '\\', '${', '$${', '}', '{', '[', ']'],
  ...[':', '=', '&', '?', '#', '/', '//', '@', ',', ';', '..', '-', '--', '<', '>', '<<', '*', '!', '|'],
];

/** A property that holds for every input. */
interface InputProperty {
  /** Valid inputs, which are mutated. */
  readonly seeds: readonly string[];
  /** Strings with a meaning to the parser, which random characters would rarely form. */
  readonly tokens: readonly string[];
  /** Longer inputs are truncated. Default: 4,096 characters. */
  readonly maxLength?: number;
  /** Inputs per run of the test. Default: 100. The variable FC_RUNS overrides it. */
  readonly runs?: number;
  /** Throws if the property does not hold. */
  check(input: string): void | Promise<void>;
}

/**
 * Declares a test that checks a property for valid inputs with random edits. The inputs are the same in each run unless FC_RUNS is set
 * (`FC_RUNS=100000 npm run fuzz`); fast-check then prints the seed of a failure.
 */
export function itHolds(title: string, { seeds, tokens, maxLength, runs = 100, check }: InputProperty): void {
  const { FC_RUNS: longRun } = process.env;
  const options = longRun === undefined ? { numRuns: runs, seed: 20_270_101 } : { numRuns: Number(longRun) };
  const property = fc.asyncProperty(mutated(seeds, tokens, maxLength), async (input) => check(input));
  it(title, () => fc.assert(property, options), longRun === undefined ? undefined : 0);
}

function mutated(seeds: readonly string[], tokens: readonly string[], maxLength = 4_096): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...tokens) },
    { weight: 3, arbitrary: fc.constantFrom(...oddStrings) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...seeds).chain((seed) => fc.nat(seed.length).map((at) => seed.slice(at))),
    },
  );
  const edit = fc.record({
    // Relative to the length: an absolute position would mostly be the end of a short input.
    position: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.oneof(fc.constant(0), fc.nat(32)),
    insert: fc.oneof(fc.constant(''), piece),
    repeat: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat(100) }),
  });
  return fc.tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 6 })).map(([seed, edits]) => {
    const input = edits.reduce((text, { position, remove, insert, repeat }) => {
      const at = Math.floor(position * text.length);
      return text.slice(0, at) + insert.repeat(repeat) + text.slice(at + remove);
    }, seed);
    return input.slice(0, maxLength);
  });
}

/** A returned value, or an error that the caller allows. */
export type Outcome<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: Error };

type ErrorClass = abstract new (...args: never[]) => Error;

/** Calls a function twice. Both calls must have the same outcome, and an error must be of the allowed class. */
export function callTwice<T>(call: () => T, allowed: ErrorClass = OAuthProfileError): Outcome<T> {
  const first = callOnce(call, allowed);
  assert.equal(serialize(callOnce(call, allowed)), serialize(first), 'the second call has another outcome');
  return first;
}

function callOnce<T>(call: () => T, allowed: ErrorClass): Outcome<T> {
  try {
    return { value: call() };
  } catch (error) {
    if (!(error instanceof allowed)) throw error;
    assert.notEqual(error.message, '', 'the error has no message');
    return { error };
  }
}

/** Serializes a value with its secrets in clear: to compare, never to print. */
function serialize(value: unknown): string {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, part: unknown) {
    const original = this[key];
    if (original instanceof Secret) return { secret: original.reveal() };
    if (original instanceof Error) return { ...original, message: original.message };
    if (original instanceof Map || original instanceof Set) return [...original];
    return part;
  });
  return json ?? String(value);
}

/** Returns every form in which a program could print a value by accident. */
export function printedForms(value: unknown): string {
  const json = JSON.stringify(value) ?? '';
  // A stack repeats the message and is slow to create.
  if (value instanceof Error) return `${value.message}\n${json}\n${inspect({ ...value }, { depth: 6 })}`;
  return `${value}\n${json}\n${inspect(value, { depth: 6 })}`;
}

/** Strings with a meaning in YAML, for mutated inputs. */
export const yamlTokens = [
  ...[': ', '- ', '? ', '| ', '>-', '&a ', '*a', '<<: *a', '!!str ', '!x ', '---\n', '...\n', '%YAML 1.1\n', '{', '}'],
  ...['[', ']', ', ', '#', '"', "'", '\n  ', '\n- ', '\n', '~', '007', '1_000', '.inf', '0o17', '2001-01-01', 'yes'],
];
