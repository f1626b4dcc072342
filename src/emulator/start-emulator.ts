import { isIP } from 'node:net';
import { Authority } from './certificate.ts';
import type { Action } from './dialect.ts';
import { authorizeEndpoint } from './endpoints/authorize.ts';
import { deviceEndpoint } from './endpoints/device.ts';
import { keysEndpoint, metadataEndpoint } from './endpoints/metadata.ts';
import { resourceEndpoint } from './endpoints/resource.ts';
import { revokeEndpoint } from './endpoints/revoke.ts';
import { tokenEndpoint } from './endpoints/token.ts';
import { verifyEndpoint } from './endpoints/verify.ts';
import { type Fault, faultKinds } from './fault.ts';
import type { RequestContext } from './issue.ts';
import { type EmulatorRequest, type EmulatorResponse, json, text } from './message.ts';
import { ProblemError } from './problem.ts';
import { type EmulatedProfiles, Realms } from './profiles.ts';
import type { Realm } from './realm.ts';
import { type Outcome, startServer } from './server.ts';
import { TokenSigner } from './token-signer.ts';

/** What an emulator can be told. */
export interface EmulatorOptions {
  /** Profiles by name, as in a file of profiles: their clients, users and refresh tokens are known, no others. */
  readonly profiles?: EmulatedProfiles | undefined;
  /** Port on 127.0.0.1; a free one unless given. */
  readonly port?: number | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Epoch milliseconds; tests let time pass with it. */
  readonly clock?: (() => number) | undefined;
  /** Told of every request after it was answered; values that are secret are not in it. */
  readonly onRequest?: ((request: ServedRequest) => void) | undefined;
}

/** A request that was served, without its secrets. */
export interface ServedRequest {
  readonly method: string;
  /** The real host. */
  readonly host: string;
  readonly path: string;
  /** Which provider answered; `undefined` if the host is not emulated. */
  readonly provider: string | undefined;
  /** How the client authenticated: `Basic`, `Bearer`, or not in a header. */
  readonly authorization: string | undefined;
  /** Form fields in order, secret values masked. */
  readonly form: readonly (readonly [name: string, value: string])[];
  readonly status: number | undefined;
  /** The fault that was asked for, if one struck. */
  readonly fault: string | undefined;
  /** Members of the answer, secret values masked. */
  readonly reply: Readonly<Record<string, unknown>> | undefined;
}

/** A running emulator. */
export interface Emulator {
  readonly port: number;
  /** `http://127.0.0.1:<port>`: pages and endpoints are below it, at `/<real host>/…`. */
  readonly url: string;
  /** The certificate that its TLS certificates are signed with, PEM. */
  readonly ca: string;
  /** Ends at once: no connection survives. */
  close(): Promise<void>;
}

type Endpoint = (desk: RequestContext, request: EmulatorRequest, passwordOff: boolean) => EmulatorResponse;

const endpoints: Readonly<Record<Action, Endpoint>> = {
  token: tokenEndpoint,
  device: deviceEndpoint,
  verify: verifyEndpoint,
  authorize: authorizeEndpoint,
  revoke: revokeEndpoint,
  resource: resourceEndpoint,
  metadata: metadataEndpoint,
  keys: keysEndpoint,
};

/** Where a caller that joins learns what to trust: at `/oauth-profile-emulator/ca.pem`, which no provider has. */
const CONTROL = 'oauth-profile-emulator';
const CA_PATH = '/ca.pem';
const SLOW_MS = 3_000;

