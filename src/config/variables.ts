import { Secret } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { type Collection, isCollection, isEmpty, mapCollection, toText, type Value } from './value.ts';

/** Where variables come from, and what that allows them. */
export interface Source {
  /** How the source is named to a person: a file's path, `--set`, `data`. */
  readonly label: string;
  /** The folder that relative paths start from. */
  readonly directory: string;
  /** `user`: the person's own file. `directory`: came with the working folder, perhaps from a stranger. `given`: named by the caller. */
  readonly trust: 'user' | 'directory' | 'given';
}

/** A variable as a reader found it. */
export interface Entry {
  readonly name: string;
  readonly value: Value;
  readonly line?: number | undefined;
  /** The text is taken as it is: `${` means nothing in it. */
  readonly literal?: boolean | undefined;
}

/** A variable with its source. */
export interface Variable extends Entry {
  readonly source: Source;
}

/** `oauth-profiles.yaml:4`, or the source alone where it has no lines. */
export function locationOf(variable: Variable): string {
  return variable.line === undefined ? variable.source.label : `${variable.source.label}:${variable.line}`;
}

/** The name of the profile that a variable of this name is part of; `options.…` and `basic.…` are the profile's own. */
export function profileNameOf(name: string): string | undefined {
  const last = name.lastIndexOf('.');
  const before = name.lastIndexOf('.', last - 1);
  const end = before >= 0 && ['options', 'basic'].includes(name.slice(before + 1, last)) ? before : last;
  return end > 0 ? name.slice(0, end) : undefined;
}

/** What a variable belongs to: its profile, or itself. */
export function ownerOf(name: string): string {
  return profileNameOf(name) ?? name;
}

/** What a variable belongs to, and every profile that takes it for its own all the same: `options.…` and `basic.…` are, however deep. */
function* ownersOf(name: string): Generator<string> {
  yield ownerOf(name);
  for (const { index } of name.matchAll(/\.(?=(?:options|basic)\.)/g)) if (index > 0) yield name.slice(0, index);
}

/** A value as a secret; what has parts, part by part. */
export function wrapSecret(value: Value): Value {
  if (isCollection(value)) return mapCollection(value, wrapSecret);
  const text = toText(value);
  return typeof text === 'string' && !isEmpty(value) ? new Secret(text) : value;
}

/** Hides what its own name or that of a member says is secret. */
export function wrapSecretsByName(name: string, value: Value): Value {
  if (isSensitiveName(name)) return wrapSecret(value);
  return isCollection(value) ? mapCollection(value, hideMember) : value;
}

const hideMember = (part: Value, member = ''): Value => wrapSecretsByName(member, part);

/** What a step stores under a plain name: in a response that is called token, `expires_in` is no secret. */
function isResponse(name: string, value: Value): value is Collection {
  return isCollection(value) && !Array.isArray(value) && !name.includes('.');
}

/** All variables of a call; of several with one name the one added last wins. */
export class Variables {
  readonly #byName = new Map<string, Variable>();
  readonly #contested = new Map<string, string>();

  add(entries: Iterable<Entry>, source: Source): this {
    for (const entry of entries) {
      const { name, value } = entry;
      this.#byName.set(name, {
        name,
        value: isResponse(name, value) ? mapCollection(value, hideMember) : wrapSecretsByName(name, value),
        line: entry.line,
        literal: entry.literal,
        source,
      });
    }
    return this;
  }

  /**
   * Adds the working folder's file after the user's own. A profile that stands in both is contested: a cloned repository must not
   * bend a profile of the user's elsewhere.
   */
  addDirectoryFile(entries: readonly Entry[], source: Source): this {
    const users = new Map<string, string>();
    for (const variable of this) {
      if (variable.source.trust !== 'user') continue;
      for (const claimant of ownersOf(variable.name)) users.set(claimant, variable.source.label);
    }
    for (const { name } of entries) {
      for (const claimant of ownersOf(name)) {
        const label = users.get(claimant);
        if (label !== undefined) this.#contested.set(claimant, `${label} and ${source.label}`);
      }
    }
    return this.add(entries, source);
  }

  /** The two files that both define the profile (or the plain variable) `name`. */
  conflictingSources(name: string): string | undefined {
    return this.#contested.get(name);
  }

  get(name: string): Variable | undefined {
    return this.#byName.get(name);
  }

  delete(name: string): boolean {
    return this.#byName.delete(name);
  }

  names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  [Symbol.iterator](): IterableIterator<Variable> {
    return this.#byName.values();
  }
}
