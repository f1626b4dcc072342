import { type ConfigNode, type MapNode, toValue, variablesIn } from '../../config/node.ts';
import { closestMatch } from '../../config/suggestions.ts';
import { toText } from '../../config/value.ts';
import type { Entry } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import type { Script, Step } from '../script.ts';
import { literalOf } from './literal-of.ts';
import type { Reading } from './reading.ts';
import { readStep } from './step.ts';

/** What a script can have. */
export const scriptKeys: readonly string[] = ['version', 'name', 'data', 'steps'];
/** As in files of variables. */
const MAX_VARIABLES = 20_000;
const MAX_KEY = 60;

/** Makes a script of what was written; whatever is wrong with it is told to `reading`, and then the script is not whole. */
export function buildScript<At>(root: ConfigNode<At>, reading: Reading<At>): Script {
  const map: MapNode<At> = root.kind === 'map' ? root : { kind: 'map', at: root.at, members: [] };
  const find = (key: string): ConfigNode<At> | undefined => map.members.find(({ name }) => name === key)?.node;
  if (root.kind === 'list') {
    reading.fault(root.at, 'a script is a map with steps, not a list', 'write steps: and the list below it');
  } else if (root.kind === 'scalar' && root.value !== null) {
    reading.fault(root.at, 'is no script', 'write steps: and a list of commands below it');
  } else {
    checkKeys(map, reading);
    if (find('steps') === undefined) {
      reading.fault(
        root.at,
        'has no steps',
        'write steps: and a list of commands below it, such as - base.verbose: hello',
      );
    }
  }
  checkVersion(find('version'), reading);
  return {
    name: readName(find('name'), reading),
    source: reading.source,
    data: readData(find('data'), reading),
    steps: readSteps(find('steps'), reading),
  };
}

function checkKeys<At>({ members }: MapNode<At>, reading: Reading<At>): void {
  for (const { name, at } of members) {
    if (scriptKeys.includes(name)) continue;
    const near = closestMatch(name, scriptKeys);
    const hint = near === undefined ? adviseOnKey(name, reading) : `did you mean ${near}?`;
    reading.fault(at, `a script has no key ${excerpt(name, MAX_KEY)}`, hint);
  }
}

function adviseOnKey<At>(name: string, { registry }: Reading<At>): string {
  if (registry.find(name) !== undefined) return `${name} is a command: write it as - ${name}: … below steps:`;
  return `a script has ${scriptKeys.join(', ')}; variables stand below data:`;
}

function checkVersion<At>(part: ConfigNode<At> | undefined, reading: Reading<At>): void {
  if (part === undefined || (part.kind === 'scalar' && part.value === 1)) return;
  const version = part.kind === 'scalar' ? excerpt(String(toText(part.value)), MAX_KEY) : '';
  if (/^\d+$/.test(version) && version !== '1') {
    reading.fault(part.at, `is of version ${version}, and this program knows version 1`, 'update oauth-profile');
  } else reading.fault(part.at, 'version must be 1', 'write version: 1, without quotes, or leave it out');
}

function readName<At>(part: ConfigNode<At> | undefined, reading: Reading<At>): string {
  const text = part?.kind === 'scalar' && part.value !== null ? toText(part.value) : undefined;
  if (typeof text === 'string' && text !== '') return text;
  if (part !== undefined) reading.fault(part.at, 'name must be text');
  return reading.source.label.split(/[\\/]/).at(-1) ?? reading.source.label;
}

function readData<At>(part: ConfigNode<At> | undefined, reading: Reading<At>): Entry[] {
  if (part === undefined || (part.kind === 'scalar' && part.value === null)) return [];
  if (part.kind !== 'map') {
    reading.fault(
      part.at,
      'data must be a map of variables',
      'write data: and lines such as graph.type: microsoft below it',
    );
    return [];
  }
  const entries = new Map<string, Entry>();
  try {
    for (const { name, at, node: value } of variablesIn(part)) {
      if (entries.has(name)) {
        reading.fault(at, `${excerpt(name, MAX_KEY)} is defined twice`, 'keep one of the two definitions');
      } else if (entries.size >= MAX_VARIABLES) {
        reading.fault(at, `data unfolds to more than ${MAX_VARIABLES} variables`);
        break;
      }
      literalOf(value, reading);
      entries.set(name, { name, value: toValue(value), line: reading.positionOf(at)?.line });
    }
  } catch (error) {
    // A name that is too long.
    if (!(error instanceof OAuthProfileError)) throw error;
    reading.fault(part.at, error.message, error.hint);
  }
  return [...entries.values()];
}

function readSteps<At>(part: ConfigNode<At> | undefined, reading: Reading<At>): Step[] {
  if (part === undefined) return [];
  const items = part.kind === 'list' ? part.items : [];
  if (part.kind === 'map' || (part.kind === 'scalar' && part.value !== null)) {
    reading.fault(part.at, 'steps must be a list', 'write - in front of each step: - base.verbose: hello');
  } else if (items.length === 0) {
    reading.fault(part.at, 'has no steps', 'write a list of commands below steps:, such as - base.verbose: hello');
  }
  return items.map((item) => readStep(item, reading)).filter((step) => step !== undefined);
}
