import { readPlainYaml } from '../../config/plain-yaml.ts';
import type { Source } from '../../config/variables.ts';
import type { Span } from '../../config/yaml-document.ts';
import type { Registry } from '../command.ts';
import type { Script } from '../script.ts';
import { buildScript } from './build-script.ts';
import { type CheckPath, MAX_VALUES } from './parse-context.ts';

/** Reads a script of plain YAML that has no fault; `undefined` is no verdict: the careful reader understands more, and tells what is wrong. */
export function readPlainScript(
  text: string,
  source: Source,
  registry: Registry,
  checkPath?: CheckPath,
): Script | undefined {
  const document = readPlainYaml(text.replace(/^\ufeff/, ''), MAX_VALUES);
  if (document === undefined) return undefined;
  let faultless = true;
  const script = buildScript<Span>(document.root, {
    source,
    registry,
    checkPath,
    addIssue: () => {
      faultless = false;
    },
    within: (span) => span,
    positionOf: ({ start }) => document.positionOf(start),
  });
  return faultless ? script : undefined;
}
