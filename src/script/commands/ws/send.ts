import { closestMatch } from '../../../config/suggestions.ts';
import { isCollection, toText, type Value } from '../../../config/value.ts';
import type { ApiLimits, ApiResponse, CallApi } from '../../../ports.ts';
import { isLoopback } from '../../../profile/loopback.ts';
import { parseDuration } from '../../../profile/options.ts';
import { escapeControls } from '../../../redaction/sanitize.ts';
import { Secret } from '../../../redaction/secret.ts';
import { kinds } from '../../parameter-kinds.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';
import type { Body } from './body.ts';
import { toExchange } from './exchange.ts';
import { headersOf } from './headers.ts';
import { type Address, showUrl } from './url.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1_048_576;
const MAX_REDIRECTS = 10;

/** The parameter that every request ends with. */
export const optionsParameter = {
  name: 'options',
  kind: 'map',
  help: 'followRedirects: true follows up to 10 of them; timeout: total time (30s)',
  optional: true,
} as const;

/** What a step asks for. */
export interface Outgoing {
  readonly method: string;
  readonly address: Address;
  readonly body?: Body | undefined;
  /** `undefined` where the step gives none. */
  readonly options: Readonly<Record<string, Value>> | undefined;
  readonly save?: ApiLimits['save'];
}

/** What came back. */
export interface Incoming {
  readonly reply: ApiResponse;
  /** Where it came from, as a person may see it. */
  readonly from: string;
  readonly elapsedMs: number;
}

/** What sending needs of the world. */
export interface SendPorts {
  readonly callApi: CallApi;
  /** Version of this package, for the User-Agent. */
  readonly version: string;
}

type Header = readonly [name: string, value: string | Secret];

/** Sends a step's request with the script's headers, and follows redirects where the step asks for it; each exchange goes into the report. */
export async function sendRequest(outgoing: Outgoing, context: StepContext, ports: SendPorts): Promise<Incoming> {
  const { followRedirects, timeoutMs } = readRequestOptions(outgoing.options);
  const { clock } = context;
  const startedAt = clock.now();
  let { method, body } = outgoing;
  let { url, shown } = outgoing.address;
  let headers = ownHeaders(url, body, context, ports.version);
  refusePlainHttp(outgoing, headers);
  for (let redirects = 0; ; redirects++) {
    const attemptAt = clock.now();
    const sent = { method, shownUrl: shown, headers, shownBody: body?.shown };
    const left = startedAt + timeoutMs - attemptAt;
    const bounds = { timeoutMs: Math.max(1, left), signal: context.signal, maxBytes: MAX_BYTES, save: outgoing.save };
    let reply: ApiResponse | undefined;
    try {
      reply = await ports.callApi({ method, url, headers, body: body?.pieces }, bounds);
    } finally {
      context.record(toExchange(sent, reply, clock.now() - attemptAt, context));
    }
    const next = followRedirects ? targetOf(reply, url, shown) : undefined;
    if (next === undefined) return { reply, from: shown, elapsedMs: clock.now() - startedAt };
    if (redirects >= MAX_REDIRECTS) throw new StepFailure(`${shown} is redirected more than ${MAX_REDIRECTS} times`);
    if (changesToGet(method, reply.status)) {
      method = 'GET';
      body = undefined;
      headers = headers.filter(([name]) => !/^content-/i.test(name));
    }
    if (next.origin !== url.origin) headers = withoutSecrets(headers, body, next, context);
    url = next;
    shown = showUrl(next);
  }
}

function readRequestOptions(options: Outgoing['options'] = {}): { followRedirects: boolean; timeoutMs: number } {
  const known = ['followRedirects', 'timeout'];
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = closestMatch(name, known);
    throw new StepFailure(`options: there is no option ${escapeControls(name)}`, {
      hint: near === undefined ? `options are ${known.join(', ')}` : `did you mean ${near}?`,
    });
  }
  const { followRedirects = false, timeout = '' } = options;
  const follow = kinds.flag.read(followRedirects);
  if (typeof follow !== 'boolean') throw new StepFailure('options: followRedirects must be true or false');
  const time = isCollection(timeout) ? '?' : String(toText(timeout));
  const timeoutMs = time === '' ? DEFAULT_TIMEOUT_MS : parseDuration(time);
  if (timeoutMs === undefined) throw new StepFailure('options: timeout must be a time such as 30s, 500ms or 2m');
  return { followRedirects: follow, timeoutMs };
}

/** The script's headers, and what every request has where the script does not say otherwise. */
function ownHeaders(url: URL, body: Body | undefined, context: StepContext, version: string): readonly Header[] {
  const { sent, withheld } = headersOf(context).choose(url.origin);
  for (const { name, origins } of withheld) {
    context.say(
      `${name} is not sent to ${url.origin}: it is a secret of ${origins.join(', ')}; set it again before this step to send it here too`,
    );
  }
  const own: Header[] = [
    ['User-Agent', `oauth-profile/${version}`],
    ['Accept', '*/*'],
  ];
  if (body !== undefined) own.push(['Content-Type', body.contentType]);
  const fixed = body?.fixedType ? 'content-type' : '';
  const given = sent.filter(([name]) => name.toLowerCase() !== fixed);
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...own.filter(([name]) => !names.has(name.toLowerCase())), ...given];
}

/** Without TLS secrets stay on this machine. */
function refusePlainHttp({ address: { url, secret }, body }: Outgoing, headers: readonly Header[]): void {
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return;
  const [header] = headers.find(([, value]) => value instanceof Secret) ?? [];
  const holder = header !== undefined ? `the header ${header}` : secret ? 'the address' : body?.secret && 'the body';
  if (!holder) return;
  throw new StepFailure(`${holder} holds a secret, and ${url.origin} is not encrypted: nothing was sent`, {
    hint: `use https:${header === undefined ? '' : `, or remove the header with ws.clearHeaders: [${header}]`}`,
  });
}

/** Where a redirect leads; `undefined` for a reply that is none. */
function targetOf({ status, headers }: ApiResponse, url: URL, shown: string): URL | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') return undefined;
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '') {
    throw new StepFailure(`${shown} redirects to an address that cannot be followed (HTTP ${status})`);
  }
  if (url.protocol === 'https:' && target.protocol === 'http:') {
    throw new StepFailure(
      `${shown} redirects to ${target.origin}, which is not encrypted: it is not followed (HTTP ${status})`,
    );
  }
  target.hash = '';
  return target;
}

/** RFC 9110 §15.4: 303 always asks for the result with GET, and after 301 and 302 everybody does so for a POST. */
function changesToGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}

/** On its way to another origin a request loses its secrets for good; a body that holds some does not go there at all. */
function withoutSecrets(
  headers: readonly Header[],
  body: Body | undefined,
  { origin }: URL,
  context: StepContext,
): readonly Header[] {
  if (body?.secret) {
    throw new StepFailure(`the redirect leads to ${origin}, and the body holds a secret: it is not sent there`, {
      hint: `send the request to ${origin} itself, if that is meant`,
    });
  }
  const dropped = headers.filter(([, value]) => value instanceof Secret).map(([name]) => name);
  if (dropped.length > 0) {
    context.say(
      `${dropped.join(', ')} ${dropped.length === 1 ? 'is' : 'are'} not sent along the redirect to ${origin}`,
    );
  }
  return headers.filter(([, value]) => !(value instanceof Secret));
}
