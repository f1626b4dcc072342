import type { Source } from '../../config/variables.ts';
import { parseYaml, type Span } from '../../config/yaml.ts';
import type { YamlIssue } from '../../config/yaml-errors.ts';
import { InvalidScriptError, type ScriptIssue } from '../../errors.ts';
import type { Registry } from '../command.ts';
import type { Script } from '../script.ts';
import { buildScript } from './build-script.ts';
import { type CheckPath, type Include, MAX_VALUES } from './parse-context.ts';
import { findSecrets, isSecretParameter, offsetWithin, SourceLines } from './source-lines.ts';

const MAX_ISSUES = 100;

/** A parsed script and the scripts that it runs, which are not read yet. */
export interface ParsedScript {
  readonly script: Script;
  readonly includes: readonly (Pick<Include<unknown>, 'path' | 'setScript'> & {
    /** Creates an error at the place of the `run`. */
    fail(message: string, hint?: string): InvalidScriptError;
  })[];
}

/** Reads a script from YAML 1.2. All issues are thrown as one `InvalidScriptError`. */
export function readScript(text: string, source: Source, registry: Registry, checkPath?: CheckPath): ParsedScript {
  const yaml = text.replace(/^\ufeff/, '');
  const { root, issues: found, positionOf } = parseYaml(yaml, MAX_VALUES);
  const issues = [...found];
  const includes: Include<Span>[] = [];
  const script =
    root &&
    buildScript<Span>(root, {
      source,
      includes,
      registry,
      checkPath,
      addIssue: ({ start }, message, hint) => issues.push({ offset: start, message, hint }),
      within: ({ start, end }, index) => ({ start: Math.min(offsetWithin(yaml, start, index), end), end }),
      positionOf: ({ start }) => positionOf(start),
    });
  const toError = (list: readonly YamlIssue[]): InvalidScriptError => {
    const located = sortByOffset(list).map((issue) => ({ ...issue, ...positionOf(issue.offset) }));
    // In invalid YAML, the first error of a line causes the others.
    const reported =
      root === undefined ? located.filter(({ line }, index) => located[index - 1]?.line !== line) : located;
    const isPublic = (name: string): boolean => registry.find(name)?.parameters.some(isSecretParameter) === false;
    const lines = new SourceLines(yaml, root && [...findSecrets(root, registry)], isPublic);
    const shown = reported.slice(0, MAX_ISSUES).map(({ offset, line, column, message, hint }): ScriptIssue => {
      const excerpt = lines.quote(offset, line, column);
      return { line, column, ...excerpt, message, ...(hint !== undefined && { hint }) };
    });
    return new InvalidScriptError(source.label, shown, reported.length);
  };
  if (script === undefined || issues.length > 0) throw toError(issues);
  return {
    script,
    includes: includes.map(({ path, at, setScript }) => ({
      path,
      setScript,
      fail: (message, hint) => toError([{ offset: at.start, message, hint }]),
    })),
  };
}

/** Sorts issues and removes duplicates: an alias repeats the issues of its target. */
function sortByOffset(issues: readonly YamlIssue[]): YamlIssue[] {
  const unique = new Map(issues.map((issue) => [`${issue.offset} ${issue.message}`, issue]));
  return [...unique.values()].sort((a, b) => a.offset - b.offset);
}
