import { isCollection, toText, type Value } from '../../../config/value.ts';
import { parseUrl } from '../../../profile/url.ts';
import { joinStrings, MASK, Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import { attempt } from '../../attempt.ts';
import { isSecretMember } from '../../engine/api-secrets.ts';
import { assertStep, type StepContext, StepFailure } from '../../step-context.ts';
import { headersOf } from './headers.ts';

/** URL of a request. */
export interface RequestUrl {
  readonly url: URL;
  /** Whether the URL contains a secret. */
  readonly secret: boolean;
  /** The URL with its secrets masked. */
  readonly shown: string;
}

/** Reads a URL and appends a query: a string such as `a=1&b=2`, or a map whose lists repeat their name. */
export function readUrl(context: StepContext, text: string | Secret, query: Value = ''): RequestUrl {
  const url = parseUrlParameter(text);
  // Even if this step fails later, a header that was set for it must not be sent to the origin of the next request.
  headersOf(context).bindPending(url.origin);
  const { href, origin } = url;
  const added = encodeQuery(query);
  if (added.length > 0) {
    const clear = typeof added === 'string' ? added : added.reveal();
    url.search = url.search === '' ? clear : `${url.search}&${clear}`;
  }
  if (text instanceof Secret) return { url, secret: true, shown: `${origin}/${MASK}` };
  if (added instanceof Secret)
    return { url, secret: true, shown: `${showUrl(new URL(href), context).split('?')[0]}?${MASK}` };
  return { url, secret: false, shown: showUrl(url, context) };
}

/** Formats a URL with the values of sensitive query parameters masked; they are masked in all other output of the script too. */
export function showUrl(url: URL, { apiSecrets }: StepContext): string {
  const isRedirect = url.searchParams.has('code') && url.searchParams.has('state');
  const shown = url.search.replace(
    /([?&])([^=&]*)=([^&]+)/g,
    (whole, separator: string, rawName: string, rawValue: string) => {
      const [name, value] = [decodeComponent(rawName), decodeComponent(rawValue)];
      const isSecret = isTokenEndpoint(url) ? isSensitiveName(name) : isSecretMember(name, value);
      if (!isSecret && !(isRedirect && name === 'code')) return whole;
      apiSecrets.add(value);
      return `${separator}${rawName}=${MASK}`;
    },
  );
  return `${url.origin}${url.pathname}${shown}`;
}

/** Returns whether a URL is likely a token, authorization, introspection or revocation endpoint: names decide there what is a secret. */
export function isTokenEndpoint({ pathname }: URL): boolean {
  return /\/(?:token|introspect(?:ion)?|revoke|revocation|authorize|device_?authorization|devicecode|par)\/?$/i.test(
    pathname,
  );
}

function parseUrlParameter(text: string | Secret): URL {
  const clear = typeof text === 'string' ? text.trim() : text.reveal().trim();
  const shown = typeof text === 'string' ? `${JSON.stringify(clear)} ` : '';
  const hasControls = /[\0-\x1f\\]/.test(clear);
  const url = /^https?:\/\//i.test(clear) && !hasControls ? parseUrl(clear) : undefined;
  if (url === undefined) {
    const problem = hasControls
      ? 'contains line breaks, control characters or backslashes'
      : 'is not an absolute http or https URL';
    throw new StepFailure(`url ${shown}${problem}`, { hint: 'write https://host/path' });
  }
  const hint = 'set the header Authorization instead: URLs appear in logs';
  assertStep(url.username === '' && url.password === '', 'url contains a user name or password', { hint });
  // A fragment is not sent (RFC 9110 §4.2.5).
  url.hash = '';
  return url;
}

function encodeQuery(query: Value): string | Secret {
  if (!isCollection(query)) return mapText(toText(query), escapeQuery);
  if (Array.isArray(query)) throw new StepFailure('queryString must be a string or a map');
  const parts: (string | Secret)[] = [];
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      assertStep(!isCollection(value), `queryString: ${name} is a list or map and cannot be a query parameter`);
      parts.push(`${parts.length === 0 ? '' : '&'}${encode(name)}=`, mapText(toText(value), encode));
    }
  }
  return joinStrings(parts);
}

function mapText(text: string | Secret, change: (clear: string) => string): string | Secret {
  return typeof text === 'string' ? change(text) : text.map(change);
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Escapes the characters that are not allowed in a query; existing escapes and separators stay. */
function escapeQuery(text: string): string {
  return text.replace(/^\?/, '').replace(/%(?![0-9A-Fa-f]{2})|[^\w\-.~!$&'()*+,;=:@/?%]+/gu, (rest) => encode(rest));
}

function decodeComponent(text: string): string {
  return attempt(() => decodeURIComponent(text.replaceAll('+', ' '))) ?? text;
}
