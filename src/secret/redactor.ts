import { MASK, type Secret } from './secret.ts';
import { type Spelling, spellings } from './spellings.ts';

/** Shorter values are hidden in their own field only: scanning for `abc` would blacken innocent text. */
const SCANNED_LENGTH = 8;

/** Finds known secrets in texts, however they are written. */
export class Redactor {
  readonly #waiting: Secret[] = [];
  readonly #seen = new Set<string>();
  readonly #byFirst = new Map<string, Spelling[]>();

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
    for (let at = 0; at < text.length; at++) {
      const candidates = this.#byFirst.get(text.charAt(at));
      if (candidates === undefined) continue;
      const end = longestMatch(text, at, candidates, complete);
      if (end === MAY_GO_ON) return [safe + text.slice(copied, at), text.slice(at)];
      if (end === NO_MATCH) continue;
      safe += text.slice(copied, at) + MASK;
      copied = end;
      at = end - 1;
    }
    return [safe + text.slice(copied), ''];
  }

  #prepare(): void {
    for (const secret of this.#waiting.splice(0)) {
      const value = secret.reveal();
      if (value.length < SCANNED_LENGTH || this.#seen.has(value)) continue;
      this.#seen.add(value);
      for (const spelling of spellings(value)) {
        for (const first of new Set(spelling[0]?.map((way) => way.charAt(0)))) {
          const list = this.#byFirst.get(first);
          if (list === undefined) this.#byFirst.set(first, [spelling]);
          else list.push(spelling);
        }
      }
    }
  }
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
