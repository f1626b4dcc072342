import { type ConfigNode, type MapNode, type Member, toValue } from '../../config/node.ts';
import { hasReference } from '../../config/reference.ts';
import { closestMatch } from '../../config/suggestions.ts';
import type { Value } from '../../config/value.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { type Command, commandName, commandSignature, isRequiredInMap, type Parameter } from '../command.ts';
import { InvalidArgument, kinds } from '../parameter-kinds.ts';
import { literalValue, type ParseContext, showKey } from './parse-context.ts';

const MAX_PROBLEM = 200;

/** Parses the parameters of a command from a list, a map, a single scalar or null; returns them by name. */
export function parseParameters<At>(
  command: Command,
  { at, node: part }: Member<At>,
  context: ParseContext<At>,
): Record<string, Value> {
  const items = part.kind === 'map' ? [] : itemsOf(command, part);
  const given =
    part.kind === 'map'
      ? assignByName(command, part, at, context)
      : assignInOrder(command, items, items.length === 0 ? at : part.at, context);
  for (const [parameter, value] of given) checkValue(parameter, value, context);
  return Object.fromEntries([...given].map(([{ name }, value]) => [name, toValue(value)]));
}

type Given<At> = ReadonlyMap<Parameter, ConfigNode<At>>;

/** Returns the items of a parameter list. For a command whose only parameter is a list of names, the list is that parameter. */
function itemsOf<At>({ parameters }: Command, part: ConfigNode<At>): readonly ConfigNode<At>[] {
  if (part.kind === 'scalar') return part.value === null ? [] : [part];
  const isNameList = parameters.length === 1 && parameters[0]?.kind === 'names';
  return part.kind === 'list' && !(isNameList && part.items.length > 1) ? part.items : [part];
}

function assignInOrder<At>(command: Command, items: readonly ConfigNode<At>[], at: At, context: ParseContext<At>) {
  const { parameters } = command;
  const [required, max] = [parameters.filter(({ optional }) => !optional).length, parameters.length];
  if (items.length < required || items.length > parameters.length) {
    const range = required === max ? '' : `${required} to `;
    const expected = max === 0 ? 'no parameters' : `${range}${max} ${max === 1 ? 'parameter' : 'parameters'}`;
    const message = `${commandName(command)} expects ${expected}, got ${items.length}`;
    context.addIssue(items[max]?.at ?? at, message, countHint(command, items.length));
  }
  return new Map(items.slice(0, parameters.length).map((item, index) => [parameters[index] as Parameter, item]));
}

function countHint(command: Command, count: number): string {
  const { parameters } = command;
  if (parameters.length === 1 && count > 1 && parameters[0]?.kind === 'value')
    return `to pass a list as the only parameter, write - ${commandName(command)}: [[a, b]]`;
  return parameters.length === 0
    ? `write - ${commandName(command)}:`
    : `the signature is ${commandSignature(command)}${count < parameters.length ? '; write "" for an empty parameter' : ''}`;
}

function assignByName<At>(command: Command, { members }: MapNode<At>, at: At, context: ParseContext<At>): Given<At> {
  const { parameters } = command;
  const names = parameters.map((one) => one.name);
  const signature = commandSignature(command);
  const given = new Map<Parameter, ConfigNode<At>>();
  const suggested = new Set<string | undefined>();
  for (const { name, at: keyAt, node: part } of members) {
    const parameter = parameters.find((one) => one.name === name);
    if (parameter !== undefined) given.set(parameter, part);
    else {
      const near = closestMatch(name, names);
      suggested.add(near);
      const hint = near === undefined ? `the signature is ${signature}` : `did you mean ${near}?`;
      context.addIssue(keyAt, `unknown parameter ${showKey(name)} of ${commandName(command)}`, hint);
    }
  }
  // A misspelled parameter is not reported as missing.
  const missing = parameters.filter((one) => isRequiredInMap(one) && !given.has(one) && !suggested.has(one.name));
  if (missing.length > 0) {
    const missingNames = missing.map(({ name }) => name).join(', ');
    context.addIssue(at, `${commandName(command)}: missing parameter ${missingNames}`, `the signature is ${signature}`);
  }
  return given;
}

/** Checks a literal. A value with references is checked when the step runs. */
function checkValue<At>({ name, kind }: Parameter, part: ConfigNode<At>, context: ParseContext<At>): void {
  const literal = literalValue(part, context);
  // A list or map keeps its shape when its references are resolved, so the shape is checked now.
  if (literal === undefined && (part.kind === 'scalar' || kind === 'options')) return;
  const value = kinds[kind].read(literal === undefined ? sampleValue(part) : literal);
  if (value instanceof InvalidArgument) context.addIssue(part.at, `${name} must be ${value.expected}`);
  else if (kind === 'jsonpath') {
    const problem = context.checkPath?.(value as string);
    if (problem !== undefined)
      context.addIssue(part.at, `${name} is not a valid JSONPath: ${excerpt(problem, MAX_PROBLEM)}`);
  }
}

/** Returns the value of a node with a placeholder for each string that contains a reference. */
function sampleValue<At>(part: ConfigNode<At>): Value {
  if (part.kind === 'scalar') return typeof part.value === 'string' && hasReference(part.value) ? 'word' : part.value;
  if (part.kind === 'list') return part.items.map(sampleValue);
  return Object.fromEntries(part.members.map(({ name, node: inner }) => [name, sampleValue(inner)]));
}
