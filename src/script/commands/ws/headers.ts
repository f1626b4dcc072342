import { parsePath } from '../../../config/reference.ts';
import { isCollection, toText } from '../../../config/value.ts';
import type { ApiResponse } from '../../../ports.ts';
import { isForbiddenHeader, isHeaderName, isHeaderValue } from '../../../profile/options/header-rules.ts';
import { escapeControls } from '../../../redaction/sanitize.ts';
import { MASK, Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import { commandGroup, parameter } from '../../command.ts';
import { testString } from '../../compare.ts';
import { assertStep, lookUp, type StepContext } from '../../step-context.ts';

interface HeaderEntry {
  readonly name: string;
  /** Value of a header that is not a secret. */
  readonly plain?: string;
  /** A secret that is bound to the origin of the next request. */
  pending?: Secret | undefined;
  /** Values of a secret header by origin. */
  readonly bound: Map<string, Secret>;
}

/** Creates the header `DPoP` of requests with a token (RFC 9449 §7). */
export interface ProofSource {
  create(method: string, url: URL): Secret;
  /** Remembers the nonce of a response. Returns whether the request may be repeated once, with another proof. */
  acceptNonce(url: URL, response: Pick<ApiResponse, 'status' | 'headers'>): boolean;
}

/** The headers that a script has set. A secret is bound to the origin of the next request and sent nowhere else (D20). */
export class ScriptHeaders {
  readonly #byName = new Map<string, HeaderEntry>();
  readonly #proofs = new Map<Secret, ProofSource>();

  set(name: string, value: string | Secret): void {
    const pending = value instanceof Secret || isSecretHeader(name) ? toSecret(value) : undefined;
    const { bound } = this.#byName.get(name.toLowerCase()) ?? { bound: new Map() };
    this.#put(pending === undefined ? { name, plain: String(value), bound: new Map() } : { name, pending, bound });
  }

  /** Binds a secret to one origin. With `proofs`, each request that contains it has a proof. */
  bind(name: string, value: Secret, origin: string, proofs?: ProofSource): void {
    if (proofs !== undefined) this.#proofs.set(value, proofs);
    const { pending, bound } = this.#byName.get(name.toLowerCase()) ?? { bound: new Map() };
    this.#put({ name, pending, bound: bound.set(origin, value) });
  }

  /** Finds what creates the proofs of a request with these headers. */
  findProofs(headers: readonly (readonly [name: string, value: string | Secret])[]): ProofSource | undefined {
    return headers.map(([, value]) => value instanceof Secret && this.#proofs.get(value)).find(Boolean) || undefined;
  }

  clear(name: string): void {
    if (name === '*') this.#byName.clear();
    else this.#byName.delete(name.toLowerCase());
  }

  /** Binds the pending secrets to the origin of a request, even if the request fails before it is sent. */
  bindPending(origin: string): void {
    for (const entry of this.#byName.values()) {
      if (entry.pending !== undefined) entry.bound.set(origin, entry.pending);
      entry.pending = undefined;
    }
  }

  /** Removes the pending secrets and returns the names of their headers: after a failed request it is unknown where they belong. */
  dropPending(): readonly string[] {
    const pending = [...this.#byName.values()].filter((entry) => entry.pending !== undefined);
    for (const { name, bound } of pending) {
      if (bound.size === 0) this.clear(name);
      else this.#put({ name, bound });
    }
    return pending.map(({ name }) => name);
  }

  /** Returns the media type of the Content-Type that the script has set, in lower case. */
  contentType(origin: string): string {
    const { plain, bound } = this.#byName.get('content-type') ?? {};
    const [type = ''] = String(plain ?? bound?.get(origin) ?? '').split(';', 1);
    return type.trim().toLowerCase();
  }

  /** Selects the headers for a request to an origin. `withheld` are secret headers that are bound to other origins. */
  select(origin: string) {
    const sent: (readonly [name: string, value: string | Secret])[] = [];
    const withheld: { readonly name: string; readonly origins: readonly string[] }[] = [];
    for (const { name, plain, bound } of this.#byName.values()) {
      const value = plain ?? bound.get(origin);
      if (value !== undefined) sent.push([name, value]);
      else withheld.push({ name, origins: [...bound.keys()] });
    }
    return { sent, withheld };
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

/** Formats a header that contains credentials for reports: only their scheme is shown. */
export function showSecretHeader(value: unknown): string {
  const isScheme = (scheme: string) => value instanceof Secret && value.test((clear) => clear.startsWith(`${scheme} `));
  const scheme = ['Bearer', 'Basic', 'DPoP'].find(isScheme);
  return scheme === undefined ? MASK : `${scheme} ${MASK}`;
}

const ws = commandGroup('ws');
const name = parameter('name', 'text', 'Name of the header');

/**
 * Drops the pending secrets when a request has failed before its URL was known, such as for an undefined variable: the origin of a later
 * request may be another one.
 */
export function dropPendingHeaders(context: StepContext): void {
  for (const dropped of headersOf(context).dropPending()) {
    context.log(
      `${dropped} is removed: it contains a secret for the URL of this step; set it again before the next request`,
    );
  }
}

/** The commands that set headers. */
export const headerCommands = [
  ws(
    'header',
    'Sets a header for the following requests; a header with a secret is sent only to the origin of the next request',
    {
      parameters: [
        name,
        parameter('value', 'text', 'Value of the header', {
          secret: ({ name }: Readonly<Record<string, unknown>>) => typeof name !== 'string' || isSecretHeader(name),
        }),
      ],
      example: 'ws.header: [Authorization, "Bearer ${token.access_token}"]',
      run: (args, context) => setHeader(args.name, args.value, context),
    },
  ),
  ws(
    'headerByVar',
    'Sets a header from a variable or a member of it; a secret is bound to an origin as with ws.header',
    {
      parameters: [name, parameter('var', 'text', 'Variable, such as token.access_token')],
      example: 'ws.headerByVar: [X-Api-Key, api.key]',
      run: (args, context) => setHeader(args.name, readVariable(args.var, context), context),
    },
  ),
  ws('clearHeaders', 'Removes headers that an earlier step set', {
    parameters: [parameter('headers', 'names', 'Names of the headers, or * for all')],
    example: 'ws.clearHeaders: [Authorization]',
    run({ headers }, context) {
      for (const one of headers) headersOf(context).clear(one);
    },
  }),
];

function setHeader(name: string | Secret, value: string | Secret, context: StepContext): void {
  const isName = typeof name === 'string' && isHeaderName(name);
  assertStep(isName, `invalid header name ${escapeControls(JSON.stringify(String(name)))}`);
  assertStep(!isForbiddenHeader(name), `the header ${name} cannot be set: it is set automatically`);
  const message = `the value of the header ${name} contains line breaks, control characters or non-ASCII characters`;
  const hint = 'a value from a file often ends with a line break; encode other characters as the API requires';
  assertStep(testString(value, isHeaderValue), message, { hint });
  headersOf(context).set(name, value);
}

function readVariable(name: string | Secret, context: StepContext): string | Secret {
  const value = typeof name === 'string' ? lookUp(parsePath(name), context) : undefined;
  assertStep(value !== undefined, `the variable ${escapeControls(String(name))} is not defined`);
  assertStep(!isCollection(value), `${String(name)} is a list or map and cannot be the value of a header`);
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
