import { Redactor } from '../redaction/redactor.ts';
import { escapeControls, excerpt } from '../redaction/sanitize.ts';
import { MASK, Secret } from '../redaction/secret.ts';
import type { Exchange } from './http-response.ts';
import { isSecretOfErrorResponse } from './secret-members.ts';

/** Makes a string of the provider safe to show: masks secrets, escapes controls, cuts it to `length` characters. */
export type Quote = (text: string, length: number) => string;

/** Longer strings are truncated before they are searched; a partial secret at the end is dropped. In characters. */
const MAX_SEARCHED_LENGTH = 65_536;

/** Client assertions are new for each attempt, so they are recognized by their format. No other JWT is shown either. */
const jwt = /(?:(?<![\w-])|(?<=%[0-9a-fA-F]{2}))eyJ[\w-]+\.[\w-]+\.[\w-]*/g;

/**
 * The separator between a name and its value, in a form or in JSON, each possibly escaped once more. The search starts
 * at the separator: starting at the name would be slow for long words.
 */
const separator = String.raw`(?<=([\w.-]{1,64})(?:\\{0,4}["']|%22|&quot;)?\s{0,4})(?:[:=]|%3[ADad])`;
const namedValue = new RegExp(String.raw`${separator}(\s{0,4}(?:\\{0,4}["']|%22|&quot;)?)([^\s"'&,;<>{}[\]\\]+)`, 'g');

/**
 * Creates the quote for an error response. A provider may repeat what it received, or include a token, so the secrets
 * of the request, of the proxy and of the response itself (`found`) are masked before anything is escaped or truncated.
 */
export function createRedactedQuote(exchange: Exchange, found: readonly Secret[]): Quote {
  return createQuote([...collectSecrets(exchange), ...(exchange.response.secrets ?? []), ...found]);
}

/** Creates a quote for strings in lower case, such as a parsed host name. */
export function createLowerCaseQuote(exchange: Exchange): Quote {
  return createQuote(collectSecrets(exchange).map((secret) => secret.map((value) => value.toLowerCase())));
}

function createQuote(secrets: readonly Secret[]): Quote {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  return (text, length) => {
    const { safe } = redactor.scan(text.slice(0, MAX_SEARCHED_LENGTH), text.length <= MAX_SEARCHED_LENGTH);
    // Redacted again: escaping turns line breaks into spaces, which may restore a passphrase that was wrapped.
    const line = redactor.redact(escapeControls(safe)).replace(jwt, MASK);
    return excerpt(line.replace(namedValue, maskNamedValue), length);
  };
}

/** `access_token=2Yotn…` → `access_token=••••`. A short word after `: ` may also be the rest of a sentence. */
function maskNamedValue(whole: string, name: string, between: string, value: string): string {
  const isWord = whole.startsWith(':') && /^\s+$/.test(between) && !/\d/.test(value) && value.length < 20;
  return isSecretOfErrorResponse(name) && !isWord ? whole.slice(0, -value.length) + MASK : whole;
}

/** Truncates a string after the first sensitive name: in incomplete JSON the end of a secret cannot be determined. */
export function truncateBeforeSecret(text: string): string {
  const searched = text.slice(0, MAX_SEARCHED_LENGTH);
  for (const match of searched.matchAll(new RegExp(separator, 'g'))) {
    const [found, name = ''] = match;
    if (isSecretOfErrorResponse(name)) return `${text.slice(0, match.index + found.length)}${MASK}`;
  }
  return text;
}

function collectSecrets({ profile: { fields, basic }, request: { form, headers } }: Exchange): Secret[] {
  const { Authorization: header } = headers;
  return [
    // Values in a Basic header are not part of the form.
    ...[...form, ...fields].map(({ value }) => value),
    basic?.user.value,
    basic?.password.value,
    header,
    header instanceof Secret ? header.map((value) => value.replace(/^\w+ /, '')) : undefined,
  ].filter((value) => value instanceof Secret);
}
