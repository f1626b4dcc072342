import { OAuthProfileError } from '../errors.ts';
import { toEntries } from './node.ts';
import type { Entry } from './variables.ts';
import { readYamlDocument } from './yaml-document.ts';
import { explainProblems } from './yaml-errors.ts';

const ADVICE =
  'write variables such as graph.type: microsoft; a value with : or # in it, or *, & or ! in front, needs quotes';

/** Reads variables from any YAML 1.2, or says where it is wrong; nested maps become dotted names, scalars keep their spelling. */
export function readCarefulYaml(text: string, label: string, maxValues: number): Entry[] {
  const document = readYamlDocument(text, maxValues);
  const { root, problems } = document;
  const fail = (offset: number, problem: string, hint: string | undefined): never => {
    const { line, column } = document.positionOf(offset);
    throw new OAuthProfileError('data_invalid', `${label}:${line}:${column}: ${problem}`, { hint: hint ?? ADVICE });
  };
  const [first] = explainProblems(text, problems);
  if (first !== undefined) fail(first.offset, first.message, first.hint);
  if (root === undefined || (root.kind === 'scalar' && root.value === null)) return [];
  if (root.kind !== 'map') return fail(root.at.start, 'holds no map of variables', undefined);
  return toEntries(root, ({ start }) => document.positionOf(start).line, label);
}
