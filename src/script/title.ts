import { isCollection, isEmpty, mapCollection, type Value } from '../config/value.ts';
import { excerpt } from '../redaction/sanitize.ts';
import { MASK } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { display } from './compare.ts';
import { nameOfCommand } from './registry.ts';
import type { Step } from './script.ts';

const MAX_PARAMETER = 60;

/**
 * A step as it is written, in one line: `ws.get(https://…, , me)`. References stay references, so it shows no value that was looked up; what an
 * author wrote out is masked by `redact` before it is cut.
 */
export function titleOf({ command, parameters }: Step, redact = (text: string): string => text): string {
  const shown = command.parameters
    .filter(({ name }) => Object.hasOwn(parameters, name))
    .map(({ name, secret }) => display(masked(parameters[name] ?? '', secret === true || isSensitiveName(name))))
    .map((text) => excerpt(redact(text), MAX_PARAMETER));
  return `${nameOfCommand(command)}(${shown.join(', ')})`;
}

/** Somebody may have written a secret into the script itself. */
function masked(value: Value, secret: boolean): Value {
  if (isCollection(value))
    return mapCollection(value, (part, name) => masked(part, secret || isSensitiveName(name ?? '')));
  return secret && !isEmpty(value) && !isReference(value) ? MASK : value;
}

/** One reference and nothing else; a default would be shown with it. */
function isReference(value: Value): boolean {
  return typeof value === 'string' && /^\$\{[^{}]*\}$/.test(value) && !value.includes(':-');
}
