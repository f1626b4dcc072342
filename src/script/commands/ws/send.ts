import type { ApiLimits, ApiResponse, CallApi, Files, TlsFiles } from '../../../ports.ts';
import { isSecure, parseUrl } from '../../../profile/url.ts';
import { Secret } from '../../../redaction/secret.ts';
import { parameter } from '../../command.ts';
import type { RequestSettings } from '../../keys.ts';
import { assertStep, type StepContext, StepFailure } from '../../step-context.ts';
import type { Body } from './body.ts';
import { cookieHeader, cookiesOf } from './cookies.ts';
import { headersOf } from './headers.ts';
import { type DecodedBody, decodeBody, describeRequest, describeResponse } from './response.ts';
import { type RequestUrl, showUrl } from './url.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1_048_576;

/** The last parameter of every request. */
export const optionsParameter = parameter(
  'options',
  'options',
  'Settings of this request: redirects: 5 follows up to 5 redirects, timeout: 2m limits its total time (default 30s)',
  { optional: true },
);

/** The request of a step. */
export interface RequestSpec {
  readonly method: string;
  readonly target: RequestUrl;
  readonly body?: Body | undefined;
  /** The parameter `options` of the step. */
  readonly options: RequestSettings | undefined;
  readonly save?: ApiLimits['save'];
}

/** Dependencies of the commands that send requests. */
export interface HttpPorts {
  readonly callApi: CallApi;
  readonly files: Files;
  /** Version of this package, for the User-Agent. */
  readonly version: string;
}

type Header = readonly [name: string, value: string | Secret];

/**
 * Sends a request with the headers of the script and follows redirects if the step requests it. Each exchange is added to the report.
 * Returns the final response, and its URL with secrets masked.
 */
export async function sendRequest(spec: RequestSpec, context: StepContext, ports: HttpPorts) {
  const settings = { ...context.requests, ...spec.options };
  const { redirects: maxRedirects = 0, timeoutMs = DEFAULT_TIMEOUT_MS } = settings;
  const tls = await loadTlsFiles(settings, context, ports.files);
  const { clock } = context;
  const startedAt = clock.now();
  let { method, body } = spec;
  let { url, shown } = spec.target;
  let headers = buildHeaders(url, body, context, ports.version);
  rejectPlainHttp(spec, headers);
  let hasNonce = false;
  for (let redirects = 0; ; redirects++) {
    const attemptAt = clock.now();
    const proofs = headersOf(context).findProofs(headers);
    const proof: Header[] = proofs === undefined ? [] : [['DPoP', proofs.create(method, url)]];
    const sentHeaders = [...withCookies(headers, url, context), ...proof];
    const sent = { method, shownUrl: shown, headers: sentHeaders, body };
    const left = startedAt + timeoutMs - attemptAt;
    const limits = { timeoutMs: Math.max(1, left), signal: context.signal, maxBytes: MAX_BYTES, save: spec.save };
    let response: ApiResponse | undefined;
    let decoded: DecodedBody | undefined;
    try {
      response = await ports.callApi({ method, url, headers: sentHeaders, body: body?.pieces, tls }, limits);
      cookiesOf(context)?.store(url, response.headers['set-cookie'], clock.now());
      decoded = decodeBody(response, url, context);
    } finally {
      const elapsedMs = clock.now() - attemptAt;
      context.record({
        request: describeRequest(sent, context),
        ...(response && { response: describeResponse(response, decoded, context) }),
        startedAt: attemptAt,
        elapsedMs,
      });
    }
    const { status, headers: received } = response;
    if (proofs?.acceptNonce(url, { status, headers: received }) && !hasNonce) {
      hasNonce = true;
      redirects--;
      continue;
    }
    const next = maxRedirects > 0 ? redirectTarget(response, url, shown) : undefined;
    if (next === undefined) return { response, decoded, shownUrl: shown, elapsedMs: clock.now() - startedAt };
    if (redirects >= maxRedirects) throw new StepFailure(`${shown}: more than ${maxRedirects} redirects`);
    if (changesToGet(method, response.status)) {
      method = 'GET';
      body = undefined;
      headers = headers.filter(([name]) => !/^content-/i.test(name));
    }
    if (next.origin !== url.origin) headers = removeSecrets(headers, body, next, context);
    url = next;
    shown = showUrl(next, context);
  }
}

