import { OAuthProfileError } from '../errors.ts';
import { joinStrings, Secret } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { hasReference, parseTemplate, type Reference, type Template } from './reference.ts';
import { closestMatch } from './suggestions.ts';
import { HeaderMap, isCollection, isEmpty, mapCollection, toText, type Value } from './value.ts';
import { locationOf, ownerOf, type Source, type Variable, type Variables, wrapSecret } from './variables.ts';

/** What `${env:…}` and `${file:…}` reach; handed in, so that this folder stays pure. */
export interface ExternalSources {
  env(name: string): string | undefined;
  /** The file's text, `undefined` if there is none; a path outside the folder of a source that is bound to it throws. */
  readFileInside(path: string, source: Source): string | undefined;
}

/** Larger values come from references that multiply each other. */
const MAX_LENGTH = 1_048_576;
/** All texts together. */
const MAX_TOTAL = 16 * MAX_LENGTH;
/** Longer chains of references would exhaust the stack. */
const MAX_CHAIN = 100;
/** As many parts of a value are named in an hint. */
const MAX_NAMED = 12;

/** Looks references up, each variable once. */
export class Resolver {
  readonly #resolved = new Map<string, Value>();
  readonly #underWay: string[] = [];
  readonly #sizes = new Map<object, number>();
  #total = 0;

  constructor(
    readonly variables: Variables,
    readonly outside: ExternalSources,
  ) {}

  /** The variable's value with all references followed; what cannot be followed is an error that names it. */
  resolve(variable: Variable): Value {
    const { name, value, literal } = variable;
    if (literal || !mayRefer(value)) return value;
    const known = this.#resolved.get(name);
    if (known !== undefined) return known;
    if (this.#underWay.includes(name)) {
      const circle = [...this.#underWay.slice(this.#underWay.indexOf(name)), name].join(' → ');
      throw new OAuthProfileError('data_invalid', `refers to itself: ${circle}`, {
        hint: `give ${name} a value of its own`,
      });
    }
    if (this.#underWay.length >= MAX_CHAIN) {
      throw new OAuthProfileError('data_invalid', `refers to others over more than ${MAX_CHAIN} steps`, {
        hint: `give ${name} a value of its own`,
      });
    }
    this.#underWay.push(name);
    try {
      const resolved = this.#follow(value, variable);
      this.#resolved.set(name, resolved);
      return resolved;
    } finally {
      this.#underWay.pop();
    }
  }

  /** The same for a value that is no variable, such as a parameter of a step. */
  follow(value: Value, source: Source): Value {
    return mayRefer(value) ? this.#follow(value, { name: '', value, source }) : value;
  }

  #follow(value: Value, variable: Variable): Value {
    if (typeof value === 'string') return hasReference(value) ? this.#fill(parseTemplate(value), variable) : value;
    if (value instanceof Secret) return this.#followSecret(value.reveal(), variable);
    if (!isCollection(value)) return value;
    let size = 0;
    const followed = mapCollection(value, (part) => {
      const found = this.#follow(part, variable);
      size += this.#sizeOf(found);
      refuseGrowth(size, MAX_LENGTH);
      return found;
    });
    this.#sizes.set(followed, size);
    return followed;
  }

  /** What a value would be, written out: lists of lists share their parts and look small. */
  #sizeOf(value: Value): number {
    if (!isCollection(value)) return toText(value).length + 1;
    let size = this.#sizes.get(value);
    if (size === undefined) {
      size = Object.values(value).reduce((sum: number, part: Value) => sum + this.#sizeOf(part), 1);
      this.#sizes.set(value, size);
    }
    return size;
  }

  /** A reference in the middle of a secret may be no reference at all but part of a password, so errors do not quote it. */
  #followSecret(text: string, variable: Variable): Value {
    try {
      return wrapSecret(this.#fill(parseTemplate(text), variable));
    } catch (error) {
      if (/^\$\{[^{}]*\}$/.test(text)) throw error;
      throw new OAuthProfileError('data_invalid', 'a reference inside it cannot be followed', {
        hint: 'correct the ${…} in it; a literal ${ is written $${',
      });
    }
  }

  #fill(template: Template, variable: Variable): Value {
    const [only] = template;
    if (template.length === 1 && only !== undefined) {
      return typeof only === 'string' ? only : this.#lookUp(only, variable);
    }
    let length = 0;
    const parts = template.map((part) => {
      const text = typeof part === 'string' ? part : this.#textIn(part, variable);
      length += text.length;
      refuseGrowth(length, MAX_LENGTH);
      return text;
    });
    this.#total += length;
    refuseGrowth(this.#total, MAX_TOTAL);
    return joinStrings(parts);
  }

