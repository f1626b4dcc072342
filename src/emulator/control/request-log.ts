import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt as decodeClaims } from 'jose/jwt/decode';
import type { Fault } from '../faults.ts';
import type { EmulatorRequest } from '../messages.ts';
import type { Realm } from '../realm.ts';
import type { Outcome } from '../server.ts';

/** A handled request, without its secrets. */
export interface ServedRequest {
  /** Counted from 1. */
  readonly id: number;
  /** ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** The real host. */
  readonly host: string;
  readonly path: string;
  /** The emulated provider; `undefined` if the host is not emulated. */
  readonly provider: string | undefined;
  /** The scheme of the Authorization header, such as `Basic` or `Bearer`. */
  readonly authorization: string | undefined;
  /** Form fields in order, secret values masked. */
  readonly form: readonly (readonly [name: string, value: string])[];
  readonly status: number | undefined;
  /** The injected fault. */
  readonly fault: string | undefined;
  /** Members of the JSON response, secret values masked. */
  readonly response: Readonly<Record<string, unknown>> | undefined;
  /** Header and claims of the JWTs in the response, by member. */
  readonly tokens: Readonly<Record<string, DecodedToken>> | undefined;
}

/** The readable parts of a JWT. */
export interface DecodedToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Which requests are of interest. All conditions must be met. */
export interface RequestFilter {
  readonly after?: number | undefined;
  readonly method?: string | undefined;
  readonly host?: string | undefined;
  readonly path?: string | undefined;
}

type Listener = (request: ServedRequest) => void;

const MAX_REQUESTS = 1_000;
const MAX_BODY_LENGTH = 65_536;

/** The latest requests, and everyone who waits for the next one. */
export class RequestLog {
  #requests: ServedRequest[] = [];
  #count = 0;
  readonly #listeners = new Set<Listener>();
  /** Values that are never shown, whatever the name of their field. */
  readonly #secrets = new Set<string>();

  /** Never shows this value. Short values would mask harmless strings. */
  addSecret(value: string | undefined): void {
    if (value !== undefined && value.length >= 4) this.#secrets.add(value);
  }

  add(
    request: EmulatorRequest,
    realm: Realm | undefined,
    outcome: Outcome,
    fault: Fault | undefined,
    now: number,
  ): ServedRequest {
    const response =
      typeof outcome === 'string' || 'stream' in outcome || outcome.isTruncated ? undefined : outcome.response;
    const isJson =
      response?.headers?.['Content-Type']?.startsWith('application/json') === true &&
      response.body.length < MAX_BODY_LENGTH;
    /** The reviver sees each token before it masks it. */
    const tokens: Record<string, DecodedToken> = {};
    const json = isJson
      ? JSON.parse(String(response.body), (name, value) => {
          const decoded = /_token$/.test(name) && typeof value === 'string' ? decodeJwt(value) : undefined;
          if (decoded !== undefined) tokens[name] = decoded;
          return this.#mask(name, value);
        })
      : undefined;
    const served: ServedRequest = {
      id: ++this.#count,
      time: new Date(now).toISOString(),
      method: request.method,
      host: request.host,
      path: request.path,
      provider: realm?.provider.type,
      authorization: /^\w+/.exec(String(request.headers['authorization'] ?? ''))?.[0],
      form: [...request.form].map(([name, value]) => [name, String(this.#mask(name, value))]),
      status: response?.status,
      fault: fault?.kind,
      response: json,
      tokens: Object.keys(tokens).length === 0 ? undefined : tokens,
    };
    this.#requests.push(served);
    if (this.#requests.length > MAX_REQUESTS) this.#requests.shift();
    for (const listener of this.#listeners) listener(served);
    return served;
  }

  /** The latest requests that match, oldest first. */
  list(filter: RequestFilter): ServedRequest[] {
    return this.#requests.filter((request) => matches(filter, request));
  }

  /** The requests that match, as soon as there are `count` of them or the time is over. */
  async wait(filter: RequestFilter, count: number, ms: number): Promise<ServedRequest[]> {
    if (this.list(filter).length < count) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(finish, ms);
        const stop = this.subscribe(() => {
          if (this.list(filter).length >= count) finish();
        });
        function finish(): void {
          clearTimeout(timer);
          stop();
          resolve();
        }
      });
    }
    return this.list(filter);
  }

  /** Calls `listener` for every further request. Returns a function that ends this. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  clear(): void {
    this.#requests = [];
  }

  #mask(name: string, value: unknown): unknown {
    if (typeof value !== 'string') return value;
    return isSensitiveName(name) || this.#secrets.has(value) ? '••••' : value;
  }
}

const sensitive =
  /secret|passw|passphrase|token|assertion|credential|api.?key|private|^code$|^device_code$|^code_verifier$/i;
const notSensitive = /token_(?:type|path|reuse)$|_url$|_endpoint$|_supported$/i;

/** Whether a field of a profile, request or response with this name contains a secret. */
export function isSensitiveName(name: string): boolean {
  return sensitive.test(name) && !notSensitive.test(name);
}

function matches({ after = 0, method, host, path }: RequestFilter, request: ServedRequest): boolean {
  return (
    request.id > after &&
    (method === undefined || request.method === method.toUpperCase()) &&
    (host === undefined || request.host === host.toLowerCase()) &&
    (path === undefined || request.path === path)
  );
}

/** Decodes a JWT without verifying it. */
export function decodeJwt(token: string): DecodedToken | undefined {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeClaims(token) };
  } catch {
    return undefined;
  }
}
