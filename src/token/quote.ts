import type { Profile } from '../profile/profile.ts';
import { excerpt, printable } from '../secret/printable.ts';
import { Redactor } from '../secret/redactor.ts';
import { MASK, Secret } from '../secret/secret.ts';
import type { TokenRequest } from './build-request.ts';

/** Makes a piece of a provider's text fit to be shown, at most `length` characters of it. */
export type Quote = (text: string, length: number) => string;

/** Longer texts are cut before they are searched; what may be half a secret at the cut is dropped. */
const SEARCHED_LENGTH = 65_536;

/** Assertions are signed anew for each attempt, so they are known by their form; no other JWT belongs into a message either. */
const jwt = /(?:(?<![\w-])|(?<=%[0-9a-fA-F]{2}))eyJ[\w-]+\.[\w-]+\.[\w-]*/g;

/** A provider may repeat what it was sent, so its words are shown without the request's secrets: masked first, then escaped and cut. */
export function quoteWithout(profile: Profile, request: TokenRequest): Quote {
  const redactor = new Redactor();
  for (const secret of secretsOf(profile, request)) redactor.add(secret);
  return (text, length) => {
    const { safe } = redactor.scan(text.slice(0, SEARCHED_LENGTH), text.length <= SEARCHED_LENGTH);
    // Line ends become blanks, which may put a wrapped passphrase together again.
    return excerpt(redactor.redact(printable(safe)).replace(jwt, MASK), length);
  };
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
