import { member } from '../../config/resolver.ts';
import type { Value } from '../../config/value.ts';
import type { StepContext } from '../step-context.ts';

/** What stands at a path, as in a reference: the longest defined name wins, and the rest of the path leads into its value. */
export function lookUp(path: readonly (string | number)[], context: StepContext): Value | undefined {
  for (let length = path.length; length > 0; length--) {
    const value = context.get(path.slice(0, length).join('.'));
    if (value !== undefined) return member(value, path.slice(length));
  }
  return undefined;
}
