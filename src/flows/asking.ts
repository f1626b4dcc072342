import { ATTEMPT_MS } from '../oauth/retry-policy.ts';
import { askAlone } from './ask-alone.ts';
import { refreshes } from './find-family.ts';
import { refreshFamily } from './refresh-token.ts';
import type { Obtained, Task } from './wish.ts';

export { acquireToken } from './request-token.ts';

/** So little time in the queue is not worth taking off. */
const SHORT_WAIT_MS = 500;

/** Asks for a token whose turn has come, in the time that waiting for it has left. */
export function askInTurn(task: Task, waitedMs: number, abandoned: AbortSignal): Promise<Obtained> {
  const { timeoutMs } = task.profile.options;
  const leftMs = waitedMs < SHORT_WAIT_MS ? timeoutMs : timeoutMs - waitedMs;
  if (!refreshes(task.profile)) return askAlone(within(task, leftMs), abandoned);
  // A refresh that is sent at all gets the time of an attempt, though its caller may be gone by then.
  return refreshFamily(within(task, Math.max(leftMs, Math.min(ATTEMPT_MS, timeoutMs))));
}

function within({ profile, ...task }: Task, timeoutMs: number): Task {
  return { ...task, profile: { ...profile, options: { ...profile.options, timeoutMs } } };
}
