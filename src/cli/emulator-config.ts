import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { toValue } from '../config/node.ts';
import { type ExternalSources, Resolver } from '../config/resolver.ts';
import { isCollection, mapCollection, RawScalar, type Value } from '../config/value.ts';
import { Variables } from '../config/variables.ts';
import type { EmulatorOptions } from '../emulator/config.ts';
import { OAuthProfileError } from '../errors.ts';
import { readNamedFile } from '../files/profile-files.ts';
import { Secret } from '../redaction/secret.ts';
import type { Context } from './context.ts';

const FILE = 'emulator.yaml';
const MAX_VALUES = 20_000;

/** The configuration in the file that `--config` names, or in `emulator.yaml` in the working directory if it exists. */
export async function readEmulatorConfig(
  { args, environment }: Context,
  sources: ExternalSources,
): Promise<Pick<EmulatorOptions, 'directory'> & Readonly<Record<string, unknown>>> {
  const [named] = args.values.get('config') ?? [];
  const path = named ?? FILE;
  if (named === undefined && !existsSync(resolve(environment.cwd, FILE))) return {};
  const { text, source } = readNamedFile(path, environment);
  const { parseYaml } = await import('../config/yaml.ts');
  const { root, issues, positionOf } = parseYaml(text, MAX_VALUES);
  const [issue] = issues;
  if (issue !== undefined || root === undefined || root.kind !== 'map') {
    const { line, column } = positionOf(issue?.offset ?? 0);
    const message = issue?.message ?? 'expected a map with members such as users and clients';
    throw new OAuthProfileError('data_invalid', `${path}:${line}:${column}: ${message}`, {
      hint: issue?.hint ?? 'see the reference of emulator.yaml',
    });
  }
  // A file of the working directory may have come with a repository, so it may read only files next to it.
  const trust = named === undefined ? 'directory' : 'given';
  const resolver = new Resolver(new Variables(), sources);
  const value = reveal(resolver.follow(toValue(root), { ...source, trust }));
  return { ...(value as Record<string, unknown>), directory: dirname(resolve(environment.cwd, path)) };
}

/** The emulator must recognise the secrets, and knows nothing of the types of this program. */
function reveal(value: Value): Value {
  if (value instanceof Secret) return value.reveal();
  if (value instanceof RawScalar) return value.value;
  return isCollection(value) ? mapCollection(value, reveal) : value;
}
