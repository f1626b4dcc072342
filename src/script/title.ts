import { isCompound, type Value } from '../data/value.ts';
import { excerpt } from '../secret/printable.ts';
import { display } from './compare.ts';
import { nameOfCommand } from './registry.ts';
import type { Step } from './script.ts';

const MAX_PARAMETER = 60;

/** A step as it is written, in one line: `ws.get(https://…, , me)`. References stay references, so it shows no value that was looked up. */
export function titleOf({ command, parameters }: Step): string {
  const shown = command.parameters
    .filter(({ name }) => Object.hasOwn(parameters, name))
    .map(({ name }) => brief(parameters[name] ?? ''));
  return `${nameOfCommand(command)}(${shown.join(', ')})`;
}

function brief(value: Value): string {
  return excerpt(isCompound(value) ? JSON.stringify(value) : display(value), MAX_PARAMETER);
}
