import { OAuthProfileError } from '../errors.ts';
import { joinTexts, Secret } from '../secret/secret.ts';
import { isSecretName } from '../secret/secret-names.ts';
import { nearest } from './nearest.ts';
import { hasReference, parseTemplate, type Reference, type Template } from './reference.ts';
import { isCompound, isEmpty, textOf, type Value } from './value.ts';
import { ownerOf, type Source, type Variable, type Variables, whereOf } from './variables.ts';

/** What `${env:…}` and `${file:…}` reach; handed in, so that this folder stays pure. */
export interface Outside {
  env(name: string): string | undefined;
  /** The file's text, `undefined` if there is none; a path outside the folder of a source that is bound to it throws. */
  readText(path: string, source: Source): string | undefined;
}

/** Larger values come from references that multiply each other. */
const MAX_LENGTH = 1_048_576;

/** Looks references up, each variable once. */
export class Resolver {
  readonly #resolved = new Map<string, Value>();
  readonly #underWay: string[] = [];

  constructor(
    readonly variables: Variables,
    readonly outside: Outside,
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
        advice: `give ${name} a value of its own`,
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

  #follow(value: Value, variable: Variable): Value {
    if (typeof value === 'string') return hasReference(value) ? this.#fill(parseTemplate(value), variable) : value;
    if (value instanceof Secret) return this.#followSecret(value.reveal(), variable);
    if (Array.isArray(value)) return value.map((item) => this.#follow(item, variable));
    return value;
  }

  /** A reference in the middle of a secret may be no reference at all but part of a password, so errors do not quote it. */
  #followSecret(text: string, variable: Variable): Value {
    try {
      const filled = this.#fill(parseTemplate(text), variable);
      return typeof filled === 'string' ? new Secret(filled) : filled;
    } catch (error) {
      if (/^\$\{[^{}]*\}$/.test(text)) throw error;
      throw new OAuthProfileError('data_invalid', 'a reference inside it cannot be followed', {
        advice: 'correct the ${…} in it; a literal ${ is written $${',
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
      if (length > MAX_LENGTH) throw new OAuthProfileError('data_invalid', `grows beyond ${MAX_LENGTH} characters`);
      return text;
    });
    return joinTexts(parts);
  }

  #textIn(reference: Reference, variable: Variable): string | Secret {
    const value = this.#lookUp(reference, variable);
    if (!isCompound(value)) return textOf(value);
    const fields = Array.isArray(value) ? `items 0 to ${value.length - 1}` : Object.keys(value).join(', ');
    throw new OAuthProfileError('data_invalid', `\${${reference.text}} has parts and cannot stand inside a text`, {
      advice: `name one of its parts: ${fields}`,
    });
  }

  #lookUp(reference: Reference, variable: Variable): Value {
    const found = this.#find(reference, variable);
    if (reference.fallback !== undefined && isEmpty(found)) return this.#fill(reference.fallback, variable);
    if (found === undefined) throw this.#undefined(reference);
    return found;
  }

  #find(reference: Reference, variable: Variable): Value | undefined {
    if (reference.kind === 'variable') return this.#findVariable(reference, variable);
    const name = reference.names[0] ?? '';
    const text = reference.kind === 'env' ? this.outside.env(name) : this.outside.readText(name, variable.source);
    if (text === undefined) return undefined;
    const value = reference.kind === 'file' ? text.replace(/\r?\n$/, '') : text;
    return isSecretName(name) ? new Secret(value) : value;
  }

  /** The longest defined name wins: `graph.client_id` before the member `client_id` of `graph`. */
  #findVariable({ names, members }: Reference, referrer: Variable): Value | undefined {
    for (let length = names.length; length > 0; length--) {
      const target = this.variables.get(names.slice(0, length).join('.'));
      if (target === undefined) continue;
      this.#refuseForeign(referrer, target);
      return member(this.resolve(target), [...names.slice(length), ...members]);
    }
    return undefined;
  }

  /** Keeps the user's own file and a working folder that may be a stranger's from using each other's variables. */
  #refuseForeign(referrer: Variable, target: Variable): void {
    const files = target.source.trust === 'given' ? undefined : this.variables.contested(ownerOf(target.name));
    if (files !== undefined) {
      throw new OAuthProfileError('data_invalid', `${target.name} stands in both ${files}`, {
        advice: `rename one of the two, or give ${target.name} with --data or --set`,
      });
    }
    const [from, to] = [referrer.source.trust, target.source.trust];
    const bends = from === 'user' && to === 'folder';
    const takes = from === 'folder' && to === 'user' && this.resolve(target) instanceof Secret;
    if (bends || takes) {
      throw new OAuthProfileError(
        'data_invalid',
        `${whereOf(referrer)} may not use ${target.name} of ${whereOf(target)}: ${
          bends ? 'a working folder must not change your own profiles' : 'a working folder must not take your secrets'
        }`,
        { advice: `define it in ${referrer.source.label}, or hand it over with --data, --set or \${env:…}` },
      );
    }
  }

  #undefined({ kind, text, names, members }: Reference): OAuthProfileError {
    if (kind === 'env') {
      return new OAuthProfileError('data_invalid', `environment variable ${names[0]} is not set`, {
        advice: `set ${names[0]}, or write \${${text}:-default}`,
      });
    }
    if (kind === 'file') {
      return new OAuthProfileError('data_invalid', `file ${names[0]} does not exist`, {
        advice: `create it, or correct the path in \${${text}}`,
      });
    }
    const name = names.join('.');
    const near = nearest(name, this.variables.names());
    const whole = members.length === 0 ? name : text;
    return new OAuthProfileError('data_invalid', `${whole} is not defined`, {
      advice: near === undefined ? `define ${name}, or write \${${text}:-default}` : `did you mean ${near}?`,
    });
  }
}

function mayRefer(value: Value): boolean {
  if (typeof value === 'string') return hasReference(value);
  if (value instanceof Secret) return value.test(hasReference);
  return Array.isArray(value) && value.some(mayRefer);
}

/** The part of a value at a path; only a value's own members count, never those of its prototype. */
export function member(value: Value, path: readonly (string | number)[]): Value | undefined {
  let current: Value = value;
  for (const step of path) {
    if (!isCompound(current) || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, Value>)[step] as Value;
  }
  return current;
}
