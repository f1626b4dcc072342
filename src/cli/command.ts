/** A flag of a command; `value` names its argument, a flag without one is a switch. */
export interface Flag {
  readonly name: string;
  readonly value?: string;
  /** The value may be left out: `--emulate` or `--emulate=URL`. */
  readonly optional?: boolean;
  readonly repeatable?: boolean;
  readonly help: string;
}

/** All that help, completion and parsing know of a command; its code is elsewhere, and loaded when it runs. */
export interface Command {
  readonly name: string;
  /** Positional arguments, as help shows them. */
  readonly usage: string;
  readonly positionals: {
    readonly min: number;
    readonly max: number;
    readonly kind: 'profile' | 'file' | 'shell' | 'none';
  };
  readonly summary: string;
  readonly flags: readonly Flag[];
  readonly examples: readonly (readonly [command: string, meaning: string])[];
}

/** A command line, understood. */
export interface ParsedArgs {
  readonly positionals: readonly string[];
  /** Switches that were given. */
  readonly switches: ReadonlySet<string>;
  /** Values by flag; of a flag that is not repeatable there is one. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}
