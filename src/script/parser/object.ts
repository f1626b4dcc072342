import { type DataObject, isPlainObject } from '../../config/flatten.ts';
import type { ConfigNode, Member } from '../../config/node.ts';
import { escapeReferences, hasReference } from '../../config/reference.ts';
import { RawScalar, type Scalar } from '../../config/value.ts';
import type { Source } from '../../config/variables.ts';
import { InvalidScriptError, type ScriptIssue } from '../../errors.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import type { Registry } from '../command.ts';
import type { Script } from '../script.ts';
import { buildScript } from './build-script.ts';
import { type CheckPath, MAX_VALUES } from './parse-context.ts';

/** A script as a JavaScript object. */
export interface ScriptObject {
  readonly version?: 1;
  readonly name?: string;
  readonly data?: DataObject;
  readonly steps: readonly StepObject[];
}

/** A step as a JavaScript object: `{ 'ws.get': [url, '', 'me'] }`. */
export interface StepObject {
  readonly name?: string;
  readonly if?: string | boolean;
  readonly continueOnFailure?: boolean;
  readonly always?: boolean;
  readonly [command: `${string}.${string}`]: unknown;
}

const MAX_DEPTH = 64;
const MAX_ISSUES = 100;
const MAX_PATH = 200;

/** Parses a script from an object with the same checks as a file. References in a `Secret` are not resolved. */
export function parseScriptObject(
  object: ScriptObject,
  source: Source,
  registry: Registry,
  checkPath?: CheckPath,
): Script {
  const issues: ScriptIssue[] = [];
  const addIssue = (path: string, message: string, hint?: string): void => {
    const shown = path === '' ? 'script' : excerpt(path, MAX_PATH);
    issues.push({ path: shown, message, ...(hint !== undefined && { hint }) });
  };
  let values = 0;
  let exceeded = false;
  const build = (value: unknown, at: string, depth: number): ConfigNode<string> => {
    if (++values > MAX_VALUES || depth > MAX_DEPTH) {
      if (!exceeded) addIssue(at, `more than ${MAX_VALUES} values or ${MAX_DEPTH} levels`);
      exceeded = true;
    }
    if (exceeded) return { kind: 'scalar', at, value: null };
    if (Array.isArray(value)) {
      const items = Array.from(value, (item, index) => build(item, `${at}[${index}]`, depth + 1));
      return { kind: 'list', at, items };
    }
    if (!isPlainObject(value)) return { kind: 'scalar', at, value: toScalar(value, at, addIssue) };
    const members = Object.entries(value).flatMap(([name, part]): Member<string>[] => {
      const path = at === '' ? name : `${at}.${name}`;
      return part === undefined ? [] : [{ name, at: path, node: build(part, path, depth + 1) }];
    });
    return { kind: 'map', at, members };
  };
  const root = build(object, '', 0);
  const within = (path: string): string => path;
  const script = exceeded
    ? undefined
    : buildScript(root, { source, registry, checkPath, addIssue, within, positionOf: () => undefined });
  if (script !== undefined && issues.length === 0) return script;
  throw new InvalidScriptError(source.label, issues.slice(0, MAX_ISSUES), issues.length);
}

function toScalar(value: unknown, at: string, addIssue: (at: string, message: string, hint?: string) => void): Scalar {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return new RawScalar(String(value), Number(value));
    case 'number':
      if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
      addIssue(at, 'the number is not exact', 'pass it as a string');
      return null;
  }
  if (value === null || value instanceof RawScalar) return value;
  if (value instanceof Secret) return value.test(hasReference) ? value.map(escapeReferences) : value;
  addIssue(at, 'must be a string, number, boolean, list or map');
  return null;
}
