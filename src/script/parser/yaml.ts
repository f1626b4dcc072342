import type { Source } from '../../config/variables.ts';
import { parseYaml, type Span } from '../../config/yaml.ts';
import type { YamlIssue } from '../../config/yaml-errors.ts';
import { InvalidScriptError, type ScriptIssue } from '../../errors.ts';
import type { Registry } from '../command.ts';
import type { Script } from '../script.ts';
import { buildScript } from './build-script.ts';
import { type CheckPath, MAX_VALUES } from './parse-context.ts';
import { findSecrets, isSecretParameter, offsetWithin, SourceLines } from './source-lines.ts';

const MAX_ISSUES = 100;

/** Reads a script from YAML 1.2. All issues are thrown as one `InvalidScriptError`. */
export function readScript(text: string, source: Source, registry: Registry, checkPath?: CheckPath): Script {
  const yaml = text.replace(/^\ufeff/, '');
  const { root, issues: found, positionOf } = parseYaml(yaml, MAX_VALUES);
  const issues = [...found];
  const script =
    root &&
    buildScript<Span>(root, {
      source,
      registry,
      checkPath,
      addIssue: ({ start }, message, hint) => issues.push({ offset: start, message, hint }),
      within: ({ start, end }, index) => ({ start: Math.min(offsetWithin(yaml, start, index), end), end }),
      positionOf: ({ start }) => positionOf(start),
    });
  if (script !== undefined && issues.length === 0) return script;
  const located = sortByOffset(issues).map((issue) => ({ ...issue, ...positionOf(issue.offset) }));
  // In invalid YAML, the first error of a line causes the others.
  const reported =
    root === undefined ? located.filter(({ line }, index) => located[index - 1]?.line !== line) : located;
  const isPublic = (name: string): boolean => registry.find(name)?.parameters.some(isSecretParameter) === false;
  const lines = new SourceLines(yaml, root && [...findSecrets(root, registry)], isPublic);
  const shown = reported.slice(0, MAX_ISSUES).map(({ offset, line, column, message, hint }): ScriptIssue => {
    const excerpt = lines.quote(offset, line, column);
    return { line, column, ...excerpt, message, ...(hint !== undefined && { hint }) };
  });
  throw new InvalidScriptError(source.label, shown, reported.length);
}

/** Sorts issues and removes duplicates: an alias repeats the issues of its target. */
function sortByOffset(issues: readonly YamlIssue[]): YamlIssue[] {
  const unique = new Map(issues.map((issue) => [`${issue.offset} ${issue.message}`, issue]));
  return [...unique.values()].sort((a, b) => a.offset - b.offset);
}
