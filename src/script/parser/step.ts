import { type ConfigNode, type MapNode, type Member, toValue } from '../../config/node.ts';
import { hasReference } from '../../config/reference.ts';
import { closestMatch } from '../../config/suggestions.ts';
import { toText, type Value } from '../../config/value.ts';
import { MAX_TIMES, retryKeys, stepKeys } from '../keys.ts';
import { isPlainName } from '../parameter-kinds.ts';
import type { ForEach, Retry, Script, Step } from '../script.ts';
import { parseParameters } from './parameters.ts';
import { literalValue, type ParseContext, showKey, suggestHint } from './parse-context.ts';
import { duration, factor, flag, integer, names, parseConditionNode, parseKey, path, string } from './scalars.ts';

/** Hint for a script without steps. */
export const STEPS_HINT = 'write steps: and a list of commands below it, such as - base.verbose: hello';
const STEP_HINT = 'write it as - group.command: [parameter, parameter]';
const DEFAULT_INTERVAL_MS = 1_000;
const DEFAULT_MAX_MS = 30_000;

/** The keys that make a step something else than a command. */
const kindKeys = ['steps', 'run'];

/** Parses the steps of a script or a group. */
export function parseSteps<At>(key: string, node: ConfigNode<At> | undefined, context: ParseContext<At>): Step[] {
  if (node === undefined) return [];
  const items = node.kind === 'list' ? node.items : [];
  if (node.kind === 'map' || (node.kind === 'scalar' && node.value !== null)) {
    context.addIssue(node.at, `${key} must be a list`, 'start each step with -, such as - base.verbose: hello');
  } else if (items.length === 0) {
    const what = key === 'steps' ? 'the script has no steps' : `${key} has no steps`;
    context.addIssue(node.at, what, STEPS_HINT);
  }
  return items.map((item) => parseStep(item, context, key === 'teardown')).filter((step) => step !== undefined);
}

/** Parses one step; returns `undefined` if it is neither a known command, a group nor a `run`. */
function parseStep<At>(node: ConfigNode<At>, context: ParseContext<At>, isTeardown: boolean): Step | undefined {
  if (node.kind !== 'map') {
    context.addIssue(node.at, 'a step must be a command with its parameters', stepHint(node, context));
    return undefined;
  }
  const find = (key: keyof typeof stepKeys): ConfigNode<At> | undefined =>
    node.members.find(({ name }) => name === key)?.node;
  const member = findKind(node, context);
  const settings = {
    name: parseKey('name', find('name'), string, context),
    condition: parseConditionNode('if', find('if'), context)?.test,
    continueOnFailure: parseKey('continueOnFailure', find('continueOnFailure'), flag, context) ?? false,
    always: parseKey('always', find('always'), flag, context) || isTeardown,
    ...(find('retry') && { retry: parseRetry(find('retry'), context) }),
    ...(find('forEach') && { forEach: parseForEach(find('forEach'), context) }),
    position: context.positionOf(node.at),
  };
  if (member?.name !== 'run') {
    for (const { name, at } of node.members) {
      if (name === 'with' || name === 'save') context.addIssue(at, `${name} needs run`, `remove ${name}, or add run:`);
    }
  }
  if (member?.name === 'steps') return { steps: parseSteps('group', member.node, context), ...settings };
  if (member?.name === 'run') {
    const given = parseWith(find('with'), context);
    const save = parseKey('save', find('save'), names, context) ?? [];
    const run = parseKey('run', member.node, path, context) ?? '';
    // The host reads the other script after this one was parsed.
    const step = { run, script: undefined as unknown as Script, with: given, save, ...settings };
    context.includes.push({ path: run, at: member.node.at, setScript: (script) => Object.assign(step, { script }) });
    return step;
  }
  const command = member && context.registry.find(member.name);
  if (member === undefined || command === undefined) return undefined;
  return { command, parameters: parseParameters(command, member, context), ...settings };
}

/** Recognises common mistakes: a command without its colon, or without a space after the colon. */
function stepHint<At>(node: ConfigNode<At>, { registry }: ParseContext<At>): string {
  const text = node.kind === 'scalar' ? String(toText(node.value ?? '')) : '';
  const word = /^[A-Za-z][\w.]*/.exec(text)?.[0] ?? '';
  if (registry.find(word) === undefined) return STEP_HINT;
  return text.startsWith(`${word}:`) ? `write a space after ${word}:` : `write - ${word}: and its parameters`;
}

