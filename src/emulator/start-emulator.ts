import { isIP } from 'node:net';
import { CertificateAuthority } from './certificate.ts';
import { authorizeEndpoint } from './endpoints/authorize.ts';
import { deviceEndpoint } from './endpoints/device.ts';
import { keysEndpoint, metadataEndpoint } from './endpoints/metadata.ts';
import { resourceEndpoint } from './endpoints/resource.ts';
import { revokeEndpoint } from './endpoints/revoke.ts';
import { tokenEndpoint } from './endpoints/token.ts';
import { verifyEndpoint } from './endpoints/verify.ts';
import { applyFault, type Fault, faultKinds } from './faults.ts';
import { type EmulatorRequest, type EmulatorResponse, json, text } from './messages.ts';
import { type EmulatedProfiles, Realms } from './profiles.ts';
import type { Action } from './provider.ts';
import type { Realm, RequestContext } from './realm.ts';
import { describeError, Rejection } from './rejection.ts';
import { type Outcome, startServer } from './server.ts';
import { TokenSigner } from './token-signer.ts';

/** Options of `startEmulator`. */
export interface EmulatorOptions {
  /** Profiles by name, as in `oauth-profiles.yaml`. Only their clients, users and refresh tokens are accepted. */
  readonly profiles?: EmulatedProfiles | undefined;
  /** Port on 127.0.0.1. Default: a free port. */
  readonly port?: number | undefined;
  /** Faults to inject at the token endpoint. */
  readonly faults?: readonly Fault[] | undefined;
  /** The current time in epoch milliseconds, for tests. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** Called after each request, without its secrets. */
  readonly onRequest?: ((request: ServedRequest) => void) | undefined;
}

/** A handled request, without its secrets. */
export interface ServedRequest {
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
}

/** A running emulator. */
export interface Emulator {
  readonly port: number;
  /** `http://127.0.0.1:<port>`. Pages and endpoints are at `/<real host>/…`. */
  readonly url: string;
  /** The CA certificate to trust, PEM. */
  readonly ca: string;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}

type Endpoint = (
  context: RequestContext,
  request: EmulatorRequest,
  passwordGrantDisabled: boolean,
) => EmulatorResponse | Promise<EmulatorResponse>;

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

/** Pages accept every method. */
const methods: Readonly<Partial<Record<Action, string>>> = {
  token: 'POST',
  device: 'POST',
  revoke: 'POST',
  resource: 'GET',
  metadata: 'GET',
  keys: 'GET',
};

/** The CA certificate is served at `/oauth-profile-emulator/ca.pem` for clients that connect to a running emulator. */
const CONTROL_HOST = 'oauth-profile-emulator';
const CA_PATH = '/ca.pem';

/** Starts an emulator of the five providers and of custom servers on one loopback port. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { faults = [], clock = Date.now, onRequest } = options;
  for (const { kind } of faults) {
    if (!faultKinds.includes(kind)) throw new TypeError(`startEmulator: unknown fault ${kind}`);
  }
  const realms = new Realms(options.profiles ?? {});
  const signer = new TokenSigner();
  const authority = new CertificateAuthority();
  // TLS clients do not send an IP address as server name (RFC 6066 §3), so the default certificate covers all of them.
  const hosts = realms.hosts().map((host) => host.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  const ipAddresses = [...new Set(hosts)].filter((host) => isIP(host) !== 0);
  let tokenRequests = 0;

  const handle = async (request: EmulatorRequest): Promise<Outcome> => {
    if (request.host === CONTROL_HOST && request.path === CA_PATH)
      return { response: text(200, authority.certificate) };
    const realm = realms.find(request.host);
    const action = realm && findAction(realm, request);
    if (realm === undefined || action === undefined) {
      const outcome = { response: realm === undefined ? notEmulated(request.host) : text(404, 'Not Found') };
      onRequest?.(describeRequest(request, realm, outcome, undefined));
      return outcome;
    }
    const fault = action === 'token' ? findFault(faults, ++tokenRequests) : undefined;
    const now = clock();
    const outcome = await applyFault(
      fault,
      () => callEndpoint(endpoints[action], { realm, signer, now }, request, fault?.kind === 'no-password'),
      () => errorResponse(realm, new Rejection('rate_limited'), now),
    );
    onRequest?.(describeRequest(request, realm, outcome, fault));
    return outcome;
  };

  const { port, close } = await startServer(options.port ?? 0, handle, (host) => ({
    cert: authority.issue(host === undefined ? ['localhost', '127.0.0.1', '::1', ...ipAddresses] : [host]),
    key: authority.leafKeyPem,
  }));
  return { port, url: `http://127.0.0.1:${port}`, ca: authority.certificate, close };
}

async function callEndpoint(
  endpoint: Endpoint,
  context: RequestContext,
  request: EmulatorRequest,
  passwordGrantDisabled: boolean,
): Promise<EmulatorResponse> {
  try {
    return await endpoint(context, request, passwordGrantDisabled);
  } catch (error) {
    // A request must not stop the server.
    if (!(error instanceof Rejection)) return text(500, `emulator error: ${String(error)}`);
    return errorResponse(context.realm, error, context.now);
  }
}

function errorResponse({ provider }: Realm, rejection: Rejection, now: number): EmulatorResponse {
  const error = describeError(rejection, provider.errors);
  return provider.errorResponse?.(error, rejection.kind, now) ?? json(error.status, error.body);
}

function findAction({ provider }: Realm, { method, path }: EmulatorRequest): Action | undefined {
  const actions = Object.keys(provider.routes) as Action[];
  return actions.find((action) => (methods[action] ?? method) === method && provider.routes[action]?.test(path));
}

/** The header distinguishes this response from those of an emulated provider. */
function notEmulated(host: string): EmulatorResponse {
  return json(
    421,
    { error: 'not_emulated', error_description: `${host} is not emulated` },
    { 'X-Oauth-Profile-Emulator': 'not_emulated' },
  );
}

function findFault(faults: readonly Fault[], count: number): Fault | undefined {
  return faults.find(({ at }) => at === undefined || at === count);
}

const sensitiveName = /secret|passw|token|assertion|credential|api.?key|private|^code$|^device_code$|^code_verifier$/i;
const publicName = /token_type$|_url$/i;

function maskSecret(name: string, value: unknown): unknown {
  return typeof value === 'string' && sensitiveName.test(name) && !publicName.test(name) ? '••••' : value;
}

function describeRequest(
  request: EmulatorRequest,
  realm: Realm | undefined,
  outcome: Outcome,
  fault: Fault | undefined,
): ServedRequest {
  const response = typeof outcome === 'string' || outcome.isTruncated ? undefined : outcome.response;
  const isJson =
    response?.headers?.['Content-Type']?.startsWith('application/json') === true && response.body.length < 65_536;
  return {
    method: request.method,
    host: request.host,
    path: request.path,
    provider: realm?.provider.type,
    authorization: /^\w+/.exec(String(request.headers['authorization'] ?? ''))?.[0],
    form: [...request.form].map(([name, value]) => [name, String(maskSecret(name, value))]),
    status: response?.status,
    fault: fault?.kind,
    response: isJson ? JSON.parse(response.body, maskSecret) : undefined,
  };
}
