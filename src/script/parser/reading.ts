import type { Position } from '../../config/node.ts';
import type { Source } from '../../config/variables.ts';
import type { Registry } from '../registry.ts';

/** Ten thousand steps have fewer values; what unfolds to more is an alias bomb. */
export const MAX_VALUES = 300_000;

/** Says what is wrong with a JSON path, `undefined` if nothing is. */
export type CheckPath = (path: string) => string | undefined;

/** What reading a script needs to know, and whom it tells of issues: none of them ends it. */
export interface Reading<At> {
  readonly source: Source;
  readonly registry: Registry;
  readonly checkPath: CheckPath | undefined;
  fault(at: At, message: string, hint?: string): void;
  /** The place of a character inside of a scalar's text. */
  within(at: At, index: number): At;
  positionOf(at: At): Position | undefined;
}
