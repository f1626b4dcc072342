import type { ConfigNode, MapNode, Member } from '../../config/node.ts';
import { closestMatch } from '../../config/suggestions.ts';
import { RawScalar, toText } from '../../config/value.ts';
import { type Condition, ConditionSyntaxError, parseCondition } from '../condition.ts';
import type { Step } from '../script.ts';
import { parseParameters } from './parameters.ts';
import { type ParseContext, parseName, showKey, suggestHint } from './parse-context.ts';

const KEYS = ['name', 'if', 'continueOnFailure', 'always'];

/** Parses one step; returns `undefined` if it has no known command. */
export function parseStep<At>(node: ConfigNode<At>, context: ParseContext<At>): Step | undefined {
  if (node.kind !== 'map') {
    context.addIssue(node.at, 'a step must be a command with its parameters', stepHint(node, context));
    return undefined;
  }
  const find = (key: string): ConfigNode<At> | undefined => node.members.find(({ name }) => name === key)?.node;
  const member = findCommand(node, context);
  const command = member === undefined ? undefined : context.registry.find(member.name);
  const settings = {
    name: parseName(find('name'), context),
    condition: parseIf(find('if'), context),
    continueOnFailure: parseFlag('continueOnFailure', find('continueOnFailure'), context),
    always: parseFlag('always', find('always'), context),
    position: context.positionOf(node.at),
  };
  if (member === undefined || command === undefined) return undefined;
  return { command, parameters: parseParameters(command, member, context), ...settings };
}

/** Recognises common mistakes: a command without its colon, or without a space after the colon. */
function stepHint<At>(node: ConfigNode<At>, { registry }: ParseContext<At>): string {
  const text = node.kind === 'scalar' ? String(toText(node.value ?? '')) : '';
  const word = /^[A-Za-z][\w.]*/.exec(text)?.[0] ?? '';
  if (registry.find(word) === undefined) return 'write it as - group.command: [parameter, parameter]';
  return text.startsWith(`${word}:`) ? `write a space after ${word}:` : `write - ${word}: and its parameters`;
}

/** Returns the command of a step. A key with a dot counts as a command even if the command does not exist. */
function findCommand<At>({ members, at }: MapNode<At>, context: ParseContext<At>): Member<At> | undefined {
  const { registry } = context;
  const commands: Member<At>[] = [];
  let isMisspelt = false;
  for (const member of members) {
    const { name } = member;
    if (KEYS.includes(name)) continue;
    const isKnown = registry.find(name) !== undefined;
    if (isKnown || name.includes('.')) commands.push(member);
    if (isKnown) continue;
    const near = registry.nearest(name);
    const suggestion = near === undefined ? undefined : `did you mean ${near}?`;
    if (name.includes('.')) {
      const hint = suggestion ?? 'run oauth-profile commands to list all commands';
      context.addIssue(member.at, `unknown command ${showKey(name)}`, hint);
    } else {
      const hint = suggestHint(name, KEYS, suggestion ?? `the keys of a step are its command, ${KEYS.join(', ')}`);
      isMisspelt ||= closestMatch(name, KEYS) === undefined;
      context.addIssue(member.at, `unknown key ${showKey(name)}`, hint);
    }
  }
  const [command, second] = commands;
  if (second !== undefined) {
    context.addIssue(second.at, 'unexpected second command in one step', 'start a new step with -');
  }
  if (command === undefined && !isMisspelt) {
    context.addIssue(at, 'the step has no command', 'write it as - group.command: [parameter, parameter]');
  }
  return command;
}

function parseFlag<At>(key: string, node: ConfigNode<At> | undefined, context: ParseContext<At>): boolean {
  if (node === undefined) return false;
  const value = node.kind === 'scalar' ? node.value : undefined;
  const flag = value instanceof RawScalar ? value.value : value;
  if (typeof flag === 'boolean') return flag;
  context.addIssue(node.at, `${key} must be true or false`, 'write it without quotes; use if for a condition');
  return false;
}

function parseIf<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): Condition | undefined {
  if (node === undefined) return undefined;
  const text = node.kind === 'scalar' && node.value !== null ? toText(node.value) : undefined;
  if (typeof text !== 'string') {
    context.addIssue(node.at, 'if must be a condition', 'write a string such as if: ${me.status} = 200');
    return undefined;
  }
  try {
    return parseCondition(text);
  } catch (error) {
    if (!(error instanceof ConditionSyntaxError)) throw error;
    context.addIssue(context.within(node.at, error.offset), `if: ${error.message}`);
    return undefined;
  }
}
