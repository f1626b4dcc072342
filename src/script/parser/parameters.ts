import { type ConfigNode, type MapNode, type Member, toValue } from '../../config/node.ts';
import { hasReference } from '../../config/reference.ts';
import { closestMatch } from '../../config/suggestions.ts';
import type { Value } from '../../config/value.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import type { Command, Parameter } from '../command.ts';
import { InvalidArgument, kinds } from '../parameter-kinds.ts';
import { nameOfCommand, signatureOf } from '../registry.ts';
import { literalOf } from './literal-of.ts';
import type { Reading } from './reading.ts';

const MAX_KEY = 60;
const MAX_PROBLEM = 200;

/** A command's parameters by name, from a list, a map, a single scalar, or nothing. */
export function readParameters<At>(
  command: Command,
  { at, node: part }: Member<At>,
  reading: Reading<At>,
): Record<string, Value> {
  const given = new Map<Parameter, ConfigNode<At>>();
  if (part.kind === 'map') takeByName(command, part, at, given, reading);
  else {
    const items = itemsOf(command, part);
    takeInOrder(command, items, items.length === 0 ? at : part.at, given, reading);
  }
  const parameters: [string, Value][] = [];
  for (const [parameter, value] of given) {
    checkValue(parameter, value, reading);
    parameters.push([parameter.name, toValue(value)]);
  }
  return Object.fromEntries(parameters);
}

/** The parameters of a list; where names are all that a command takes, several of them are one parameter. */
function itemsOf<At>({ parameters }: Command, part: ConfigNode<At>): readonly ConfigNode<At>[] {
  if (part.kind === 'scalar') return part.value === null ? [] : [part];
  const takesNames = parameters.length === 1 && parameters[0]?.kind === 'names';
  return part.kind === 'list' && !(takesNames && part.items.length > 1) ? part.items : [part];
}

function takeInOrder<At>(
  command: Command,
  items: readonly ConfigNode<At>[],
  at: At,
  given: Map<Parameter, ConfigNode<At>>,
  reading: Reading<At>,
): void {
  const { parameters } = command;
  const least = parameters.filter(({ optional }) => !optional).length;
  if (items.length < least || items.length > parameters.length) {
    const are = items.length === 1 ? '1 is given' : `${items.length} are given`;
    reading.fault(
      items[parameters.length]?.at ?? at,
      `${nameOfCommand(command)} takes ${howMany(least, parameters.length)}, ${are}`,
      adviseOnCount(command, items.length),
    );
  }
  for (const [index, parameter] of parameters.entries()) {
    const item = items[index];
    if (item !== undefined) given.set(parameter, item);
  }
}

function howMany(least: number, most: number): string {
  if (most === 0) return 'no parameters';
  return `${least === most ? '' : `${least} to `}${most} ${most === 1 ? 'parameter' : 'parameters'}`;
}

function adviseOnCount(command: Command, count: number): string {
  const { parameters } = command;
  if (parameters.length === 1 && count > 1 && parameters[0]?.kind === 'value') {
    return `a list as the one parameter is written in a list: - ${nameOfCommand(command)}: [[a, b]]`;
  }
  return parameters.length === 0
    ? `write - ${nameOfCommand(command)}:`
    : `its parameters are ${signatureOf(command)}${count < parameters.length ? '; what is not wanted is ""' : ''}`;
}

function takeByName<At>(
  command: Command,
  { members }: MapNode<At>,
  at: At,
  given: Map<Parameter, ConfigNode<At>>,
  reading: Reading<At>,
): void {
  const { parameters } = command;
  const signature = signatureOf(command);
  const meant = new Set<string | undefined>();
  for (const { name, at: keyAt, node: part } of members) {
    const parameter = parameters.find((one) => one.name === name);
    if (parameter !== undefined) given.set(parameter, part);
    else {
      const names = parameters.map((one) => one.name);
      const near = closestMatch(name, names);
      meant.add(near);
      const hint = near === undefined ? `its parameters are ${signature}` : `did you mean ${near}?`;
      reading.fault(keyAt, `${nameOfCommand(command)} has no parameter ${excerpt(name, MAX_KEY)}`, hint);
    }
  }
  // What was misspelt is not missing.
  const missing = parameters.filter((one) => !one.optional && !given.has(one) && !meant.has(one.name));
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    reading.fault(at, `${nameOfCommand(command)} lacks ${names}`, `its parameters are ${signature}`);
  }
}

/** A literal is checked now; what a reference decides is checked when the step runs. */
function checkValue<At>({ name, kind }: Parameter, part: ConfigNode<At>, reading: Reading<At>): void {
  const literal = literalOf(part, reading);
  // What has parts keeps them, whatever its references bring.
  if (literal === undefined && part.kind === 'scalar') return;
  const read = kinds[kind].read(literal === undefined ? sampleOf(part) : literal);
  if (read instanceof InvalidArgument) reading.fault(part.at, `${name} must be ${read.wanted}`);
  else if (kind === 'jsonpath') {
    const problem = reading.checkPath?.(read as string);
    if (problem !== undefined) reading.fault(part.at, `${name} is no JSON path: ${excerpt(problem, MAX_PROBLEM)}`);
  }
}

/** What is written, with a word in the place of each text that a reference decides. */
function sampleOf<At>(part: ConfigNode<At>): Value {
  if (part.kind === 'scalar') return typeof part.value === 'string' && hasReference(part.value) ? 'word' : part.value;
  if (part.kind === 'list') return part.items.map(sampleOf);
  return Object.fromEntries(part.members.map(({ name, node: inner }) => [name, sampleOf(inner)]));
}
