import type { Profile } from '../profile/profile.ts';
import { Redactor } from '../redaction/redactor.ts';
import { escapeControls, excerpt } from '../redaction/sanitize.ts';
import { MASK, Secret } from '../redaction/secret.ts';
import type { HttpResponse } from './http-response.ts';
import { isSecretOfErrorResponse } from './secret-members.ts';
import type { TokenRequest } from './token-request.ts';

/** Makes a piece of a provider's text fit to be shown, at most `length` characters of it. */
export type Quote = (text: string, length: number) => string;

/** Longer texts are cut before they are searched; what may be half a secret at the cut is dropped. */
const SEARCHED_LENGTH = 65_536;

/** Assertions are signed anew for each attempt, so they are known by their form; no other JWT belongs into a message either. */
const jwt = /(?:(?<![\w-])|(?<=%[0-9a-fA-F]{2}))eyJ[\w-]+\.[\w-]+\.[\w-]*/g;

/** The sign between a name and its value, in a form, in JSON, or in either escaped once more. Found by the sign: words can be long. */
const sign = String.raw`(?<=([\w.-]{1,64})(?:\\{0,4}["']|%22|&quot;)?\s{0,4})(?:[:=]|%3[ADad])`;
const named = new RegExp(String.raw`${sign}(\s{0,4}(?:\\{0,4}["']|%22|&quot;)?)([^\s"'&,;<>{}[\]\\]+)`, 'g');

/**
 * A provider may repeat what it was sent, or tell what it meant to give, so its words are shown without the secrets of the request, of the
 * way to it and of its own reply: masked first, then escaped and cut.
 */
export function createRedactedQuote(
  profile: Profile,
  request: TokenRequest,
  reply: HttpResponse,
  found: readonly Secret[] = [],
): Quote {
  return quoteWithoutThe([...secretsOf(profile, request), ...(reply.secrets ?? []), ...found]);
}

/** For what has lost its capitals, as the name of a host does by being looked up. */
export function createLowerCaseQuote(profile: Profile, request: TokenRequest): Quote {
  return quoteWithoutThe(secretsOf(profile, request).map((secret) => secret.map((clear) => clear.toLowerCase())));
}

function quoteWithoutThe(secrets: readonly Secret[]): Quote {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  return (text, length) => {
    const { safe } = redactor.scan(text.slice(0, SEARCHED_LENGTH), text.length <= SEARCHED_LENGTH);
    // Line ends become blanks, which may put a wrapped passphrase together again.
    const line = redactor.redact(escapeControls(safe)).replace(jwt, MASK);
    return excerpt(line.replace(named, withoutSecret), length);
  };
}

/** `access_token=2Yotn…` → `access_token=••••`; a word after a colon and a blank may also be the rest of a sentence. */
function withoutSecret(whole: string, name: string, between: string, value: string): string {
  const word = whole.startsWith(':') && /^\s+$/.test(between) && !/\d/.test(value) && value.length < 20;
  return isSecretOfErrorResponse(name) && !word ? whole.slice(0, -value.length) + MASK : whole;
}

/** A text up to the first name that says that a secret follows; in a cut JSON text nobody can tell where the secret ends. */
export function truncateBeforeSecret(text: string): string {
  const searched = text.slice(0, SEARCHED_LENGTH);
  for (const {
    0: { length },
    1: name = '',
    index,
  } of searched.matchAll(new RegExp(sign, 'g'))) {
    if (isSecretOfErrorResponse(name)) return `${text.slice(0, index + length)}${MASK}`;
  }
  return text;
}

function secretsOf({ fields, basic }: Profile, { form, headers }: TokenRequest): Secret[] {
  const { Authorization: header } = headers;
  return [
    // What a Basic header was made from is in no field of the form.
    ...[...form, ...fields].map(({ value }) => value),
    basic?.user.value,
    basic?.password.value,
    header,
    header instanceof Secret ? header.map((value) => value.replace(/^\w+ /, '')) : undefined,
  ].filter((value) => value instanceof Secret);
}
