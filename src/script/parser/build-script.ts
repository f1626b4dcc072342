import { type ConfigNode, toValue, variablesIn } from '../../config/node.ts';
import { toText } from '../../config/value.ts';
import type { Entry } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import type { Script, Step } from '../script.ts';
import { literalValue, type ParseContext, parseName, showKey, suggestHint } from './parse-context.ts';
import { parseStep } from './step.ts';

/** Keys of a script. */
export const scriptKeys: readonly string[] = ['version', 'name', 'data', 'steps'];
/** Same limit as for variable files. */
const MAX_VARIABLES = 20_000;
const STEPS_HINT = 'write steps: and a list of commands below it, such as - base.verbose: hello';

/** Builds a script from its nodes. If `context` receives an issue, the returned script is incomplete. */
export function buildScript<At>(root: ConfigNode<At>, context: ParseContext<At>): Script {
  const { source } = context;
  const members = root.kind === 'map' ? root.members : [];
  const find = (key: string): ConfigNode<At> | undefined => members.find(({ name }) => name === key)?.node;
  if (root.kind === 'list') {
    context.addIssue(root.at, 'a script must be a map, not a list', 'write steps: and put the list below it');
  } else if (root.kind === 'scalar' && root.value !== null) {
    context.addIssue(root.at, 'not a script', 'write steps: and a list of commands below it');
  } else if (find('steps') === undefined) context.addIssue(root.at, 'the script has no steps', STEPS_HINT);
  for (const { name, at } of members) {
    if (scriptKeys.includes(name)) continue;
    context.addIssue(at, `unknown key ${showKey(name)}`, suggestHint(name, scriptKeys, keyHint(name, context)));
  }
  checkVersion(find('version'), context);
  return {
    name: parseName(find('name'), context) ?? source.label.split(/[\\/]/).at(-1) ?? source.label,
    source,
    data: parseData(find('data'), context),
    steps: parseSteps(find('steps'), context),
  };
}

function keyHint<At>(name: string, { registry }: ParseContext<At>): string {
  if (registry.find(name) !== undefined) return `${name} is a command: write it as - ${name}: … below steps:`;
  return `the keys of a script are ${scriptKeys.join(', ')}; variables belong below data:`;
}

function checkVersion<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): void {
  if (node === undefined || (node.kind === 'scalar' && node.value === 1)) return;
  const version = node.kind === 'scalar' ? showKey(String(toText(node.value))) : '';
  if (/^\d+$/.test(version) && version !== '1') {
    const message = `unsupported version ${version}: this program supports version 1`;
    context.addIssue(node.at, message, 'update oauth-profile');
  } else context.addIssue(node.at, 'version must be 1', 'write version: 1 without quotes, or omit it');
}

function parseData<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): Entry[] {
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return [];
  if (node.kind !== 'map') {
    const hint = 'write data: and lines such as graph.type: microsoft below it';
    context.addIssue(node.at, 'data must be a map of variables', hint);
    return [];
  }
  const entries = new Map<string, Entry>();
  try {
    for (const { name, at, node: part } of variablesIn(node)) {
      if (entries.has(name)) {
        context.addIssue(at, `${showKey(name)} is defined twice`, 'remove one of the two definitions');
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
  } else if (items.length === 0) context.addIssue(node.at, 'the script has no steps', STEPS_HINT);
  return items.map((item) => parseStep(item, context)).filter((step) => step !== undefined);
}
