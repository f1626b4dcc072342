import { type DataObject, isPlainObject } from '../../config/flatten.ts';
import type { ConfigNode, Member } from '../../config/node.ts';
import { escapeReferences, hasReference } from '../../config/reference.ts';
import { RawScalar, type Scalar } from '../../config/value.ts';
import type { Source } from '../../config/variables.ts';
import { InvalidScriptError, type ScriptIssue } from '../../errors.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import type { Registry } from '../registry.ts';
import type { Script } from '../script.ts';
import { buildScript } from './build-script.ts';
import type { CheckPath } from './reading.ts';

/** A script as a program writes it. */
export interface ScriptObject {
  readonly version?: 1;
  readonly name?: string;
  readonly data?: DataObject;
  readonly steps: readonly StepObject[];
}

/** A step as a program writes it: `{ 'ws.get': [url, '', 'me'] }`. */
export interface StepObject {
  readonly name?: string;
  readonly if?: string | boolean;
  readonly continueOnFailure?: boolean;
  readonly always?: boolean;
  readonly [command: `${string}.${string}`]: unknown;
}

const MAX_VALUES = 300_000;
const MAX_DEPTH = 64;
const MAX_FAULTS = 100;
const MAX_PATH = 200;

/** Reads a script from an object of a program's, with the checks of a file; a `Secret` is taken as it is, also where it holds `${`. */
export function readScriptObject(
  object: ScriptObject,
  source: Source,
  registry: Registry,
  checkPath?: CheckPath,
): Script {
  const issues: ScriptIssue[] = [];
  const fault = (path: string, message: string, hint?: string): void => {
    const shown = path === '' ? 'script' : excerpt(path, MAX_PATH);
    issues.push({ path: shown, message, ...(hint !== undefined && { hint: hint }) });
  };
  const parts = new ObjectParts(fault);
  const root = parts.part(object, '', 0);
  const within = (path: string): string => path;
  const script = parts.tooMany
    ? undefined
    : buildScript(root, { source, registry, checkPath, fault, within, positionOf: () => undefined });
  if (script !== undefined && issues.length === 0) return script;
  throw new InvalidScriptError(source.label, issues.slice(0, MAX_FAULTS), issues.length);
}

class ObjectParts {
  readonly #fault: (path: string, message: string, hint?: string) => void;
  #values = 0;
  /** There are more than were looked at. */
  tooMany = false;

  constructor(fault: (path: string, message: string, hint?: string) => void) {
    this.#fault = fault;
  }

  part(value: unknown, at: string, depth: number): ConfigNode<string> {
    if (++this.#values > MAX_VALUES || depth > MAX_DEPTH) {
      if (!this.tooMany) this.#fault(at, `has more than ${MAX_VALUES} values or ${MAX_DEPTH} levels`);
      this.tooMany = true;
    }
    if (this.tooMany) return { kind: 'scalar', at, value: null };
    if (Array.isArray(value)) {
      const items = Array.from(value, (item, index) => this.part(item, `${at}[${index}]`, depth + 1));
      return { kind: 'list', at, items };
    }
    return isPlainObject(value) ? this.#map(value, at, depth) : { kind: 'scalar', at, value: this.#scalar(value, at) };
  }

  #map(map: DataObject, at: string, depth: number): ConfigNode<string> {
    const members: Member<string>[] = [];
    for (const [name, value] of Object.entries(map)) {
      const path = at === '' ? name : `${at}.${name}`;
      if (value !== undefined) members.push({ name, at: path, node: this.part(value, path, depth + 1) });
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
        this.#fault(at, 'is a number that lost digits', 'give it as a string');
        return null;
    }
    if (value === null || value instanceof RawScalar) return value;
    if (value instanceof Secret) return value.test(hasReference) ? value.map(escapeReferences) : value;
    this.#fault(at, 'is neither text, number, boolean, list nor map');
    return null;
  }
}