/** Returns the command of a step, its `steps` or its `run`. A key with a dot counts as a command even if the command does not exist. */
function findKind<At>({ members, at }: MapNode<At>, context: ParseContext<At>): Member<At> | undefined {
  const { registry } = context;
  const keys = Object.keys(stepKeys);
  const found: Member<At>[] = [];
  let isMisspelt = false;
  for (const member of members) {
    const { name } = member;
    if (kindKeys.includes(name)) found.push(member);
    if (keys.includes(name)) continue;
    const isKnown = registry.find(name) !== undefined;
    if (isKnown || name.includes('.')) found.push(member);
    if (isKnown) continue;
    const near = registry.nearest(name);
    const suggestion = near === undefined ? undefined : `did you mean ${near}?`;
    if (name.includes('.')) {
      const hint = suggestion ?? 'run oauth-profile commands to list all commands';
      context.addIssue(member.at, `unknown command ${showKey(name)}`, hint);
    } else {
      const hint = suggestHint(name, keys, suggestion ?? `the keys of a step are its command, ${keys.join(', ')}`);
      isMisspelt ||= closestMatch(name, keys) === undefined;
      context.addIssue(member.at, `unknown key ${showKey(name)}`, hint);
    }
  }
  const [first, second] = found;
  if (second !== undefined)
    context.addIssue(second.at, 'unexpected second command in one step', 'start a new step with -');
  if (first === undefined && !isMisspelt)
    context.addIssue(at, 'the step has no command', `${STEP_HINT}, or add steps: or run:`);
  return first;
}

function parseRetry<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): Retry | undefined {
  if (node === undefined) return undefined;
  const members = node.kind === 'map' ? node.members : [];
  const known = Object.keys(retryKeys);
  for (const { name, at } of members) {
    if (known.includes(name)) continue;
    const hint = suggestHint(name, known, `the keys of retry are ${known.join(', ')}`);
    context.addIssue(at, `unknown key ${showKey(name)} of retry`, hint);
  }
  const find = (key: keyof typeof retryKeys) => members.find(({ name }) => name === key)?.node;
  const times = node.kind === 'map' ? find('times') : node;
  if (times === undefined)
    context.addIssue(node.at, 'retry has no times', `write retry: {times: 10, interval: 500ms}; at most ${MAX_TIMES}`);
  return {
    times: parseKey('retry: times', times, integer(1, MAX_TIMES), context) ?? 1,
    intervalMs: parseKey('retry: interval', find('interval'), duration, context) ?? DEFAULT_INTERVAL_MS,
    backoff: parseKey('retry: backoff', find('backoff'), factor, context) ?? 1,
    maxMs: parseKey('retry: max', find('max'), duration, context) ?? DEFAULT_MAX_MS,
    until: parseConditionNode('until', find('until'), context),
  };
}

const FOR_EACH_HINT = 'write forEach: {line: "${order.body.lines}"}, {page: 1..5} or {user: "@users.csv"}';

function parseForEach<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): ForEach | undefined {
  if (node === undefined) return undefined;
  const [member, second] = node.kind === 'map' ? node.members : [];
  if (member === undefined || second !== undefined) {
    context.addIssue(second?.at ?? node.at, 'forEach must be a map of one variable', FOR_EACH_HINT);
    return undefined;
  }
  const { name, at, node: items } = member;
  if (!isPlainName(name))
    context.addIssue(at, `forEach: ${showKey(name)} is not a variable name: use letters, digits and _`);
  literalValue(items, context);
  const text = items.kind === 'scalar' && typeof items.value === 'string' ? items.value : '';
  const isText = hasReference(text) || /^@.|^\s*-?\d+\s*\.\.\s*-?\d+\s*$/.test(text);
  if (items.kind !== 'list' && !isText)
    context.addIssue(items.at, 'forEach must be a list, a range, a reference or @ and a path', FOR_EACH_HINT);
  return { variable: name, items: toValue(items) };
}

function parseWith<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): Readonly<Record<string, Value>> {
  if (node === undefined) return {};
  if (node.kind !== 'map') {
    context.addIssue(node.at, 'with must be a map of variables', 'write with: {user: ada}');
    return {};
  }
  for (const { name, at, node: part } of node.members) {
    if (!name.split('.').every(isPlainName)) context.addIssue(at, `with: ${showKey(name)} is not a variable name`);
    literalValue(part, context);
  }
  return toValue(node) as Readonly<Record<string, Value>>;
}
