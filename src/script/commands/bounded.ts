import { type Context, createContext, Script } from 'node:vm';
import { InvalidArgument, kinds } from '../parameter-kinds.ts';
import { StepFailure } from '../step-failure.ts';

/** Far more than honest work takes. */
const LIMIT_MS = 5_000;

const call = new Script('work()');
let context: Context | undefined;

/**
 * Does work that a hostile pattern or document could draw out without end. While it runs nothing else does, so no timer could stop it
 * and no Ctrl-C would be heard; the engine's own watchdog can.
 */
export function runWithTimeLimit<T>(what: string, work: () => T): T {
  context ??= createContext({});
  context['work'] = work;
  try {
    return call.runInContext(context, { timeout: LIMIT_MS }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new StepFailure(`${what} takes longer than ${LIMIT_MS / 1000} s`, {
      hint: 'make it simpler: repetitions inside of repetitions, as in (a+)+, are the usual cause',
    });
  } finally {
    context['work'] = undefined;
  }
}

/** Whether a pattern that only the running script knows finds something in a text. */
export function matchesPattern(text: string, pattern: string): boolean {
  const regex = kinds.regex.read(pattern);
  if (regex instanceof InvalidArgument) throw new StepFailure(`what stands behind matches must be ${regex.wanted}`);
  return runWithTimeLimit('the regular expression', () => regex.test(text));
}
