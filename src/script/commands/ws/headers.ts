import { parsePath } from '../../../config/reference.ts';
import { isCollection, toText } from '../../../config/value.ts';
import { isForbiddenHeader, isHeaderName, isHeaderValue } from '../../../http/header-rules.ts';
import { escapeControls } from '../../../redaction/sanitize.ts';
import { Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import { type Command, defineCommand } from '../../command.ts';
import { testString } from '../../compare.ts';
import { lookUp, type StepContext, StepFailure } from '../../step-context.ts';

/** A header of the script. A secret header has one value per origin. */
interface HeaderEntry {
  readonly name: string;
  /** Value of a header that is not a secret. */
  readonly plain: string | undefined;
  /** A secret that is bound to the origin of the next request. */
  readonly pending: Secret | undefined;
  readonly bound: ReadonlyMap<string, Secret>;
}

/** The headers of one request. */
interface HeaderSelection {
  readonly sent: readonly (readonly [name: string, value: string | Secret])[];
  /** Secret headers that are bound to other origins. */
  readonly withheld: readonly { readonly name: string; readonly origins: readonly string[] }[];
}

/** The headers that a script has set. A secret is bound to the origin of the next request and sent nowhere else (D20). */
export class ScriptHeaders {
  readonly #byName = new Map<string, HeaderEntry>();

  set(name: string, value: string | Secret): void {
    const secret = value instanceof Secret || isSecretHeader(name) ? toSecret(value) : undefined;
    if (secret === undefined) this.#put({ name, plain: String(value), pending: undefined, bound: new Map() });
    else this.#put({ name, plain: undefined, pending: secret, bound: this.#boundTo(name) });
  }

  /** Binds a secret to one origin. */
  bind(name: string, value: Secret, origin: string): void {
    const bound = new Map(this.#boundTo(name)).set(origin, value);
    this.#put({ name, plain: undefined, pending: this.#byName.get(name.toLowerCase())?.pending, bound });
  }

  clear(name: string): void {
    if (name === '*') this.#byName.clear();
    else this.#byName.delete(name.toLowerCase());
  }

  /** Binds the pending secrets to the origin of a request, even if the request fails before it is sent. */
  bindPending(origin: string): void {
    for (const entry of this.#byName.values()) {
      const { pending, bound } = entry;
      if (pending !== undefined)
        this.#put({ ...entry, pending: undefined, bound: new Map(bound).set(origin, pending) });
    }
  }

  /** Selects the headers for a request to an origin. */
  select(origin: string): HeaderSelection {
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

  #put(entry: HeaderEntry): void {
    this.#byName.set(entry.name.toLowerCase(), entry);
  }
}

const STATE_KEY = Symbol('ws headers');

/** Returns the headers of the running script. */
export function headersOf(context: StepContext): ScriptHeaders {
  return context.state(STATE_KEY, () => new ScriptHeaders());
}

/** Returns whether a header contains credentials, regardless of its value. */
export function isSecretHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$/i.test(name) || isSensitiveName(name);
}

const name = { name: 'name', kind: 'text', help: 'Name of the header' } as const;

/** The commands that set headers. */
export const headerCommands: readonly Command[] = [
  defineCommand({
    group: 'ws',
    name: 'header',
    summary:
      'Sets a header for the following requests; a header with a secret is sent only to the origin of the next request',
    parameters: [name, { name: 'value', kind: 'text', help: 'Value of the header', secret: true }],
    example: 'ws.header: [Authorization, "Bearer ${token.access_token}"]',
    run(args, context) {
      headersOf(context).set(requireHeaderName(args.name), requireHeaderValue(args.name, args.value));
    },
  }),
  defineCommand({
    group: 'ws',
    name: 'headerByVar',
    summary: 'Sets a header from a variable or a member of it; a secret is bound to an origin as with ws.header',
    parameters: [name, { name: 'var', kind: 'text', help: 'Variable, such as token.access_token' }],
    example: 'ws.headerByVar: [X-Api-Key, api.key]',
    run(args, context) {
      headersOf(context).set(
        requireHeaderName(args.name),
        requireHeaderValue(args.name, readVariable(args.var, context)),
      );
    },
  }),
  defineCommand({
    group: 'ws',
    name: 'clearHeaders',
    summary: 'Removes headers that an earlier step set',
    parameters: [{ name: 'headers', kind: 'names', help: 'Names of the headers, or * for all' }],
    example: 'ws.clearHeaders: [Authorization]',
    run({ headers }, context) {
      for (const one of headers) headersOf(context).clear(one);
    },
  }),
];

/** Validates the name of a header that a script sets. */
function requireHeaderName(name: string | Secret): string {
  if (typeof name !== 'string' || !isHeaderName(name)) {
    throw new StepFailure(`invalid header name ${escapeControls(JSON.stringify(String(name)))}`);
  }
  if (isForbiddenHeader(name)) throw new StepFailure(`the header ${name} cannot be set: it is set automatically`);
  return name;
}

function requireHeaderValue(name: string | Secret, value: string | Secret): string | Secret {
  if (testString(value, isHeaderValue)) return value;
  throw new StepFailure(
    `the value of the header ${String(name)} contains line breaks, control characters or non-ASCII characters`,
    {
      hint: 'a value from a file often ends with a line break; encode other characters as the API requires',
    },
  );
}

function readVariable(name: string | Secret, context: StepContext): string | Secret {
  const value = typeof name === 'string' ? lookUp(parsePath(name), context) : undefined;
  if (value === undefined) throw new StepFailure(`the variable ${escapeControls(String(name))} is not defined`);
  if (isCollection(value))
    throw new StepFailure(`${String(name)} is a list or map and cannot be the value of a header`);
  return toText(value);
}

function toSecret(value: string | Secret): Secret | undefined {
  if (value instanceof Secret) return value;
  if (value === '') return undefined;
  // The credentials after the scheme are a secret of their own: they may appear without the scheme.
  const [, credentials] = /^\w+ (.+)$/.exec(value) ?? [];
  if (credentials !== undefined) new Secret(credentials);
  return new Secret(value);
}
