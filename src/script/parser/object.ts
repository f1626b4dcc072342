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
  const nodes = new NodeBuilder(addIssue);
  const root = nodes.build(object, '', 0);
  const within = (path: string): string => path;
  const script = nodes.exceeded
    ? undefined
    : buildScript(root, { source, registry, checkPath, addIssue, within, positionOf: () => undefined });
  if (script !== undefined && issues.length === 0) return script;
  throw new InvalidScriptError(source.label, issues.slice(0, MAX_ISSUES), issues.length);
}

/** Converts a JavaScript value to nodes. */
class NodeBuilder {
  readonly #addIssue: (path: string, message: string, hint?: string) => void;
  #values = 0;
  /** The object has more values or levels than allowed; the nodes are incomplete. */
  exceeded = false;

  constructor(addIssue: (path: string, message: string, hint?: string) => void) {
    this.#addIssue = addIssue;
  }

  build(value: unknown, at: string, depth: number): ConfigNode<string> {
    if (++this.#values > MAX_VALUES || depth > MAX_DEPTH) {
      if (!this.exceeded) this.#addIssue(at, `more than ${MAX_VALUES} values or ${MAX_DEPTH} levels`);
      this.exceeded = true;
    }
    if (this.exceeded) return { kind: 'scalar', at, value: null };
    if (Array.isArray(value)) {
      const items = Array.from(value, (item, index) => this.build(item, `${at}[${index}]`, depth + 1));
      return { kind: 'list', at, items };
    }
    return isPlainObject(value) ? this.#map(value, at, depth) : { kind: 'scalar', at, value: this.#scalar(value, at) };
  }

  #map(map: DataObject, at: string, depth: number): ConfigNode<string> {
    const members: Member<string>[] = [];
    for (const [name, value] of Object.entries(map)) {
      const path = at === '' ? name : `${at}.${name}`;
      if (value !== undefined) members.push({ name, at: path, node: this.build(value, path, depth + 1) });
    }
    return { kind: 'map', at, members };
  }

  #scalar(value: unknown, at: string): Scalar {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'bigint':
        return new RawScalar(String(value), Number(value));
      case 'number':
        if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
        this.#addIssue(at, 'the number is not exact', 'pass it as a string');
        return null;
    }
    if (value === null || value instanceof RawScalar) return value;
    if (value instanceof Secret) return value.test(hasReference) ? value.map(escapeReferences) : value;
    this.#addIssue(at, 'must be a string, number, boolean, list or map');
    return null;
  }
}