/** Starts the five providers, and the servers of custom profiles, on one loopback port. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { faults = [], clock = Date.now, onRequest } = options;
  for (const { kind } of faults) {
    if (!faultKinds.includes(kind)) throw new TypeError(`startEmulator: there is no fault ${kind}`);
  }
  const realms = new Realms(options.profiles ?? {});
  const mint = new TokenSigner();
  const authority = new Authority();
  // A caller that names no host asks for an address (RFC 6066 §3): whoever means a name says so, and gets a certificate for it.
  const hosts = realms.hosts().map((host) => host.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  const addresses = [...new Set(hosts)].filter((host) => isIP(host) !== 0);
  let tokenRequests = 0;

  const react = (request: EmulatorRequest): Outcome => {
    if (request.host === CONTROL && request.path === CA_PATH)
      return { kind: 'answer', answer: text(200, authority.certificate) };
    const realm = realms.find(request.host);
    const route = realm?.dialect.routes.find(
      ({ method, path }) => (method === 'ANY' || method === request.method) && path.test(request.path),
    );
    if (realm === undefined || route === undefined) {
      const answer = realm === undefined ? notEmulated(request.host) : text(404, 'Not Found');
      onRequest?.(served(request, realm, { kind: 'answer', answer }, undefined));
      return { kind: 'answer', answer };
    }
    const fault = route.action === 'token' ? faultOf(faults, ++tokenRequests) : undefined;
    const now = clock();
    const reaction = misbehave(fault, realm, now, () =>
      answerOf(endpoints[route.action], { realm, mint, now }, request, fault?.kind === 'no-password'),
    );
    onRequest?.(served(request, realm, reaction, fault));
    return reaction;
  };

  const { port, close } = await startServer(options.port ?? 0, react, (host) => ({
    cert: authority.issue(host === undefined ? ['localhost', '127.0.0.1', '::1', ...addresses] : [host]),
    key: authority.leafKeyPem,
  }));
  return { port, url: `http://127.0.0.1:${port}`, ca: authority.certificate, close };
}

function answerOf(
  endpoint: Endpoint,
  desk: RequestContext,
  request: EmulatorRequest,
  passwordOff: boolean,
): EmulatorResponse {
  try {
    return endpoint(desk, request, passwordOff);
  } catch (error) {
    // Whatever a caller sends, the others are served on.
    if (!(error instanceof ProblemError)) return text(500, `the emulator failed: ${String(error)}`);
    return desk.realm.dialect.refusal(error.problem, { now: desk.now, grant: request.form.get('grant_type') ?? '' });
  }
}

/** Marks its answer, so that a caller tells a host that is not emulated from a provider's own words. */
function notEmulated(host: string): EmulatorResponse {
  return json(
    421,
    { error: 'not_emulated', error_description: `${host} is not emulated` },
    { 'X-Oauth-Profile-Emulator': 'not_emulated' },
  );
}

function faultOf(faults: readonly Fault[], count: number): Fault | undefined {
  return faults.find(({ at }) => at === undefined || at === count);
}

function misbehave(fault: Fault | undefined, realm: Realm, now: number, answer: () => EmulatorResponse): Outcome {
  const page = '<!doctype html><title>Maintenance</title><p>Please come back later.</p>';
  switch (fault?.kind) {
    case undefined:
    case 'no-password':
      return { kind: 'answer', answer: answer() };
    case 'slow':
      return { kind: 'answer', answer: answer(), delayMs: SLOW_MS };
    case 'hang':
      return { kind: 'hang' };
    case 'reset-before':
      return { kind: 'reset' };
    case 'reset-after':
      answer();
      return { kind: 'reset' };
    case '429':
      return { kind: 'answer', answer: realm.dialect.refusal({ kind: 'throttled' }, { now, grant: '' }) };
    case '500':
      return { kind: 'answer', answer: text(500, 'Internal Server Error') };
    case 'html':
      return { kind: 'answer', answer: { status: 200, headers: { 'Content-Type': 'text/html' }, body: page } };
    case 'truncate':
      return { kind: 'truncate', answer: answer() };
    case 'empty':
      return { kind: 'answer', answer: { status: 200, body: '' } };
    case 'huge':
      return { kind: 'answer', answer: json(200, { access_token: 'x'.repeat(2 ** 21) }) };
    case 'wrong-type': {
      const { status, body } = answer();
      return { kind: 'answer', answer: { status, headers: { 'Content-Type': 'text/html' }, body } };
    }
  }
}

const secretName = /secret|passw|token|assertion|credential|api.?key|private|^code$|^device_code$|^code_verifier$/i;
const harmlessName = /token_type$|_url$/i;

function masked(name: string, value: unknown): unknown {
  return typeof value === 'string' && secretName.test(name) && !harmlessName.test(name) ? '••••' : value;
}

function served(
  request: EmulatorRequest,
  realm: Realm | undefined,
  reaction: Outcome,
  fault: Fault | undefined,
): ServedRequest {
  const answer = reaction.kind === 'answer' ? reaction.answer : undefined;
  const isJson =
    answer?.headers?.['Content-Type']?.startsWith('application/json') === true && answer.body.length < 65_536;
  return {
    method: request.method,
    host: request.host,
    path: request.path,
    provider: realm?.dialect.type,
    authorization: /^\w+/.exec(String(request.headers['authorization'] ?? ''))?.[0],
    form: [...request.form].map(([name, value]) => [name, String(masked(name, value))]),
    status: answer?.status,
    fault: fault?.kind,
    reply: isJson ? JSON.parse(answer.body, masked) : undefined,
  };
}
