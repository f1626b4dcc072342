import { excerpt } from '../secret/printable.ts';
import { Redactor } from '../secret/redactor.ts';
import { Secret } from '../secret/secret.ts';
import type { TokenRequest } from './build-request.ts';

/** Makes a piece of a provider's text fit to be shown, at most `length` characters of it. */
export type Quote = (text: string, length: number) => string;

/** Longer texts are cut before they are searched; what may be half a secret at the cut is dropped. */
const SEARCHED_LENGTH = 65_536;

/** A provider may repeat what it was sent, so its words are shown without the request's secrets: masked first, then escaped and cut. */
export function quoteWithout(request: TokenRequest): Quote {
  const redactor = new Redactor();
  for (const { value } of request.form) if (value instanceof Secret) redactor.add(value);
  for (const value of Object.values(request.headers)) if (value instanceof Secret) redactor.add(value);
  return (text, length) => {
    const [safe] = redactor.scan(text.slice(0, SEARCHED_LENGTH), text.length <= SEARCHED_LENGTH);
    return excerpt(safe, length);
  };
}
