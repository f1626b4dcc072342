import { type DataObject, flatten } from '../../src/config/flatten.ts';
import { type ExternalSources, Resolver } from '../../src/config/resolver.ts';
import type { Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { Secret } from '../../src/redaction/secret.ts';

/** The three kinds of sources. */
export const sources = {
  user: { label: '/home/ada/.config/oauth-profile/oauth-profiles.yaml', directory: '/home/ada', trust: 'user' },
  folder: { label: 'oauth-profiles.yaml', directory: '/work', trust: 'directory' },
  given: { label: 'data', directory: '', trust: 'given' },
} as const satisfies Record<string, Source>;

/** What the tests know of the outside world. */
export interface World {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** Variables of the three sources, added in the order in which they are in a run. */
export function variablesOf(data: { user?: DataObject; folder?: DataObject; given?: DataObject }): Variables {
  const variables = new Variables();
  if (data.user !== undefined) variables.add(flatten(data.user, sources.user.label), sources.user);
  if (data.folder !== undefined) variables.addDirectoryFile(flatten(data.folder, sources.folder.label), sources.folder);
  if (data.given !== undefined) variables.add(flatten(data.given, sources.given.label), sources.given);
  return variables;
}

/** A resolver over variables, with an environment and files as given. */
export function resolverOf(variables: Variables, { env = {}, files = {} }: World = {}): Resolver {
  const outside: ExternalSources = {
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    readFileInside: (path) => (Object.hasOwn(files, path) ? files[path] : undefined),
  };
  return new Resolver(variables, outside);
}

/** What a variable resolves to. */
export function resolved(variables: Variables, name: string, world?: World): Value {
  const variable = variables.get(name);
  if (variable === undefined) throw new TypeError(`the test defines no ${name}`);
  return resolverOf(variables, world).resolve(variable);
}

/** The error of an act that has to fail in a way that a user can understand. */
export function failureOf(act: () => unknown): OAuthProfileError {
  try {
    act();
  } catch (error) {
    if (error instanceof OAuthProfileError) return error;
    throw error;
  }
  throw new TypeError('nothing failed');
}

/** A value with its secrets in clear but marked, for comparing. */
export function shown(value: Value): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shown(part)]));
}
