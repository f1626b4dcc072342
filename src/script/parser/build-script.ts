import { type ConfigNode, type MapNode, toValue, variablesIn } from '../../config/node.ts';
import { closestMatch } from '../../config/suggestions.ts';
import { toText } from '../../config/value.ts';
import type { Entry } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import type { Script, Step } from '../script.ts';
import { literalValue, type ParseContext } from './parse-context.ts';
import { parseStep } from './step.ts';

/** Keys of a script. */
export const scriptKeys: readonly string[] = ['version', 'name', 'data', 'steps'];
/** Same limit as for variable files. */
const MAX_VARIABLES = 20_000;
const MAX_KEY = 60;

/** Builds a script from its nodes. If `context` receives an issue, the returned script is incomplete. */
export function buildScript<At>(root: ConfigNode<At>, context: ParseContext<At>): Script {
  const map: MapNode<At> = root.kind === 'map' ? root : { kind: 'map', at: root.at, members: [] };
  const find = (key: string): ConfigNode<At> | undefined => map.members.find(({ name }) => name === key)?.node;
  if (root.kind === 'list') {
    context.addIssue(root.at, 'a script must be a map, not a list', 'write steps: and put the list below it');
  } else if (root.kind === 'scalar' && root.value !== null) {
    context.addIssue(root.at, 'not a script', 'write steps: and a list of commands below it');
  } else {
    checkKeys(map, context);
    if (find('steps') === undefined) {
      context.addIssue(
        root.at,
        'the script has no steps',
        'write steps: and a list of commands below it, such as - base.verbose: hello',
      );
    }
  }
  checkVersion(find('version'), context);
  return {
    name: parseName(find('name'), context),
    source: context.source,
    data: parseData(find('data'), context),
    steps: parseSteps(find('steps'), context),
  };
}

function checkKeys<At>({ members }: MapNode<At>, context: ParseContext<At>): void {
  for (const { name, at } of members) {
    if (scriptKeys.includes(name)) continue;
    const near = closestMatch(name, scriptKeys);
    const hint = near === undefined ? keyHint(name, context) : `did you mean ${near}?`;
    context.addIssue(at, `unknown key ${excerpt(name, MAX_KEY)}`, hint);
  }
}

function keyHint<At>(name: string, { registry }: ParseContext<At>): string {
  if (registry.find(name) !== undefined) return `${name} is a command: write it as - ${name}: … below steps:`;
  return `the keys of a script are ${scriptKeys.join(', ')}; variables belong below data:`;
}

function checkVersion<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): void {
  if (node === undefined || (node.kind === 'scalar' && node.value === 1)) return;
  const version = node.kind === 'scalar' ? excerpt(String(toText(node.value)), MAX_KEY) : '';
  if (/^\d+$/.test(version) && version !== '1') {
    context.addIssue(
      node.at,
      `unsupported version ${version}: this program supports version 1`,
      'update oauth-profile',
    );
  } else context.addIssue(node.at, 'version must be 1', 'write version: 1 without quotes, or omit it');
}

function parseName<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): string {
  const text = node?.kind === 'scalar' && node.value !== null ? toText(node.value) : undefined;
  if (typeof text === 'string' && text !== '') return text;
  if (node !== undefined) context.addIssue(node.at, 'name must be a string');
  return context.source.label.split(/[\\/]/).at(-1) ?? context.source.label;
}

function parseData<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): Entry[] {
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return [];
  if (node.kind !== 'map') {
    context.addIssue(
      node.at,
      'data must be a map of variables',
      'write data: and lines such as graph.type: microsoft below it',
    );
    return [];
  }
  const entries = new Map<string, Entry>();
  try {
    for (const { name, at, node: part } of variablesIn(node)) {
      if (entries.has(name)) {
        context.addIssue(at, `${excerpt(name, MAX_KEY)} is defined twice`, 'remove one of the two definitions');
      } else if (entries.size >= MAX_VARIABLES) {
        context.addIssue(at, `data has more than ${MAX_VARIABLES} variables`);
        break;
      }
      literalValue(part, context);
      entries.set(name, { name, value: toValue(part), line: context.positionOf(at)?.line });
    }
  } catch (error) {
    // A variable name is too long.
    if (!(error instanceof OAuthProfileError)) throw error;
    context.addIssue(node.at, error.message, error.hint);
  }
  return [...entries.values()];
}

function parseSteps<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): Step[] {
  if (node === undefined) return [];
  const items = node.kind === 'list' ? node.items : [];
  if (node.kind === 'map' || (node.kind === 'scalar' && node.value !== null)) {
    context.addIssue(node.at, 'steps must be a list', 'start each step with -, such as - base.verbose: hello');
  } else if (items.length === 0) {
    context.addIssue(
      node.at,
      'the script has no steps',
      'write a list of commands below steps:, such as - base.verbose: hello',
    );
  }
  return items.map((item) => parseStep(item, context)).filter((step) => step !== undefined);
}
