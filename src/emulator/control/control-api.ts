import { consoleFile } from '../console-files.ts';
import type { EmulatorState } from '../emulator-state.ts';
import { type EmulatorRequest, type EmulatorResponse, json, text } from '../messages.ts';
import { findIssues, objectOf, type Schema } from '../schemas.ts';
import type { Handler } from '../server.ts';
import { ConfigError } from '../settings.ts';
import { ControlError, handlers } from './handlers.ts';
import { openApiDocument } from './openapi.ts';
import { name as nameSchema, type Operation, type OperationId, operations, successStatus } from './operations.ts';

const routes = (Object.keys(operations) as OperationId[]).map((id) => {
  const operation: Operation = operations[id];
  const [method = '', path = ''] = operation.route.split(' ');
  const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  // Created once, because schemas are compiled and cached by identity.
  return { id, operation, method, pattern, querySchema: objectOf(operation.query ?? {}) };
});

const HEARTBEAT_MS = 15_000;

/** Creates the HTTP control API below `/_emulator/` and the console at `/`. `certificate` is the CA certificate, PEM. */
export function createControlApi(emulator: EmulatorState, certificate: string): Handler {
  return async (request) => {
    const { method, path, host, origin } = request;
    try {
      rejectOtherOrigins(request);
      if (method === 'GET') {
        const file = host === '' ? await consoleFile('/') : await consoleFile(path);
        if (file !== undefined) return { response: file };
        if (path === '/openapi.json') return { response: json(200, openApiDocument(origin)) };
        if (path === '/ca.pem') return { response: text(200, certificate) };
        if (path === '/events') return { stream: (send) => sendRequests(emulator, send) };
      }
      return { response: await callOperation(emulator, request) };
    } catch (error) {
      if (error instanceof ConfigError) return { response: json(400, { error: error.message }) };
      if (!(error instanceof ControlError)) throw error;
      const { status, message, issues, headers } = error;
      return { response: json(status, { error: message, issues }, headers) };
    }
  };
}

async function callOperation(emulator: EmulatorState, request: EmulatorRequest): Promise<EmulatorResponse> {
  const found = routes.filter(({ pattern }) => request.host !== '' && pattern.test(request.path));
  const route = found.find(({ method }) => method === request.method);
  if (route === undefined) {
    if (found.length === 0) throw new ControlError(404, 'not found');
    throw new ControlError(405, 'method not allowed', undefined, {
      Allow: found.map(({ method }) => method).join(', '),
    });
  }
  const { id, operation, pattern, querySchema } = route;
  const { query: parameterSchemas = {}, body: bodySchema } = operation;
  const query = Object.fromEntries(
    [...request.query].map(([name, value]) => [name, toNumber(parameterSchemas[name]?.['type'], value)]),
  );
  await check(querySchema, query);
  const body = bodySchema === undefined ? undefined : parseBody(request);
  if (bodySchema !== undefined) await check(bodySchema, body);
  const parameters: Record<string, string> = {};
  for (const [name, value] of Object.entries(pattern.exec(request.path)?.groups ?? {}))
    parameters[name] = decodeParameter(value);
  for (const value of Object.values(parameters)) await check(nameSchema, value);
  const result = await handlers[id](emulator, { origin: request.origin, parameters, query, body });
  const status = successStatus(operation);
  return result === undefined ? { status, headers: { 'Cache-Control': 'no-store' }, body: '' } : json(status, result);
}

function sendRequests({ log }: EmulatorState, send: (event: string) => void): () => void {
  send(': connected\n\n');
  const stop = log.subscribe((request) => send(`data: ${JSON.stringify(request)}\n\n`));
  // Browsers and proxies close connections without data.
  const timer = setInterval(() => send(': waiting\n\n'), HEARTBEAT_MS);
  return () => {
    clearInterval(timer);
    stop();
  };
}

/**
 * Browsers send these headers, and pages cannot change them. Together with the check of the Host header, pages of other
 * origins can neither use the API (CSRF) nor read it under another name of this machine (DNS rebinding).
 */
function rejectOtherOrigins({ headers, origin }: EmulatorRequest): void {
  const site = headers['sec-fetch-site'];
  const isForeign =
    (headers['origin'] !== undefined && headers['origin'] !== origin) ||
    (site !== undefined && site !== 'same-origin' && site !== 'none');
  if (isForeign) throw new ControlError(403, 'requests from pages of other origins are rejected');
}

/** A page of another origin cannot send JSON without a preflight request, which is never allowed. */
function parseBody({ headers, body }: EmulatorRequest): unknown {
  if (!/^application\/json\s*(?:;|$)/i.test(String(headers['content-type'] ?? '')))
    throw new ControlError(415, 'the Content-Type must be application/json');
  try {
    return JSON.parse(body);
  } catch {
    throw new ControlError(400, 'the body is not JSON');
  }
}

async function check(schema: Schema, value: unknown): Promise<void> {
  const issues = await findIssues(schema, value);
  if (issues.length > 0) throw new ControlError(400, 'the request is invalid', issues);
}

function toNumber(type: unknown, value: string): string | number {
  return type === 'integer' && /^\d{1,16}$/.test(value) ? Number(value) : value;
}

function decodeParameter(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new ControlError(400, 'the path is not valid');
  }
}
