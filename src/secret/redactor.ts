import { MASK, type Secret } from './secret.ts';
import { type Spelling, spellings } from './spellings.ts';

/** Shorter values are hidden in their own field only: scanning for `abc` would blacken innocent text. */
const SCANNED_LENGTH = 8;

/** A process may hold thousands of secrets: by so many characters those that may begin at a place are told from the others. */
const PREFIX = 4;

/** Several redactors hear of the same secret. */
const known = new WeakMap<Secret, readonly Spelling[]>();

/** Finds known secrets in texts, however they are written. */
export class Redactor {
  readonly #waiting: Secret[] = [];
  readonly #seen = new Set<string>();
  readonly #byPrefix = new Map<number, Spelling[]>();
  /** What is shorter than a prefix, and may go on to be one. */
  readonly #beginnings = new Set<string>();

  /** Spellings are made when a text is scanned, so that a secret costs nothing where nothing is printed. */
  add(secret: Secret): void {
    this.#waiting.push(secret);
  }

  /** The text with every known secret masked. */
  redact(text: string): string {
    return this.scan(text, true)[0];
  }

  /** Splits a text into what can be shown and, if more may follow, an end that could be the beginning of a secret. */
  scan(text: string, complete: boolean): [safe: string, held: string] {
    this.#prepare();
    let safe = '';
    let copied = 0;
    const whole = text.length - PREFIX;
    for (let at = 0; at <= whole; at++) {
      const candidates = this.#byPrefix.get(prefixAt(text, at));
      if (candidates === undefined) continue;
      const end = longestMatch(text, at, candidates, complete);
      if (end === MAY_GO_ON) return [safe + text.slice(copied, at), text.slice(at)];
      if (end === NO_MATCH) continue;
      safe += text.slice(copied, at) + MASK;
      copied = end;
      at = end - 1;
    }
    for (let at = Math.max(copied, whole + 1); !complete && at < text.length; at++) {
      if (this.#beginnings.has(text.slice(at))) return [safe + text.slice(copied, at), text.slice(at)];
    }
    return [safe + text.slice(copied), ''];
  }

  #prepare(): void {
    for (const secret of this.#waiting.splice(0)) {
      const value = secret.reveal();
      if (value.length < SCANNED_LENGTH || this.#seen.has(value)) continue;
      this.#seen.add(value);
      const found = known.get(secret) ?? spellings(value);
      known.set(secret, found);
      for (const spelling of found) this.#index(spelling);
    }
  }

  #index(spelling: Spelling): void {
    for (const prefix of prefixesOf(spelling)) {
      const key = prefixAt(prefix, 0);
      const list = this.#byPrefix.get(key);
      if (list === undefined) this.#byPrefix.set(key, [spelling]);
      else if (list.at(-1) !== spelling) list.push(spelling);
      for (let length = 1; length < PREFIX; length++) this.#beginnings.add(prefix.slice(0, length));
    }
  }
}

/** Every way in which a spelling can begin. No secret that is looked for, however written, is shorter. */
function prefixesOf(spelling: Spelling): Set<string> {
  const complete = new Set<string>();
  let growing = new Set(['']);
  for (const ways of spelling) {
    const longer = new Set<string>();
    for (const prefix of growing) {
      for (const way of ways) {
        const next = (prefix + way).slice(0, PREFIX);
        (next.length === PREFIX ? complete : longer).add(next);
      }
    }
    if (longer.size === 0) break;
    growing = longer;
  }
  return complete;
}

/** The characters at a place as one number. Different ones may have the same, which costs time and nothing else. */
function prefixAt(text: string, at: number): number {
  let key = 0;
  for (let i = 0; i < PREFIX; i++) key = (key << 8) ^ text.charCodeAt(at + i);
  return key;
}

const NO_MATCH = -1;
/** What comes next decides whether there is a match, or how long it is. */
const MAY_GO_ON = -2;

function longestMatch(text: string, at: number, candidates: readonly Spelling[], complete: boolean): number {
  let longest = NO_MATCH;
  for (const spelling of candidates) {
    const end = matchEnd(text, at, spelling, complete);
    if (end === MAY_GO_ON) return MAY_GO_ON;
    if (end > longest) longest = end;
  }
  return longest;
}

/** Follows all ways to write each part side by side, so that a hostile text cannot make it backtrack. */
function matchEnd(text: string, start: number, spelling: Spelling, complete: boolean): number {
  let ends = [start];
  let mayGoOn = false;
  for (const ways of spelling) {
    const next: number[] = [];
    for (const from of ends) {
      const seen = text[from];
      for (const way of ways) {
        if (seen !== undefined && seen !== way[0]) continue;
        const to = from + way.length;
        if (to > text.length) mayGoOn ||= !complete && way.startsWith(text.slice(from));
        else if (text.startsWith(way, from) && !next.includes(to)) next.push(to);
      }
    }
    if (next.length === 0) return mayGoOn ? MAY_GO_ON : NO_MATCH;
    ends = next;
  }
  return mayGoOn ? MAY_GO_ON : Math.max(...ends);
}

/** Redacts a text that arrives in pieces: a secret split over two of them is found too. */
export class RedactedStream {
  #held = '';

  constructor(
    readonly redactor: Redactor,
    readonly write: (text: string) => void,
  ) {}

  push(text: string): void {
    this.#scan(text, false);
  }

  /** Writes text that a person asked for as it is; what was held back goes first. */
  pushClear(text: string): void {
    this.flush();
    this.write(text);
  }

  /** Lets go of an end that turned out to be no secret. */
  flush(): void {
    if (this.#held !== '') this.#scan('', true);
  }

  #scan(text: string, complete: boolean): void {
    const [safe, held] = this.redactor.scan(this.#held + text, complete);
    this.#held = held;
    if (safe !== '') this.write(safe);
  }
}
