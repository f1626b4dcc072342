import type { EmulatorState } from './emulator-state.ts';
import { authorizeEndpoint } from './endpoints/authorize.ts';
import { deviceEndpoint } from './endpoints/device.ts';
import { federationEndpoint } from './endpoints/federation.ts';
import { installationEndpoint } from './endpoints/installation.ts';
import { keysEndpoint, metadataEndpoint } from './endpoints/metadata.ts';
import { introspectEndpoint, resourceEndpoint } from './endpoints/resource.ts';
import { revokeEndpoint } from './endpoints/revoke.ts';
import { findStub } from './endpoints/stubs.ts';
import { tokenEndpoint } from './endpoints/token.ts';
import { verifyEndpoint } from './endpoints/verify.ts';
import { applyFault } from './faults.ts';
import { type EmulatorRequest, type EmulatorResponse, json, text } from './messages.ts';
import type { Action } from './provider.ts';
import type { Realm, RequestContext } from './realm.ts';
import { describeError, Rejection } from './rejection.ts';
import type { Handler } from './server.ts';

type Endpoint = (context: RequestContext) => EmulatorResponse | Promise<EmulatorResponse>;

const endpoints: Readonly<Record<Action, Endpoint>> = {
  token: tokenEndpoint,
  device: deviceEndpoint,
  verify: verifyEndpoint,
  authorize: authorizeEndpoint,
  revoke: revokeEndpoint,
  introspect: introspectEndpoint,
  installation: installationEndpoint,
  federation: federationEndpoint,
  resource: resourceEndpoint,
  metadata: metadataEndpoint,
  keys: keysEndpoint,
};

/** Pages and the protected resource accept every method. */
const methods: Readonly<Partial<Record<Action, string>>> = {
  token: 'POST',
  device: 'POST',
  revoke: 'POST',
  introspect: 'POST',
  federation: 'POST',
  metadata: 'GET',
  keys: 'GET',
};

/** Creates the handler of all requests, which finds the endpoint of each and calls it. */
export function createDispatcher(state: EmulatorState, control: Handler | undefined): Handler {
  const { realms, log, faults, keys, states, stubs, clock } = state;
  return async (request) => {
    if (request.viaLoopback && (request.host === '' || request.host === '_emulator'))
      return (await control?.(request)) ?? { response: text(404, 'Not Found') };
    const now = clock();
    const stub = findStub(stubs, request);
    const realm = stub === undefined ? realms.find(request.host) : undefined;
    const action = realm && findAction(realm, request);
    if (realm === undefined || action === undefined) {
      const response =
        stub?.() ??
        (realm === undefined && !stubs.has(request.host) ? notEmulated(request.host) : text(404, 'Not Found'));
      const outcome = { response: await response };
      log.add(request, realm, outcome, undefined, now);
      return outcome;
    }
    const fault = faults.next(action);
    const context = { request, realm, keys, states, now, fault: fault?.kind };
    const outcome = await applyFault(
      fault,
      () => callEndpoint(action, context),
      () => errorResponse(realm, new Rejection('rate_limited'), now),
    );
    log.add(request, realm, outcome, fault, now);
    return outcome;
  };
}

async function callEndpoint(action: Action, context: RequestContext) {
  const { realm, request, now } = context;
  const { provider, tenants, acceptsJson } = realm;
  try {
    const tenant = provider.tenantOf?.(request);
    if (tenant !== undefined && !tenants.has(tenant.toLowerCase()))
      throw new Rejection(action === 'metadata' ? 'tenant_without_metadata' : 'unknown_tenant', tenant);
    const isJson = provider.jsonRequests || acceptsJson;
    return await endpoints[action](isJson ? { ...context, request: withJsonForm(request) } : context);
  } catch (error) {
    // A request must not stop the server.
    if (!(error instanceof Rejection)) return text(500, `emulator error: ${String(error)}`);
    return errorResponse(realm, error, now);
  }
}

/** The members of a JSON request as a form. */
function withJsonForm(request: EmulatorRequest): EmulatorRequest {
  if (!/^application\/json\b/i.test(String(request.headers['content-type'] ?? ''))) return request;
  try {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(JSON.parse(request.body))) form.append(name, String(value));
    return { ...request, form };
  } catch {
    return request;
  }
}

function errorResponse({ provider }: Realm, rejection: Rejection, now: number): EmulatorResponse {
  const error = describeError(rejection, provider.errors);
  return provider.errorResponse?.(error, rejection.kind, now) ?? json(error.status, error.body);
}

function findAction({ provider, endpoints }: Realm, { method, host, path }: EmulatorRequest): Action | undefined {
  const isAllowed = (action: Action): boolean => (methods[action] ?? method) === method;
  const configured = endpoints.get(`${host}${path}`);
  if (configured !== undefined && isAllowed(configured)) return configured;
  const actions = Object.keys(provider.routes) as Action[];
  return actions.find((action) => isAllowed(action) && provider.routes[action]?.test(path));
}

/** The header distinguishes this response from those of an emulated provider. */
function notEmulated(host: string): EmulatorResponse {
  return json(
    421,
    { error: 'not_emulated', error_description: `${host} is not emulated` },
    { 'X-Oauth-Profile-Emulator': 'not_emulated' },
  );
}
