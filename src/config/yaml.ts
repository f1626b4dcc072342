import { toEntries } from './node.ts';
import { readPlainYaml } from './plain-yaml.ts';
import type { Entry } from './variables.ts';

/** Files of variables are small. */
const MAX_VALUES = 20_000;

/** Reads variables from YAML 1.2; nested maps become dotted names, scalars keep their spelling. */
export async function readYaml(text: string, label: string): Promise<Entry[]> {
  const plain = readPlainYaml(text, MAX_VALUES);
  if (plain?.root.kind === 'map') return toEntries(plain.root, ({ start }) => plain.positionOf(start).line, label);
  return (await import('./careful-yaml.ts')).readCarefulYaml(text, label, MAX_VALUES);
}
