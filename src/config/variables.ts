import { Secret } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { closestMatch, type SuggestionBudget } from './suggestions.ts';
import { type Collection, isCollection, isEmpty, mapCollection, toText, type Value } from './value.ts';

/** The origin of variables, and how far it is trusted. */
export interface Source {
  /** The name of the source in messages: a file's path, `--set`, `data`. */
  readonly label: string;
  /** The directory that relative paths start from. */
  readonly directory: string;
  /**
   * `user`: the user's own profile file. `directory`: the profile file of the working directory, which may be someone else's.
   * `script`: the `data:` of a script. `given`: named by the user or the program: `--data`, `--set`, `data`.
   */
  readonly trust: 'user' | 'directory' | 'script' | 'given';
  /** Numbers of the steps of a script whose responses the value came from. */
  readonly responsesOf?: readonly number[] | undefined;
}

/** A variable of a file or a program. */
export interface Entry {
  readonly name: string;
  readonly value: Value;
  readonly line?: number | undefined;
  /** The value has no references: `${` has no meaning in it. */
  readonly literal?: boolean | undefined;
}

/** A variable with its source. */
export interface Variable extends Entry {
  readonly source: Source;
}

/** Returns `oauth-profiles.yaml:4`, or the source alone if it has no lines. */
export function locationOf(variable: Variable): string {
  return variable.line === undefined ? variable.source.label : `${variable.source.label}:${variable.line}`;
}

/** Returns the profile of a variable: `graph` for `graph.type`, `graph.options.timeout` and `graph.basic.user`. */
export function profileNameOf(name: string): string | undefined {
  const last = name.lastIndexOf('.');
  const before = name.lastIndexOf('.', last - 1);
  const end = before >= 0 && ['options', 'basic'].includes(name.slice(before + 1, last)) ? before : last;
  return end > 0 ? name.slice(0, end) : undefined;
}

/** Returns the profile of a variable, or the name itself if it belongs to none. */
export function ownerOf(name: string): string {
  return profileNameOf(name) ?? name;
}

/** Yields the owner of a variable and every other profile that reads it: options may be nested (`graph.options.a.b`). */
function* ownersOf(name: string): Generator<string> {
  yield ownerOf(name);
  for (const { index } of name.matchAll(/\.(?=(?:options|basic)\.)/g)) if (index > 0) yield name.slice(0, index);
}

/** Wraps a value as a secret; a collection, item by item. */
export function wrapSecret(value: Value): Value {
  if (isCollection(value)) return mapCollection(value, wrapSecret);
  const text = toText(value);
  return typeof text === 'string' && !isEmpty(value) ? new Secret(text) : value;
}

/** Wraps a value, or the members of a collection, whose name is that of a secret. */
export function wrapSecretsByName(name: string, value: Value): Value {
  if (isSensitiveName(name)) return wrapSecret(value);
  return isCollection(value) ? mapCollection(value, wrapMember) : value;
}

const wrapMember = (value: Value, name = ''): Value => wrapSecretsByName(name, value);

/** Whether a step stored a response under a plain name. In a response named `token`, `expires_in` is not a secret. */
function isResponse(name: string, value: Value): value is Collection {
  return isCollection(value) && !Array.isArray(value) && !name.includes('.');
}

/** All variables of a run. A variable replaces an earlier one of the same name. */
export class Variables {
  /** Where to define a profile that is missing, for hints: profile files, or the `data` of a program. */
  readonly home: string;
  /** A file that was not read because its name is not quite that of a profile file. */
  readonly misnamed: string | undefined;
  readonly #byName = new Map<string, Variable>();
  /** The profile files and the script that define each owner. */
  readonly #definedIn = new Map<string, Set<Source>>();
  /** Indexes of names, built at first use. */
  #byPrefix: Map<string, Variable[]> | undefined;
  #profiles: string[] | undefined;
  /** 9,000 misspelled references must not be compared with 9,000 names each. */
  readonly #budget: SuggestionBudget = { candidates: 20_000 };

