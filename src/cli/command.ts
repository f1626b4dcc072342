/** A flag of a command. `value` names its argument; a flag without one is a switch. */
export interface Flag {
  readonly name: string;
  readonly value?: string;
  /** The value may be omitted: `--emulate` or `--emulate=URL`. */
  readonly optional?: boolean;
  readonly repeatable?: boolean;
  readonly help: string;
}

/** Definition of a command for parsing, help and completion. Its code is loaded when it runs. */
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
  readonly examples: readonly (readonly [command: string, description: string])[];
}

/** The arguments of a command. */
export interface ParsedArgs {
  readonly positionals: readonly string[];
  readonly switches: ReadonlySet<string>;
  /** Values by flag. Only a repeatable flag has more than one. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Whether a switch was given. */
export function hasFlag({ switches }: ParsedArgs, name: string): boolean {
  return switches.has(name);
}

/** The value of a flag that is not repeatable. */
export function flagValue({ values }: ParsedArgs, name: string): string | undefined {
  return values.get(name)?.[0];
}
