import { dataError, type OAuthProfileError } from '../errors.ts';
import { joinStrings, Secret } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { isEnvFile } from './dotenv.ts';
import { hasReference, parseTemplate, type Reference, type Template } from './reference.ts';
import { HeaderMap, isCollection, isEmpty, mapCollection, toText, type Value } from './value.ts';
import { locationOf, ownerOf, type Source, type Variable, type Variables, wrapSecret } from './variables.ts';

/** The environment variables and files that `${env:…}` and `${file:…}` read. */
export interface ExternalSources {
  env(name: string): string | undefined;
  /**
   * Returns the content of a UTF-8 file, or that of any file in base64; `undefined` if it does not exist. Throws if `source` may not read
   * the path.
   */
  readFileInside(path: string, source: Source, encoding?: 'utf8' | 'base64'): string | undefined;
}

/** Calls a function of a reference. The name and the number of arguments are valid. */
export type CallFunction = (name: string, args: readonly Value[]) => Value;

/** Characters of one value. A larger value comes from references that multiply each other. */
const MAX_LENGTH = 1_048_576;
/** Characters of all values together. */
const MAX_TOTAL = 16 * MAX_LENGTH;
/** Variables that refer to each other in a row; more would overflow the stack. */
const MAX_REFERENCE_DEPTH = 100;
/** Environment variables that configure this program, such as the key of the vault. */
const OWN_VARIABLE = /^OAUTH_PROFILE_/i;
/** Names listed in a hint. */
const MAX_LISTED = 12;

/** Resolves the references in values, each variable once. */
export class Resolver {
  readonly #variables: Variables;
  readonly #sources: ExternalSources;
  readonly #resolved = new Map<string, Value>();
  /** Names of the variables that are being resolved, the outermost first. */
  readonly #active: string[] = [];
  readonly #external = new Set<string>();
  readonly #sizes = new Map<object, number>();
  #total = 0;

  /** Without `callFunction`, a reference to a function is an error. `onRead` is called with each variable that a reference names. */
  constructor(
    variables: Variables,
    sources: ExternalSources,
    readonly callFunction?: CallFunction,
    readonly onRead?: (variable: Variable) => void,
  ) {
    this.#variables = variables;
    this.#sources = sources;
  }

  /** Returns the value of a variable with all references resolved. */
  resolve(variable: Variable): Value {
    const { name, value, literal } = variable;
    if (literal || !containsReference(value)) return value;
    const known = this.#resolved.get(name);
    if (known !== undefined) return known;
    const hint = `set ${name} to a value without this reference`;
    if (this.#active.includes(name)) {
      const cycle = [...this.#active.slice(this.#active.indexOf(name)), name].join(' → ');
      throw dataError(`circular reference: ${cycle}`, hint);
    }
    if (this.#active.length >= MAX_REFERENCE_DEPTH) {
      throw dataError(`more than ${MAX_REFERENCE_DEPTH} nested references`, hint);
    }
    this.#active.push(name);
    try {
      const resolved = this.#resolveValue(value, variable);
      this.#resolved.set(name, resolved);
      return resolved;
    } finally {
      this.#active.pop();
    }
  }

  /** Whether the value of a variable contains data from `${env:…}` or `${file:…}`, directly or through another variable. */
  isExternal(variable: Variable): boolean {
    this.resolve(variable);
    return this.#external.has(variable.name);
  }

  /** Resolves a value that is not a variable, such as a parameter of a step. */
  follow(value: Value, source: Source): Value {
    return containsReference(value) ? this.#resolveValue(value, { name: '', value, source }) : value;
  }

  #resolveValue(value: Value, variable: Variable): Value {
    if (typeof value === 'string') return hasReference(value) ? this.#fill(parseTemplate(value), variable) : value;
    if (value instanceof Secret) return this.#resolveSecret(value.reveal(), variable);
    if (!isCollection(value)) return value;
    const resolved = mapCollection(value, (item) => this.#resolveValue(item, variable));
    checkLength(this.#sizeOf(resolved), MAX_LENGTH);
    return resolved;
  }

  /** Returns the size of a value written out: lists that share their items take little memory. */
  #sizeOf(value: Value): number {
    if (!isCollection(value)) return toText(value).length + 1;
    let size = this.#sizes.get(value);
    if (size === undefined) {
      size = Object.values(value).reduce((sum: number, item: Value) => sum + this.#sizeOf(item), 1);
      this.#sizes.set(value, size);
    }
    return size;
  }

  /** A string that looks like a reference may be part of a password, so an error quotes only a reference that is the whole value. */
  #resolveSecret(text: string, variable: Variable): Value {
    try {
      return wrapSecret(this.#fill(parseTemplate(text), variable));
    } catch (error) {
      if (/^\$\{[^{}]*\}$/.test(text)) throw error;
      throw dataError('the value contains an invalid reference', 'correct the ${…}; for a literal ${, write $${');
    }
  }

  #fill(template: Template, variable: Variable): Value {
    const [only] = template;
    if (template.length === 1 && only !== undefined) {
      return typeof only === 'string' ? only : this.#lookUp(only, variable);
    }
    let length = 0;
    const parts = template.map((part) => {
      const text = typeof part === 'string' ? part : this.#lookUpText(part, variable);
      length += text.length;
      checkLength(length, MAX_LENGTH);
      return text;
    });
    this.#total += length;
    checkLength(this.#total, MAX_TOTAL);
    return joinStrings(parts);
  }

  #lookUpText(reference: Reference, variable: Variable): string | Secret {
    const value = this.#lookUp(reference, variable);
    if (!isCollection(value)) return toText(value);
    const kind = Array.isArray(value) ? 'list' : 'map';
    const names = Array.isArray(value) ? [...value.keys()].map((index) => `[${index}]`) : Object.keys(value);
    throw dataError(`${reference.text} is a ${kind} and cannot be part of a string`, listMembers(names));
  }

  #lookUp(reference: Reference, variable: Variable): Value {
    if (reference.kind === 'function') return this.#call(reference, variable);
    const found =
      reference.kind === 'variable' ? this.#findVariable(reference, variable) : this.#readExternal(reference, variable);
    if (reference.fallback !== undefined && isEmpty(found)) return this.#fill(reference.fallback, variable);
    if (found === undefined || (reference.kind === 'env' && isEmpty(found))) {
      throw reference.kind === 'variable' ? this.#undefinedName(reference) : this.#missing(reference, found);
    }
    return found;
  }