  constructor(home = 'oauth-profiles.yaml, or in a file given with --data', misnamed?: string) {
    this.home = home;
    this.misnamed = misnamed;
  }

  /** Adds variables that override single fields of a profile. */
  add(entries: Iterable<Entry>, source: Source): this {
    this.#clearIndexes();
    for (const entry of entries) {
      const { name, value } = entry;
      this.#byName.set(name, {
        name,
        value: isResponse(name, value) ? mapCollection(value, wrapMember) : wrapSecretsByName(name, value),
        line: entry.line,
        literal: entry.literal,
        source,
      });
    }
    return this;
  }

  /** Adds the variables of a profile file or a script, which define a profile as a whole: see {@link conflictingSources}. */
  define(entries: readonly Entry[], source: Source): this {
    for (const { name } of entries) {
      for (const owner of ownersOf(name)) {
        const definedIn = this.#definedIn.get(owner) ?? new Set();
        this.#definedIn.set(owner, definedIn.add(source));
      }
    }
    return this.add(entries, source);
  }

  /** Adds the variables of a script that another one runs. What is defined already stays, a profile as a whole. */
  addDefaults(entries: readonly Entry[], source: Source): this {
    const isDefined = (name: string): boolean => this.#byName.has(name) || this.#byName.has(`${ownerOf(name)}.type`);
    return this.define(
      entries.filter(({ name }) => !isDefined(name)),
      source,
    );
  }

  /**
   * Returns the sources, `a and b`, if a profile is defined in two of: the user's file, the directory's file, a script. A cloned
   * repository must not redirect a profile of the user. For the same reason a plain variable may not be in both files, but a script may
   * replace it.
   */
  conflictingSources(name: string): string | undefined {
    const isProfile = this.#byName.has(`${name}.type`);
    const sources = [...(this.#definedIn.get(name) ?? [])].filter(({ trust }) => isProfile || trust !== 'script');
    return sources.length > 1 ? sources.map(({ label }) => label).join(' and ') : undefined;
  }

  /** Sets a variable while a script runs. Its value has no references, and only the field of a profile is a secret because of its name. */
  assign(name: string, value: Value, source: Source): void {
    if (name.includes('.')) this.add([{ name, value, literal: true }], source);
    else this.#byName.set(name, { name, value, literal: true, source });
  }

  /** Returns variables that can be changed without changing these. */
  clone(): Variables {
    const clone = new Variables();
    for (const [name, variable] of this.#byName) clone.#byName.set(name, variable);
    for (const [owner, sources] of this.#definedIn) clone.#definedIn.set(owner, new Set(sources));
    return clone;
  }

  get(name: string): Variable | undefined {
    return this.#byName.get(name);
  }

  delete(name: string): boolean {
    this.#clearIndexes();
    return this.#byName.delete(name);
  }

  /** Returns the variables whose names start with `prefix` and a dot, in the order of their definition. */
  below(prefix: string): readonly Variable[] {
    if (this.#byPrefix === undefined) {
      this.#byPrefix = new Map();
      for (const variable of this) {
        for (const { index } of variable.name.matchAll(/\./g)) {
          const start = variable.name.slice(0, index);
          const known = this.#byPrefix.get(start);
          if (known === undefined) this.#byPrefix.set(start, [variable]);
          else known.push(variable);
        }
      }
    }
    return this.#byPrefix.get(prefix) ?? [];
  }

  /** Returns the names of all profiles: of all variables `<profile>.type`. */
  profileNames(): readonly string[] {
    this.#profiles ??= Array.from(this.names()).flatMap((name) => /^(.+)\.type$/s.exec(name)?.[1] ?? []);
    return this.#profiles;
  }

  /** Returns the candidate most similar to `name`. After many calls there are no more suggestions. */
  suggest(name: string, candidates: Iterable<string> = this.names()): string | undefined {
    return closestMatch(name, candidates, this.#budget);
  }

  #clearIndexes(): void {
    this.#byPrefix = undefined;
    this.#profiles = undefined;
  }

  names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  [Symbol.iterator](): IterableIterator<Variable> {
    return this.#byName.values();
  }
}
