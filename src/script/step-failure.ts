import type { Value } from '../config/value.ts';

/** A step that did not find what it wanted; not an error of the program, but what a script is written to find out. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
  readonly expected: Value | undefined;
  readonly actual: Value | undefined;
  readonly hint: string | undefined;
  /** The script ends here, whatever the step says of going on. */
  readonly endsScript: boolean;

  constructor(
    message: string,
    details: {
      expected?: Value | undefined;
      actual?: Value | undefined;
      hint?: string | undefined;
      endsScript?: boolean;
    } = {},
  ) {
    super(message);
    this.expected = details.expected;
    this.actual = details.actual;
    this.hint = details.hint;
    this.endsScript = details.endsScript ?? false;
  }
}
