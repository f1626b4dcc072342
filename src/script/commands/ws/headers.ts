import { parsePath } from '../../../config/reference.ts';
import { isCollection, toText } from '../../../config/value.ts';
import { isForbiddenHeader, isHeaderName, isHeaderValue } from '../../../http/header-rules.ts';
import { escapeControls } from '../../../redaction/sanitize.ts';
import { Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import { type Command, defineCommand } from '../../command.ts';
import { withValue } from '../../compare.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';
import { lookUp } from '../look-up.ts';

/** One header of the script's. A secret has a value for each origin that it was set for. */
interface Held {
  readonly name: string;
  readonly plain: string | undefined;
  /** A secret that the next request binds. */
  readonly waiting: Secret | undefined;
  readonly bound: ReadonlyMap<string, Secret>;
}

/** Which headers go along with a request. */
interface Chosen {
  readonly sent: readonly (readonly [name: string, value: string | Secret])[];
  /** Secrets that belong to other origins. */
  readonly withheld: readonly { readonly name: string; readonly origins: readonly string[] }[];
}

/** The headers that a script has set. A secret is bound to the origin of the next request and goes nowhere else (D20). */
export class ScriptHeaders {
  readonly #byName = new Map<string, Held>();

  set(name: string, value: string | Secret): void {
    const secret = value instanceof Secret || isSecretHeader(name) ? toSecret(value) : undefined;
    if (secret === undefined) this.#put({ name, plain: String(value), waiting: undefined, bound: new Map() });
    else this.#put({ name, plain: undefined, waiting: secret, bound: this.#boundTo(name) });
  }

  /** Sets a secret for one origin. */
  bind(name: string, value: Secret, origin: string): void {
    const bound = new Map(this.#boundTo(name)).set(origin, value);
    this.#put({ name, plain: undefined, waiting: this.#byName.get(name.toLowerCase())?.waiting, bound });
  }

  clear(name: string): void {
    if (name === '*') this.#byName.clear();
    else this.#byName.delete(name.toLowerCase());
  }

  /** Binds the secrets that wait to the origin of a request that a step is about to make, even if nothing comes of it. */
  claim(origin: string): void {
    for (const held of this.#byName.values()) {
      const { waiting, bound } = held;
      if (waiting !== undefined) this.#put({ ...held, waiting: undefined, bound: new Map(bound).set(origin, waiting) });
    }
  }

  /** The headers of a request. */
  choose(origin: string): Chosen {
    const sent: [string, string | Secret][] = [];
    const withheld: { name: string; origins: string[] }[] = [];
    for (const { name, plain, bound } of this.#byName.values()) {
      const value = plain ?? bound.get(origin);
      if (value !== undefined) sent.push([name, value]);
      else withheld.push({ name, origins: [...bound.keys()] });
    }
    return { sent, withheld };
  }

  #boundTo(name: string): ReadonlyMap<string, Secret> {
    return this.#byName.get(name.toLowerCase())?.bound ?? new Map();
  }

  #put(held: Held): void {
    this.#byName.set(held.name.toLowerCase(), held);
  }
}

const KEY = Symbol('headers of ws');

/** The headers of the script that runs. */
export function headersOf(context: StepContext): ScriptHeaders {
  return context.state(KEY, () => new ScriptHeaders());
}

/** Headers that prove who somebody is, whatever their value was made from. */
export function isSecretHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$/i.test(name) || isSensitiveName(name);
}

/** The commands that set headers. */
export function headerCommands(): Command[] {
  const name = { name: 'name', kind: 'text', help: 'Name of the header' } as const;
  return [
    defineCommand({
      group: 'ws',
      name: 'header',
      summary:
        'Sets a header for the requests that follow; one that holds a secret goes to the origin of the next request only',
      parameters: [name, { name: 'value', kind: 'text', help: 'Its value', secret: true }],
      example: 'ws.header: [Authorization, "Bearer ${token.access_token}"]',
      run(args, context) {
        headersOf(context).set(headerName(args.name), headerValue(args.name, args.value));
      },
    }),
    defineCommand({
      group: 'ws',
      name: 'headerByVar',
      summary: 'Sets a header from a variable, or from a member of one; a secret is bound as ws.header binds it',
      parameters: [name, { name: 'var', kind: 'text', help: 'Name of the variable, such as token.access_token' }],
      example: 'ws.headerByVar: [X-Api-Key, api.key]',
      run(args, context) {
        headersOf(context).set(headerName(args.name), headerValue(args.name, variableText(args.var, context)));
      },
    }),
    defineCommand({
      group: 'ws',
      name: 'clearHeaders',
      summary: 'Removes headers that were set, so that the requests that follow go without them',
      parameters: [{ name: 'headers', kind: 'names', help: 'Their names, or * for all' }],
      example: 'ws.clearHeaders: [Authorization]',
      run({ headers }, context) {
        for (const one of headers) headersOf(context).clear(one);
      },
    }),
  ];
}

/** A name that a header can have; those that frame a message are not for scripts. */
function headerName(name: string | Secret): string {
  if (typeof name !== 'string' || !isHeaderName(name)) {
    throw new StepFailure(`${escapeControls(JSON.stringify(String(name)))} is not the name of a header`);
  }
  if (isForbiddenHeader(name)) throw new StepFailure(`the header ${name} cannot be set: every request has its own`);
  return name;
}

function headerValue(name: string | Secret, value: string | Secret): string | Secret {
  if (withValue(value, isHeaderValue)) return value;
  throw new StepFailure(`${String(name)} has line ends, control characters or characters beyond ASCII in its value`, {
    hint: 'look for a line end that came along from a file; encode other characters as the API wants them',
  });
}

function variableText(name: string | Secret, context: StepContext): string | Secret {
  const value = typeof name === 'string' ? lookUp(parsePath(name), context) : undefined;
  if (value === undefined) throw new StepFailure(`there is no variable ${escapeControls(String(name))}`);
  if (isCollection(value)) throw new StepFailure(`${String(name)} has parts and cannot be a header`);
  return toText(value);
}

function toSecret(value: string | Secret): Secret | undefined {
  if (value instanceof Secret) return value;
  if (value === '') return undefined;
  // What follows the scheme is the secret proper, and may be repeated without it.
  const [, credentials] = /^\w+ (.+)$/.exec(value) ?? [];
  if (credentials !== undefined) new Secret(credentials);
  return new Secret(value);
}
