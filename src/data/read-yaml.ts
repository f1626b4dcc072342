import { OAuthProfileError } from '../errors.ts';
import { refuseDuplicates } from './flatten.ts';
import { valueIn, variablesIn } from './part.ts';
import { readYamlDocument } from './read-yaml-document.ts';
import type { Entry } from './variables.ts';

/** Files of variables are small. */
const MAX_VALUES = 20_000;

/** Reads variables from YAML 1.2; nested maps become dotted names, scalars keep their spelling. */
export function readYaml(text: string, label: string): Entry[] {
  const document = readYamlDocument(text, MAX_VALUES);
  const { root, problems } = document;
  const fail = (offset: number, problem: string): never => {
    const { line, column } = document.positionOf(offset);
    throw new OAuthProfileError('data_invalid', `${label}:${line}:${column}: ${problem}`, {
      advice:
        'write variables such as graph.type: microsoft; a value with : or # in it, or *, & or ! in front, needs quotes',
    });
  };
  const [first] = problems;
  if (first !== undefined) fail(first.offset, first.message);
  if (root === undefined || (root.kind === 'scalar' && root.value === null)) return [];
  if (root.kind !== 'map') return fail(root.at.start, 'holds no map of variables');
  const entries = Array.from(variablesIn(root), ({ name, at, part }) => {
    return { name, value: valueIn(part), line: document.positionOf(at.start).line };
  });
  refuseDuplicates(entries, label);
  return entries;
}
