import { isCollection, isEmpty, mapCollection, type Value } from '../../config/value.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import { commandName } from '../command.ts';
import { displayValue } from '../compare.ts';
import { allSteps, type CommandStep, type Script, type Step } from '../script.ts';
import { isSecretMember } from './api-secrets.ts';

/** Maximum length of one parameter in the title of a step, in characters. */
const MAX_PARAMETER = 60;

type Redact = (text: string) => string;

/** Returns the titles of all steps of a script and of the scripts that it runs. They are computed before the run, so that no response can change them. */
export function createTitles(script: Script, redact: Redact): ReadonlyMap<Step, string> {
  const titleOf = (step: Step) => (step.name === undefined ? defaultTitle(step, redact) : redact(step.name));
  return new Map(Array.from(allSteps(script), (step) => [step, titleOf(step)]));
}

function defaultTitle(step: Step, redact: Redact): string {
  if ('command' in step) return stepTitle(step, redact);
  if ('run' in step) return `run ${excerpt(redact(step.run), MAX_PARAMETER)}`;
  return step.forEach === undefined ? 'group' : `each ${step.forEach.variable}`;
}

/**
 * Returns a step as it is written, in one line: `ws.get(https://…, , me)`. References are not resolved, so the title contains no value of a
 * variable. A secret that is written in the script itself is masked before the title is truncated.
 */
export function stepTitle({ command, parameters }: CommandStep, redact: Redact = (text) => text): string {
  const shown = command.parameters
    .filter(({ name }) => Object.hasOwn(parameters, name))
    .map(({ name, secret }) => {
      const isSecret = typeof secret === 'function' ? secret(parameters) : secret === true;
      return maskLiterals(parameters[name] ?? '', isSecret || isSensitiveName(name));
    })
    .map((value) => excerpt(redact(displayValue(value)), MAX_PARAMETER));
  return `${commandName(command)}(${shown.join(', ')})`;
}

function maskLiterals(value: Value, secret: boolean): Value {
  if (isCollection(value))
    return mapCollection(value, (part, name = '') => maskLiterals(part, secret || isSecretMember(name, part)));
  // A single reference without a default is shown: the default could be the secret.
  const isReference = typeof value === 'string' && /^\$\{[^{}]*\}$/.test(value) && !value.includes(':-');
  return secret && !isEmpty(value) && !isReference ? MASK : value;
}
