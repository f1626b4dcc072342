import { closestMatch } from '../../../config/suggestions.ts';
import { isCollection, toText, type Value } from '../../../config/value.ts';
import type { ApiLimits, ApiResponse, CallApi, Files } from '../../../ports.ts';
import { parseDuration } from '../../../profile/options.ts';
import { isSecure, parseUrl } from '../../../profile/url.ts';
import { escapeControls } from '../../../redaction/sanitize.ts';
import { Secret } from '../../../redaction/secret.ts';
import { parameter } from '../../command.ts';
import { kinds } from '../../parameter-kinds.ts';
import { type StepContext, StepFailure } from '../../step-context.ts';
import type { Body } from './body.ts';
import { headersOf } from './headers.ts';
import { type DecodedBody, decodeBody, toExchange } from './response.ts';
import { type RequestUrl, showUrl } from './url.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1_048_576;
const MAX_REDIRECTS = 10;

/** The last parameter of every request. */
export const optionsParameter = parameter(
  'options',
  'map',
  'followRedirects: true follows up to 10 redirects; timeout: maximum total time (default 30s)',
  { optional: true },
);

/** The request of a step. */
export interface RequestSpec {
  readonly method: string;
  readonly target: RequestUrl;
  readonly body?: Body | undefined;
  /** The parameter `options` of the step. */
  readonly options: Readonly<Record<string, Value>> | undefined;
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
  const { followRedirects, timeoutMs } = parseRequestOptions(spec.options);
  const { clock } = context;
  const startedAt = clock.now();
  let { method, body } = spec;
  let { url, shown } = spec.target;
  let headers = buildHeaders(url, body, context, ports.version);
  rejectPlainHttp(spec, headers);
  for (let redirects = 0; ; redirects++) {
    const attemptAt = clock.now();
    const sent = { method, shownUrl: shown, headers, shownBody: body?.shown };
    const left = startedAt + timeoutMs - attemptAt;
    const limits = { timeoutMs: Math.max(1, left), signal: context.signal, maxBytes: MAX_BYTES, save: spec.save };
    let response: ApiResponse | undefined;
    let decoded: DecodedBody | undefined;
    try {
      response = await ports.callApi({ method, url, headers, body: body?.pieces }, limits);
      decoded = decodeBody(response, url, context);
    } finally {
      context.record(toExchange(sent, response, decoded, clock.now() - attemptAt, context));
    }
    const next = followRedirects ? redirectTarget(response, url, shown) : undefined;
    if (next === undefined) return { response, decoded, shownUrl: shown, elapsedMs: clock.now() - startedAt };
    if (redirects >= MAX_REDIRECTS) throw new StepFailure(`${shown}: more than ${MAX_REDIRECTS} redirects`);
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

function parseRequestOptions(options: RequestSpec['options'] = {}): { followRedirects: boolean; timeoutMs: number } {
  const known = ['followRedirects', 'timeout'];
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = closestMatch(name, known);
    throw new StepFailure(`options: unknown option ${escapeControls(name)}`, {
      hint: near === undefined ? `the options are ${known.join(', ')}` : `did you mean ${near}?`,
    });
  }
  const { followRedirects = false, timeout = '' } = options;
  const follow = kinds.flag.read(followRedirects);
  if (typeof follow !== 'boolean') throw new StepFailure('options: followRedirects must be true or false');
  const time = isCollection(timeout) ? '?' : String(toText(timeout));
  const timeoutMs = time === '' ? DEFAULT_TIMEOUT_MS : parseDuration(time);
  if (timeoutMs === undefined) throw new StepFailure('options: timeout must be a duration such as 30s, 500ms or 2m');
  return { followRedirects: follow, timeoutMs };
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
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '') {
    throw new StepFailure(`${shown} redirects to an invalid URL (HTTP ${status})`);
  }
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
function removeSecrets(
  headers: readonly Header[],
  body: Body | undefined,
  { origin }: URL,
  context: StepContext,
): readonly Header[] {
  if (body?.secret) {
    throw new StepFailure(`redirected to ${origin}, but the body contains a secret: it is not sent there`, {
      hint: `if this is intended, send the request to ${origin} directly`,
    });
  }
  const dropped = headers.filter(([, value]) => value instanceof Secret).map(([name]) => name);
  const verb = dropped.length === 1 ? 'is' : 'are';
  if (dropped.length > 0) context.log(`${dropped.join(', ')} ${verb} not sent to ${origin} after the redirect`);
  return headers.filter(([, value]) => !(value instanceof Secret));
}
