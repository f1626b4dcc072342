import { flatten } from '../../src/config/flatten.ts';
import { type ExternalSources, Resolver } from '../../src/config/resolver.ts';
import type { Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { Secret } from '../../src/redaction/secret.ts';

/** One source of each kind. */
export const sources = {
  user: { label: '/home/ada/.config/oauth-profile/oauth-profiles.yaml', directory: '/home/ada', trust: 'user' },
  directory: { label: 'oauth-profiles.yaml', directory: '/work', trust: 'directory' },
  script: { label: 'me.yaml', directory: '/work', trust: 'script' },
  given: { label: 'data', directory: '', trust: 'given' },
} as const satisfies Record<string, Source>;

/** Environment variables and files of a test. */
export interface External {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** Creates variables of several sources, added in the order of a run. */
export function variablesOf(data: { [kind in keyof typeof sources]?: Readonly<Record<string, unknown>> }): Variables {
  const variables = new Variables();
  for (const kind of ['user', 'directory', 'script'] as const) {
    const source = sources[kind];
    if (data[kind] !== undefined) variables.define(flatten(data[kind], source.label), source);
  }
  if (data.given !== undefined) variables.add(flatten(data.given, sources.given.label), sources.given);
  return variables;
}

/** External sources with these files and environment variables only. */
export function createSources(
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): ExternalSources {
  return {
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    readFileInside: (path) => (Object.hasOwn(files, path) ? files[path] : undefined),
  };
}

/** Creates a resolver with these environment variables and files. */
export function resolverOf(variables: Variables, { env, files }: External = {}): Resolver {
  return new Resolver(variables, createSources(files, env));
}

/** Resolves a variable. */
export function resolved(variables: Variables, name: string, external?: External): Value {
  const variable = variables.get(name);
  if (variable === undefined) throw new TypeError(`${name} is not defined`);
  return resolverOf(variables, external).resolve(variable);
}

/** Returns a value with its secrets as `{ secret: … }`, to compare. */
export function shown(value: Value): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shown(part)]));
}