  #textIn(reference: Reference, variable: Variable): string | Secret {
    const value = this.#lookUp(reference, variable);
    if (!isCollection(value)) return toText(value);
    throw new OAuthProfileError('data_invalid', `\${${reference.text}} has parts and cannot stand inside a text`, {
      hint: adviseParts(Array.isArray(value) ? [...value.keys()].map((index) => `[${index}]`) : Object.keys(value)),
    });
  }

  #lookUp(reference: Reference, variable: Variable): Value {
    const found = this.#find(reference, variable);
    if (reference.fallback !== undefined && isEmpty(found)) return this.#fill(reference.fallback, variable);
    if (found === undefined) throw reference.kind === 'variable' ? this.#undefined(reference) : missing(reference);
    return found;
  }

  #find(reference: Reference, variable: Variable): Value | undefined {
    if (reference.kind === 'variable') return this.#findVariable(reference, variable);
    const name = reference.names[0] ?? '';
    const text = reference.kind === 'env' ? this.outside.env(name) : this.outside.readFileInside(name, variable.source);
    if (text === undefined) return undefined;
    const value = reference.kind === 'file' ? text.replace(/\r?\n$/, '') : text;
    // The dots of a path separate no names: `client_secret.txt` holds a secret.
    return isSensitiveName(reference.kind === 'file' ? name.replaceAll('.', '_') : name) ? new Secret(value) : value;
  }

  #findVariable(reference: Reference, referrer: Variable): Value | undefined {
    const [target, path] = this.#target(reference) ?? [];
    if (target === undefined) return undefined;
    this.#refuseContested(target);
    const [from, to] = [referrer.source.trust, target.source.trust];
    if (from === 'user' && to === 'directory') {
      throw foreign(referrer, target, 'a working folder must not change your own profiles');
    }
    const found = member(this.resolve(target), path ?? []);
    if (from === 'directory' && to === 'user' && found !== undefined && holdsSecret(found)) {
      throw foreign(referrer, target, 'a working folder must not take your secrets');
    }
    return found;
  }

  /** The longest defined name wins: `graph.client_id` before the member `client_id` of `graph`. What is left is the path into it. */
  #target({ names, members }: Reference): [Variable, (string | number)[]] | undefined {
    const path = [...names, ...members];
    for (let length = path.length; length > 0; length--) {
      const target = this.variables.get(path.slice(0, length).join('.'));
      if (target !== undefined) return [target, path.slice(length)];
    }
    return undefined;
  }

  #refuseContested(target: Variable): void {
    const files = target.source.trust === 'given' ? undefined : this.variables.conflictingSources(ownerOf(target.name));
    if (files !== undefined) {
      throw new OAuthProfileError('data_invalid', `${target.name} stands in both ${files}`, {
        hint: `rename one of the two, or give ${target.name} with --data or --set`,
      });
    }
  }

  #undefined(reference: Reference): OAuthProfileError {
    const { text } = reference;
    const parts = [...this.variables.names()].filter((name) => name.startsWith(`${text}.`));
    if (parts.length > 0) {
      return new OAuthProfileError('data_invalid', `${text} has parts and is no value of its own`, {
        hint: adviseParts(parts),
      });
    }
    const near = closestMatch(text, this.#names(reference));
    return new OAuthProfileError('data_invalid', `${text} is not defined`, {
      hint: near === undefined ? `define ${text}, or write \${${text}:-default}` : `did you mean ${near}?`,
    });
  }

  /** All names that a reference could have meant: the variables, and the members of the one that it reaches into. */
  *#names(reference: Reference): Iterable<string> {
    yield* this.variables.names();
    const [target, path] = this.#target(reference) ?? [];
    if (target === undefined || path === undefined) return;
    const beginning = path.findIndex(
      (_, length) => member(this.resolve(target), path.slice(0, length + 1)) === undefined,
    );
    const parent = member(this.resolve(target), path.slice(0, beginning));
    if (parent === undefined || !isCollection(parent) || Array.isArray(parent)) return;
    for (const name of Object.keys(parent)) yield [target.name, ...path.slice(0, beginning), name].join('.');
  }
}

function missing({ kind, text, names }: Reference): OAuthProfileError {
  if (kind === 'env') {
    return new OAuthProfileError('data_invalid', `environment variable ${names[0]} is not set`, {
      hint: `set ${names[0]}, or write \${${text}:-default}`,
    });
  }
  return new OAuthProfileError('data_invalid', `file ${names[0]} does not exist`, {
    hint: `create it, or correct the path in \${${text}}`,
  });
}

/** The user's own file and a working folder that may be a stranger's do not use each other's variables. */
function foreign(referrer: Variable, target: Variable, reason: string): OAuthProfileError {
  const problem = `${locationOf(referrer)} may not use ${target.name} of ${locationOf(target)}: ${reason}`;
  return new OAuthProfileError('data_invalid', problem, {
    hint: `define it in ${referrer.source.label}, or hand it over with --data, --set or \${env:…}`,
  });
}

function adviseParts(names: readonly string[]): string {
  if (names.length === 0) return 'it is empty: give it a value, or remove the reference';
  return `name one of its parts: ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ', …' : ''}`;
}

function refuseGrowth(length: number, limit: number): void {
  if (length <= limit) return;
  throw new OAuthProfileError('data_invalid', `grows beyond ${limit} characters`, {
    hint: 'look for references that multiply each other',
  });
}

/** Whether a value is a secret or has one among its parts. */
export function holdsSecret(value: Value): boolean {
  return value instanceof Secret || (isCollection(value) && Object.values(value).some(holdsSecret));
}

function mayRefer(value: Value): boolean {
  if (typeof value === 'string') return hasReference(value);
  if (value instanceof Secret) return value.test(hasReference);
  return isCollection(value) && Object.values(value).some(mayRefer);
}

/** The part of a value at a path; only a value's own members count, never those of its prototype. */
export function member(value: Value, path: readonly (string | number)[]): Value | undefined {
  let current: Value = value;
  for (const name of path) {
    const step = current instanceof HeaderMap && typeof name === 'string' ? name.toLowerCase() : name;
    if (!isCollection(current) || !Object.hasOwn(current, step)) return undefined;
    if (step === 'length' && Array.isArray(current)) return undefined;
    current = (current as Record<string | number, Value>)[step] as Value;
  }
  return current;
}
