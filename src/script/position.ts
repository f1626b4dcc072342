/** Where something stands in a script's file; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}