/** Adds the cookies of the script, unless it has set the header itself. */
function withCookies(headers: readonly Header[], url: URL, context: StepContext): readonly Header[] {
  const cookie = headers.some(([name]) => name.toLowerCase() === 'cookie') ? undefined : cookieHeader(url, context);
  return cookie === undefined ? headers : [...headers, cookie];
}

const TLS_STATE = Symbol('ws tls files');

/** Reads the certificates that the settings name, each file once. */
async function loadTlsFiles(
  { caFile, certFile, certKeyFile = certFile }: RequestSettings,
  context: StepContext,
  files: Files,
): Promise<TlsFiles | undefined> {
  if (caFile === undefined && certFile === undefined) return undefined;
  const known = context.state(TLS_STATE, () => new Map<string, Promise<string>>());
  const read = (path: string | undefined): Promise<string> | undefined => {
    if (path === undefined) return undefined;
    const reading =
      known.get(path) ?? files.read(path, context.source.directory).then((bytes) => new TextDecoder().decode(bytes));
    known.set(path, reading);
    return reading;
  };
  return { ca: await read(caFile), cert: await read(certFile), certKey: await read(certKeyFile) };
}

/** Combines the headers of the script with the defaults. */
function buildHeaders(url: URL, body: Body | undefined, context: StepContext, version: string): readonly Header[] {
  const { sent, withheld } = headersOf(context).select(url.origin);
  for (const { name, origins } of withheld) {
    context.log(
      `${name} is not sent to ${url.origin}: it contains a secret for ${origins.join(', ')}; set it again before this step to send it here too`,
    );
  }
  const defaults: Header[] = [
    ['User-Agent', `oauth-profile/${version}`],
    ['Accept', '*/*'],
    ...(body === undefined ? [] : [['Content-Type', body.contentType] as const]),
  ];
  const fixed = body?.fixedType ? 'content-type' : '';
  const given = sent.filter(([name]) => name.toLowerCase() !== fixed);
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...defaults.filter(([name]) => !names.has(name.toLowerCase())), ...given];
}

/** Secrets are sent without TLS only to loopback. */
function rejectPlainHttp({ target: { url, secret }, body }: RequestSpec, headers: readonly Header[]): void {
  if (isSecure(url)) return;
  const [header] = headers.find(([, value]) => value instanceof Secret) ?? [];
  const part = header !== undefined ? `the header ${header}` : secret ? 'the URL' : body?.secret && 'the body';
  if (!part) return;
  throw new StepFailure(`${part} contains a secret and ${url.origin} is not encrypted: nothing was sent`, {
    hint: `use https:${header === undefined ? '' : `, or remove the header with ws.clearHeaders: [${header}]`}`,
  });
}

/** Returns the target of a redirect; `undefined` if the response is not a redirect. */
function redirectTarget({ status, headers }: ApiResponse, url: URL, shown: string): URL | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') return undefined;
  const target = parseUrl(location, url);
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '')
    throw new StepFailure(`${shown} redirects to an invalid URL (HTTP ${status})`);
  if (url.protocol === 'https:' && target.protocol === 'http:') {
    const problem = 'which is not encrypted: the redirect is not followed';
    throw new StepFailure(`${shown} redirects to ${target.origin}, ${problem} (HTTP ${status})`);
  }
  target.hash = '';
  return target;
}

/** RFC 9110 §15.4: 303 changes every method to GET; after 301 and 302 a POST changes to GET, as in all clients. */
function changesToGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}

/** A redirect to another origin removes the headers with secrets for good. A body with secrets is not sent there at all. */
function removeSecrets(headers: readonly Header[], body: Body | undefined, { origin }: URL, context: StepContext) {
  const hint = `if this is intended, send the request to ${origin} directly`;
  assertStep(!body?.secret, `redirected to ${origin}, but the body contains a secret: it is not sent there`, { hint });
  const dropped = headers.filter(([, value]) => value instanceof Secret).map(([name]) => name);
  const verb = dropped.length === 1 ? 'is' : 'are';
  if (dropped.length > 0) context.log(`${dropped.join(', ')} ${verb} not sent to ${origin} after the redirect`);
  return headers.filter(([, value]) => !(value instanceof Secret));
}
