import type { Source } from '../../config/variables.ts';
import { readYamlDocument, type Span } from '../../config/yaml-document.ts';
import { type Explained, explainProblems } from '../../config/yaml-errors.ts';
import { InvalidScriptError, type ScriptIssue } from '../../errors.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import type { Registry } from '../command.ts';
import type { Script } from '../script.ts';
import { buildScript } from './build-script.ts';
import { type CheckPath, MAX_VALUES } from './parse-context.ts';
import { findSecrets, offsetWithin, SourceLines } from './source-lines.ts';

const MAX_FAULTS = 100;

/** Reads a script from YAML 1.2, or throws an `InvalidScriptError` with everything that is wrong with it; `checkPath`, if given, checks JSON paths too. */
export function readScript(text: string, source: Source, registry: Registry, checkPath?: CheckPath): Script {
  const clean = text.replace(/^\ufeff/, '');
  const document = readYamlDocument(clean, MAX_VALUES);
  const found = explainProblems(clean, document.problems);
  const { root } = document;
  const script =
    root &&
    buildScript<Span>(root, {
      source,
      registry,
      checkPath,
      addIssue: ({ start }, message, hint) => found.push({ offset: start, message, hint }),
      within: ({ start, end }, index) => ({ start: Math.min(offsetWithin(clean, start, index), end), end }),
      positionOf: ({ start }) => document.positionOf(start),
    });
  if (script !== undefined && found.length === 0) return script;
  const placed = distinct(found).map((fault) => ({ ...fault, ...document.positionOf(fault.offset) }));
  // Where a text cannot be understood, the first error of a line brings the others.
  const issues = root === undefined ? placed.filter(({ line }, index) => placed[index - 1]?.line !== line) : placed;
  const takesSecret = (name: string): boolean =>
    registry.find(name)?.parameters.some((one) => one.secret || isSensitiveName(one.name)) === true;
  const lines = new SourceLines(clean, root && [...findSecrets(root, registry)], takesSecret);
  const shown = issues.slice(0, MAX_FAULTS).map(({ offset, line, column, message, hint }): ScriptIssue => {
    const quoted = lines.quote(offset, line, column);
    return { line, column, ...quoted, message, ...(hint !== undefined && { hint: hint }) };
  });
  throw new InvalidScriptError(source.label, shown, issues.length);
}

/** In the order of the file; an alias repeats the issues of what it stands for. */
function distinct(found: readonly Explained[]): Explained[] {
  const byPlace = new Map(found.map((fault) => [`${fault.offset} ${fault.message}`, fault]));
  return [...byPlace.values()].sort((one, other) => one.offset - other.offset);
}
