import { resolve } from 'node:path';
import { type ConfigNode, toValue, variablesIn } from '../../config/node.ts';
import { toText, type Value } from '../../config/value.ts';
import type { Entry } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import { MAX_REDIRECTS, type RequestSettings, scriptKeys } from '../keys.ts';
import type { Script } from '../script.ts';
import { literalValue, type ParseContext, showKey, suggestHint } from './parse-context.ts';
import { duration, flag, integer, names, parseKey, path, type Reader, string } from './scalars.ts';
import { parseSteps, STEPS_HINT } from './step.ts';

/** Same limit as for variable files. */
const MAX_VARIABLES = 20_000;

/** Builds a script from its nodes. If `context` receives an issue, the returned script is incomplete. */
export function buildScript<At>(root: ConfigNode<At>, context: ParseContext<At>): Script {
  const { source } = context;
  const members = root.kind === 'map' ? root.members : [];
  const find = (key: keyof typeof scriptKeys): ConfigNode<At> | undefined =>
    members.find(({ name }) => name === key)?.node;
  const parse: ParseScriptKey = (key, reader) => parseKey(key, find(key), reader, context);
  if (root.kind === 'list') {
    context.addIssue(root.at, 'a script must be a map, not a list', 'write steps: and put the list below it');
  } else if (root.kind === 'scalar' && root.value !== null) {
    context.addIssue(root.at, 'not a script', 'write steps: and a list of commands below it');
  } else if (find('steps') === undefined) context.addIssue(root.at, 'the script has no steps', STEPS_HINT);
  const known = Object.keys(scriptKeys);
  for (const { name, at } of members) {
    if (known.includes(name)) continue;
    context.addIssue(at, `unknown key ${showKey(name)}`, suggestHint(name, known, keyHint(name, known, context)));
  }
  checkVersion(find('version'), context);
  return {
    name: parse('name', string) ?? source.label.split(/[\\/]/).at(-1) ?? source.label,
    source,
    tags: parse('tags', names) ?? [],
    data: parseData(find('data'), context),
    rows: parseRows(find('rows'), context),
    secrets: parse('secrets', names) ?? [],
    unmask: parse('unmask', names) ?? [],
    requests: parseRequests(parse, context),
    setup: parseSteps('setup', find('setup'), context),
    steps: parseSteps('steps', find('steps'), context),
    teardown: parseSteps('teardown', find('teardown'), context),
  };
}

function keyHint<At>(name: string, known: readonly string[], { registry }: ParseContext<At>): string {
  if (registry.find(name) !== undefined) return `${name} is a command: write it as - ${name}: … below steps:`;
  return `the keys of a script are ${known.join(', ')}; variables belong below data:`;
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

function parseRows<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): Value | undefined {
  if (node === undefined) return undefined;
  const hint = 'write rows: users.csv, or a list of maps such as - {user: ada, role: admin}';
  if (node.kind === 'scalar') {
    const file = parseKey('rows', node, { ...path, hint }, context);
    return file && `@${file.replace(/^@/, '')}`;
  }
  if (node.kind === 'map' || node.items.length === 0) context.addIssue(node.at, 'rows must be a list of maps', hint);
  else {
    for (const item of node.items) {
      if (item.kind !== 'map') context.addIssue(item.at, 'a row must be a map', hint);
      literalValue(item, context);
    }
  }
  return toValue(node);
}

type ParseScriptKey = <T>(key: keyof typeof scriptKeys, reader: Reader<T>) => T | undefined;

function parseRequests<At>(parse: ParseScriptKey, { source }: ParseContext<At>): RequestSettings {
  // A script in another directory that this one runs uses the same files.
  const file = (key: 'ca_file' | 'cert_file' | 'cert_key_file'): string | undefined => {
    const given = parse(key, path);
    return given === undefined || given.startsWith('~') ? given : resolve(source.directory, given);
  };
  const settings: RequestSettings = {
    cookies: parse('cookies', flag),
    redirects: parse('redirects', integer(0, MAX_REDIRECTS)),
    timeoutMs: parse('timeout', duration),
    caFile: file('ca_file'),
    certFile: file('cert_file'),
    certKeyFile: file('cert_key_file'),
  };
  // A script that another one runs overrides only what it sets.
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