  #call({ text, names: [name = ''], args = [] }: Reference, variable: Variable): Value {
    if (this.callFunction === undefined) {
      const hint = 'write a value, or set it in the data of a script';
      throw dataError(`${text}: functions can be used in scripts only`, hint);
    }
    const values = args.map((arg) => (typeof arg === 'object' ? this.#lookUp(arg, variable) : arg));
    const result = this.callFunction(name, values);
    return values.some(holdsSecret) ? wrapSecret(result) : result;
  }

  #readExternal({ kind, names: [name = ''] }: Reference, variable: Variable): Value | undefined {
    if (kind === 'env' && OWN_VARIABLE.test(name)) {
      const hint = 'OAUTH_PROFILE_* variables configure oauth-profile itself: use a variable with another name';
      throw dataError(`environment variable ${name} cannot be used in profiles and scripts`, hint);
    }
    const text =
      kind === 'env'
        ? this.#sources.env(name)
        : this.#sources.readFileInside(name, variable.source)?.replace(/\r?\n$/, '');
    if (!text) return text;
    for (const active of this.#active) this.#external.add(active);
    // In `client_secret.txt` the dot does not separate names.
    return isSensitiveName(kind === 'file' ? name.replaceAll('.', '_') : name) ? new Secret(text) : text;
  }

  #findVariable(reference: Reference, referrer: Variable): Value | undefined {
    const [target, path] = this.#target(reference) ?? [];
    if (target === undefined) return undefined;
    this.#rejectConflict(target);
    this.onRead?.(target);
    const [from, to] = [referrer.source.trust, target.source.trust];
    if (from === 'user' && (to === 'directory' || to === 'script')) {
      const origin = to === 'script' ? 'script' : 'profile file of the working directory';
      throw forbiddenReference(referrer, target, `a ${origin} must not change your own profiles`);
    }
    const found = member(this.resolve(target), path ?? []);
    if (from === 'directory' && to === 'user' && found !== undefined && holdsSecret(found)) {
      throw forbiddenReference(
        referrer,
        target,
        'the profile file of the working directory must not read your secrets',
      );
    }
    if (this.#external.has(target.name)) for (const active of this.#active) this.#external.add(active);
    return found;
  }

  /** Finds the longest defined name, `graph.client_id` before member `client_id` of `graph`, and the remaining path. */
  #target({ names, members }: Reference): [Variable, (string | number)[]] | undefined {
    const path = [...names, ...members];
    for (let length = path.length; length > 0; length--) {
      const target = this.#variables.get(path.slice(0, length).join('.'));
      if (target !== undefined) return [target, path.slice(length)];
    }
    return undefined;
  }

