import { closestMatch } from '../config/suggestions.ts';
import type { Command } from './command.ts';

/** The commands that a script can use. */
export class Registry {
  readonly #byName = new Map<string, Command>();

  constructor(commands: Iterable<Command>) {
    for (const command of commands) {
      const name = nameOfCommand(command);
      if (this.#byName.has(name)) throw new TypeError(`the command ${name} is defined twice`);
      this.#byName.set(name, command);
    }
  }

  find(name: string): Command | undefined {
    return this.#byName.get(name);
  }

  /** The command that a misspelt name meant; a name without its group finds the group. */
  nearest(name: string): string | undefined {
    const names = [...this.#byName.keys()];
    return names.find((known) => known.split('.')[1] === name) ?? closestMatch(name, names);
  }

  [Symbol.iterator](): IterableIterator<Command> {
    return this.#byName.values();
  }
}

/** `ws.get`. */
export function nameOfCommand({ group, name }: Command): string {
  return `${group}.${name}`;
}

/** `ws.get(url, queryString, var, [options])`. */
export function signatureOf(command: Command): string {
  const parameters = command.parameters.map(({ name, optional }) => (optional ? `[${name}]` : name));
  return `${nameOfCommand(command)}(${parameters.join(', ')})`;
}
