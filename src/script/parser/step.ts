import type { ConfigNode, MapNode, Member } from '../../config/node.ts';
import { closestMatch } from '../../config/suggestions.ts';
import { RawScalar, toText } from '../../config/value.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { type Condition, ConditionSyntaxError, parseCondition } from '../condition.ts';
import type { Step } from '../script.ts';
import { readParameters } from './parameters.ts';
import type { Reading } from './reading.ts';

const KEYS = ['name', 'if', 'continueOnFailure', 'always'];
const MAX_KEY = 60;

/** One step of a list; `undefined` where it has no command that is known. */
export function readStep<At>(part: ConfigNode<At>, reading: Reading<At>): Step | undefined {
  if (part.kind !== 'map') {
    reading.fault(part.at, 'a step is a command with its parameters', adviseOn(part, reading));
    return undefined;
  }
  const find = (key: string): ConfigNode<At> | undefined => part.members.find(({ name }) => name === key)?.node;
  const member = findCommand(part, reading);
  const command = member === undefined ? undefined : reading.registry.find(member.name);
  const settings = {
    name: readName(find('name'), reading),
    condition: readCondition(find('if'), reading),
    continueOnFailure: readFlag('continueOnFailure', find('continueOnFailure'), reading),
    always: readFlag('always', find('always'), reading),
    position: reading.positionOf(part.at),
  };
  if (member === undefined || command === undefined) return undefined;
  return { command, parameters: readParameters(command, member, reading), ...settings };
}

/** `- ws.get` without its colon, or with nothing behind the colon, is what people write by mistake. */
function adviseOn<At>(part: ConfigNode<At>, { registry }: Reading<At>): string {
  const text = part.kind === 'scalar' ? String(toText(part.value ?? '')) : '';
  const word = /^[A-Za-z][\w.]*/.exec(text)?.[0] ?? '';
  if (registry.find(word) === undefined) return 'write it as - group.command: [parameter, parameter]';
  return text.startsWith(`${word}:`) ? `write a blank behind ${word}:` : `write - ${word}: and its parameters`;
}

/** The one command of a step. A key with a dot is meant to be one, whether it exists or not. */
function findCommand<At>({ members, at }: MapNode<At>, reading: Reading<At>): Member<At> | undefined {
  const { registry } = reading;
  const commands: Member<At>[] = [];
  let meant = false;
  for (const member of members) {
    const { name } = member;
    if (KEYS.includes(name)) continue;
    if (registry.find(name) !== undefined) {
      commands.push(member);
      continue;
    }
    const shown = excerpt(name, MAX_KEY);
    const near = registry.nearest(name);
    if (name.includes('.')) {
      commands.push(member);
      const hint = near === undefined ? 'oauth-profile commands lists them all' : `did you mean ${near}?`;
      reading.fault(member.at, `there is no command ${shown}`, hint);
    } else {
      const nearKey = closestMatch(name, KEYS);
      meant ||= nearKey === undefined;
      const suggestion = nearKey ?? near;
      const hint =
        suggestion === undefined ? `a step has a command, ${KEYS.join(', ')}` : `did you mean ${suggestion}?`;
      reading.fault(member.at, `a step has no key ${shown}`, hint);
    }
  }
  const [command, second] = commands;
  if (second !== undefined) {
    reading.fault(second.at, 'a step has one command, this is a second one', 'begin a step of its own with -');
  }
  if (command === undefined && !meant) {
    reading.fault(at, 'the step has no command', 'write it as - group.command: [parameter, parameter]');
  }
  return command;
}

function readName<At>(part: ConfigNode<At> | undefined, reading: Reading<At>): string | undefined {
  if (part === undefined) return undefined;
  const text = part.kind === 'scalar' ? toText(part.value) : '';
  if (typeof text === 'string' && text !== '') return text;
  reading.fault(part.at, 'name must be text');
  return undefined;
}

function readFlag<At>(key: string, part: ConfigNode<At> | undefined, reading: Reading<At>): boolean {
  if (part === undefined) return false;
  const value = part.kind === 'scalar' ? part.value : undefined;
  const flag = value instanceof RawScalar ? value.value : value;
  if (typeof flag === 'boolean') return flag;
  reading.fault(part.at, `${key} must be true or false`, 'write it without quotes; for a condition there is if');
  return false;
}

function readCondition<At>(part: ConfigNode<At> | undefined, reading: Reading<At>): Condition | undefined {
  if (part === undefined) return undefined;
  const text = part.kind === 'scalar' && part.value !== null ? toText(part.value) : undefined;
  if (typeof text !== 'string') {
    reading.fault(part.at, 'if must be a condition', 'write it as text: if: ${me.status} = 200');
    return undefined;
  }
  try {
    return parseCondition(text);
  } catch (error) {
    if (!(error instanceof ConditionSyntaxError)) throw error;
    reading.fault(reading.within(part.at, error.offset), `if: ${error.message}`);
    return undefined;
  }
}