  #rejectConflict({ name, source }: Variable): void {
    const sources = source.trust === 'given' ? undefined : this.#variables.conflictingSources(ownerOf(name));
    if (sources === undefined) return;
    const hint = `rename one of the two, or set ${name} with --data or --set`;
    throw dataError(`${name} is defined in both ${sources}`, hint);
  }

  #undefinedName(reference: Reference): OAuthProfileError {
    const { text } = reference;
    const members = this.#variables.below(text);
    if (members.length > 0) {
      return dataError(`${text} is a map, not a value`, listMembers(members.map(({ name }) => name)));
    }
    // `${NAME}` is a habit from shells, `${env.NAME}` from other tools.
    const variable = text.replace(/^env\./, '');
    const isEnvironmentVariable = !OWN_VARIABLE.test(variable) && this.#sources.env(variable) !== undefined;
    const near = isEnvironmentVariable
      ? `\${env:${variable}}`
      : this.#variables.suggest(text, this.#candidates(reference));
    const hint = near === undefined ? `define ${text}, or write \${${text}:-default}` : `did you mean ${near}?`;
    return dataError(`${text} is not defined`, hint);
  }

  #missing({ kind, text, names: [name = ''] }: Reference, found: Value | undefined): OAuthProfileError {
    if (kind === 'file') return dataError(`file ${name} does not exist`, 'create it, or correct the path');
    const label = this.#variables.get(name)?.source.label;
    const other = label !== undefined && isEnvFile(label) ? ', or pass the file with --env-file' : '';
    const hint =
      label === undefined
        ? `set ${name}, or write \${${text}:-default}`
        : `${name} is a variable of ${label}: write \${${name}}${other}`;
    return dataError(`environment variable ${name} is ${found === undefined ? 'not set' : 'empty'}`, hint);
  }

  /** Yields the names that a reference may have meant: all variables, and the members of the one that it refers into. */
  *#candidates(reference: Reference): Iterable<string> {
    yield* this.#variables.names();
    const [target, path = []] = this.#target(reference) ?? [];
    if (target === undefined) return;
    const value = this.resolve(target);
    const missing = path.findIndex((_, index) => member(value, path.slice(0, index + 1)) === undefined);
    const parent = member(value, path.slice(0, missing));
    if (parent === undefined || !isCollection(parent) || Array.isArray(parent)) return;
    for (const name of Object.keys(parent)) yield [target.name, ...path.slice(0, missing), name].join('.');
  }
}

/** The user's own file and that of a directory, which may be someone else's, must not influence each other. */
function forbiddenReference(referrer: Variable, target: Variable, reason: string): OAuthProfileError {
  const message = `${locationOf(referrer)} cannot refer to ${target.name} in ${locationOf(target)}: ${reason}`;
  const hint = `define ${target.name} in ${referrer.source.label}, or pass it with --data, --set or \${env:…}`;
  return dataError(message, hint);
}

function listMembers(names: readonly string[]): string {
  if (names.length === 0) return 'it is empty: set a value, or remove the reference';
  return `use one of its members: ${names.slice(0, MAX_LISTED).join(', ')}${names.length > MAX_LISTED ? ', …' : ''}`;
}

function checkLength(length: number, limit: number): void {
  if (length <= limit) return;
  throw dataError(`the value is longer than ${limit} characters`, 'check for references that repeat each other');
}

/** Whether a value is or contains a secret. */
export function holdsSecret(value: Value): boolean {
  return value instanceof Secret || (isCollection(value) && Object.values(value).some(holdsSecret));
}

function containsReference(value: Value): boolean {
  if (typeof value === 'string') return hasReference(value);
  if (value instanceof Secret) return value.test(hasReference);
  return isCollection(value) && Object.values(value).some(containsReference);
}

/** Returns the member of a value at a path. Only own members count, never those of a prototype. */
export function member(value: Value, path: readonly (string | number)[]): Value | undefined {
  let current: Value = value;
  for (const name of path) {
    const key = current instanceof HeaderMap && typeof name === 'string' ? name.toLowerCase() : name;
    if (!isCollection(current) || !Object.hasOwn(current, key)) return undefined;
    if (key === 'length' && Array.isArray(current)) return undefined;
    current = (current as Record<string | number, Value>)[key] as Value;
  }
  return current;
}
