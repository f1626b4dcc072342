import { type DataObject, MAX_DEPTH, toNode } from '../../config/flatten.ts';
import type { Source } from '../../config/variables.ts';
import { InvalidScriptError, type ScriptIssue } from '../../errors.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import type { Registry } from '../command.ts';
import { buildScript } from './build-script.ts';
import { type CheckPath, type Include, MAX_VALUES } from './parse-context.ts';
import type { ParsedScript } from './yaml.ts';

/** A script as a JavaScript object. */
export interface ScriptObject {
  readonly version?: 1;
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly data?: DataObject;
  readonly rows?: string | readonly DataObject[];
  readonly secrets?: readonly string[];
  readonly unmask?: readonly string[];
  readonly cookies?: boolean;
  readonly redirects?: number;
  readonly timeout?: string;
  readonly ca_file?: string;
  readonly cert_file?: string;
  readonly cert_key_file?: string;
  readonly setup?: readonly StepObject[];
  readonly steps: readonly StepObject[];
  readonly teardown?: readonly StepObject[];
}

/** A step as a JavaScript object: `{ 'ws.get': [url, '', 'me'] }`, or a group: `{ retry: { times: 3 }, steps: [] }`. */
export interface StepObject {
  readonly name?: string;
  readonly if?: string | boolean;
  readonly retry?:
    | number
    | {
        readonly times: number;
        readonly interval?: string;
        readonly backoff?: number;
        readonly max?: string;
        readonly until?: string;
      };
  readonly forEach?: Readonly<Record<string, unknown>>;
  readonly steps?: readonly StepObject[];
  readonly run?: string;
  readonly with?: DataObject;
  readonly save?: string | readonly string[];
  readonly continueOnFailure?: boolean;
  readonly always?: boolean;
  readonly [command: `${string}.${string}`]: unknown;
}

const MAX_ISSUES = 100;
const MAX_PATH = 200;

/** Parses a script from an object with the same checks as a file. References in a `Secret` are not resolved. */
export function parseScriptObject(
  object: ScriptObject,
  source: Source,
  registry: Registry,
  checkPath?: CheckPath,
): ParsedScript {
  const issues: ScriptIssue[] = [];
  const addIssue = (path: string, message: string, hint?: string): void => {
    const shown = path === '' ? 'script' : excerpt(path, MAX_PATH);
    issues.push({ path: shown, message, ...(hint !== undefined && { hint }) });
  };
  const invalid = () => new InvalidScriptError(source.label, issues.slice(0, MAX_ISSUES), issues.length);
  let values = 0;
  const enter = (at: string, depth: number): void => {
    if (++values <= MAX_VALUES && depth <= MAX_DEPTH) return;
    addIssue(at, `more than ${MAX_VALUES} values or ${MAX_DEPTH} levels`);
    throw invalid();
  };
  const root = toNode(object, '', { enter, addIssue });
  const within = (path: string): string => path;
  const positionOf = () => undefined;
  const includes: Include<string>[] = [];
  const script = buildScript(root, { source, registry, checkPath, addIssue, within, positionOf, includes });
  if (issues.length > 0) throw invalid();
  return {
    script,
    includes: includes.map(({ path, at, setScript }) => ({
      path,
      setScript,
      fail(message, hint) {
        addIssue(at, message, hint);
        return invalid();
      },
    })),
  };
}
