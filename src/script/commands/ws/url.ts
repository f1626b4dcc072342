import { isCollection, toText, type Value } from '../../../config/value.ts';
import { joinStrings, MASK, Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';
import { headersOf } from './headers.ts';

/** Where a request goes. */
export interface Address {
  readonly url: URL;
  /** Whether a secret is part of it. */
  readonly secret: boolean;
  /** The address as a person may see it. */
  readonly shown: string;
}

/** Reads an address and what is to be added to its query: a text such as `a=1&b=2`, or a map whose lists become one name several times. */
export function readAddress(context: StepContext, text: string | Secret, query: Value = ''): Address {
  const url = parseUrl(text);
  // Whatever else goes wrong with this step: a header that was set for it must not go to the next one's origin.
  headersOf(context).claim(url.origin);
  const { href, origin } = url;
  const added = queryOf(query);
  if (added.length > 0) {
    const clear = typeof added === 'string' ? added : added.reveal();
    url.search = url.search === '' ? clear : `${url.search}&${clear}`;
  }
  if (text instanceof Secret) return { url, secret: true, shown: `${origin}/${MASK}` };
  if (added instanceof Secret) return { url, secret: true, shown: `${showUrl(new URL(href)).split('?')[0]}?${MASK}` };
  return { url, secret: false, shown: showUrl(url) };
}

/** An address in which those parts of the query are masked whose names say that they are secret. */
export function showUrl(url: URL): string {
  const shown = url.search.replace(/([?&])([^=&]*)=([^&]+)/g, (whole, mark: string, name: string, value: string) => {
    if (!isSensitiveName(decoded(name))) return whole;
    // Whoever repeats it must not show it either.
    new Secret(decoded(value));
    return `${mark}${name}=${MASK}`;
  });
  return `${url.origin}${url.pathname}${shown}`;
}

function parseUrl(text: string | Secret): URL {
  const clear = typeof text === 'string' ? text.trim() : text.reveal().trim();
  const shown = typeof text === 'string' ? `${JSON.stringify(clear)} ` : '';
  if (/[\0-\x1f\\]/.test(clear)) throw badUrl(`url ${shown}has line ends, control characters or backslashes in it`);
  if (!/^https?:\/\//i.test(clear) || !URL.canParse(clear)) throw badUrl(`url ${shown}is not a complete address`);
  const url = new URL(clear);
  if (url.username !== '' || url.password !== '') {
    throw new StepFailure('url has a user name or password in it', {
      hint: 'set the header Authorization instead: addresses are written into logs',
    });
  }
  // It is the caller's alone (RFC 9110 §4.2.5).
  url.hash = '';
  return url;
}

function badUrl(message: string): StepFailure {
  return new StepFailure(message, { hint: 'write https://host/path' });
}

function queryOf(query: Value): string | Secret {
  if (!isCollection(query)) {
    const text = toText(query);
    return typeof text === 'string' ? encodeRest(text) : text.map(encodeRest);
  }
  if (Array.isArray(query)) throw new StepFailure('queryString must be text or a map');
  const parts: (string | Secret)[] = [];
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (isCollection(value)) throw new StepFailure(`queryString: ${name} has parts and cannot stand in an address`);
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

/** Escapes what cannot stand in a query; what is escaped already, and the marks between the parts, stay. */
function encodeRest(text: string): string {
  return text.replace(/^\?/, '').replace(/%(?![0-9A-Fa-f]{2})|[^\w\-.~!$&'()*+,;=:@/?%]+/gu, (rest) => encode(rest));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
