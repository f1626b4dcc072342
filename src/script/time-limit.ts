import { type Context, createContext, Script } from 'node:vm';
import { InvalidArgument, kinds } from './parameter-kinds.ts';
import { StepFailure } from './step-context.ts';

/** Far more than a reasonable pattern or document needs. */
const LIMIT_MS = 5_000;
/** Strings up to this length are searched with a simple pattern in less time than a time limit needs to start, about 0.3 ms. */
const MAX_SIMPLE_LENGTH = 1_000;

const callWork = new Script('work()');
let context: Context | undefined;

/**
 * Runs synchronous work that a malicious pattern or document could prolong without end. It blocks the event loop, so neither a timer nor
 * Ctrl-C could stop it; the time limit of `node:vm` can.
 */
export function runWithTimeLimit<T>(what: string, work: () => T): T {
  context ??= createContext({});
  context['work'] = work;
  try {
    return callWork.runInContext(context, { timeout: LIMIT_MS }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new StepFailure(`${what} takes longer than ${LIMIT_MS / 1000} s`, {
      hint: 'simplify it: the usual cause is nested repetition, as in (a+)+',
    });
  } finally {
    context['work'] = undefined;
  }
}

/** Returns whether a pattern matches a string; throws a `StepFailure` if the pattern is invalid or takes too long. */
export function matchesPattern(text: string, pattern: string): boolean {
  const regex = kinds.regex.read(pattern);
  if (regex instanceof InvalidArgument) throw new StepFailure(`the operand of matches must be ${regex.expected}`);
  return testPattern(regex, text);
}

/** Returns whether a regular expression matches a string; throws a `StepFailure` if it takes too long. */
export function testPattern(regex: RegExp, text: string): boolean {
  // Without groups and alternatives, a pattern with one quantifier takes at most quadratic time.
  const isSimple = !/[(|]/.test(regex.source) && (regex.source.match(/[*+?{]/g)?.length ?? 0) <= 1;
  if (isSimple && text.length <= MAX_SIMPLE_LENGTH) return regex.test(text);
  return runWithTimeLimit('the regular expression', () => regex.test(text));
}
