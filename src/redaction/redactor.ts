import { encodingsOf, MIN_SEARCHED_LENGTH } from './encodings.ts';
import { MASK, type Secret } from './secret.ts';

/** The result of scanning one chunk of output. */
export interface Redacted {
  /** Output that can be written, with secrets masked. */
  readonly safe: string;
  /** The end of the chunk that may be the beginning of a secret. Empty if the chunk was the last one. */
  readonly held: string;
  /** The number of characters at the start of `held` that are already part of a mask in `safe`. */
  readonly masked: number;
}

/** Encodings are looked up by their first characters, four of which fit into a 32-bit key. */
const PREFIX_LENGTH = 4;

/** Replaces known secrets in strings, in every encoding that `encodingsOf` lists. */
export class Redactor {
  readonly #added: Secret[] = [];
  readonly #values = new Set<string>();
  readonly #byPrefix = new Map<number, string[]>();
  /** The beginnings of encodings that are shorter than a prefix; a chunk may end with one of them. */
  readonly #shortPrefixes = new Set<string>();

  /** Adds a secret to search for. Its encodings are computed when the next string is scanned. */
  add(secret: Secret): void {
    this.#added.push(secret);
  }

  /** Returns `text` with every known secret masked. */
  redact(text: string): string {
    return this.scan(text, true).safe;
  }

  /**
   * Masks secrets in a chunk. Unless it is the last one, an end that may be the beginning of a secret is held back.
   * The first `masked` characters are already part of a mask.
   */
  scan(text: string, isLast: boolean, masked = 0): Redacted {
    this.#indexAdded();
    let safe = '';
    /** Everything before this position is in `safe`, unchanged or as part of a mask. */
    let written = masked;
    let held = isLast ? text.length : this.#startOfShortPrefix(text);
    let key = 0;
    for (let at = 0; at < text.length && this.#byPrefix.size > 0; at++) {
      key = appendToKey(key, text.charCodeAt(at));
      const candidates = this.#byPrefix.get(key);
      const start = at + 1 - PREFIX_LENGTH;
      if (candidates === undefined || start < 0) continue;
      if (!isLast && candidates.some((encoding) => endsWithinEncoding(text, start, encoding))) {
        held = start;
        break;
      }
      for (const encoding of candidates) {
        // Comparing slices is about ten times faster than `startsWith`.
        if (text.slice(start, start + encoding.length) !== encoding) continue;
        // Overlapping secrets get one mask, adjacent secrets one each.
        if (start >= written) safe += text.slice(written, start) + MASK;
        written = Math.max(written, start + encoding.length);
      }
    }
    if (written < held) safe += text.slice(written, held);
    return { safe, held: text.slice(held), masked: Math.max(0, written - held) };
  }

  /** The position of an end of `text` that is the beginning of an encoding and shorter than a prefix. */
  #startOfShortPrefix(text: string): number {
    let start = Math.max(0, text.length - PREFIX_LENGTH + 1);
    while (start < text.length && !this.#shortPrefixes.has(text.slice(start))) start++;
    return start;
  }

  #indexAdded(): void {
    for (const secret of this.#added.splice(0)) {
      const value = secret.reveal();
      // A server that repeats a value may remove the whitespace around it.
      for (const text of [value, value.trim()]) {
        if (text.length < MIN_SEARCHED_LENGTH || this.#values.has(text)) continue;
        this.#values.add(text);
        for (const encoding of encodingsOf(text)) this.#index(encoding);
      }
    }
  }

  #index(encoding: string): void {
    let key = 0;
    for (let at = 0; at < PREFIX_LENGTH; at++) {
      if (at > 0) this.#shortPrefixes.add(encoding.slice(0, at));
      key = appendToKey(key, encoding.charCodeAt(at));
    }
    const candidates = this.#byPrefix.get(key);
    if (candidates === undefined) this.#byPrefix.set(key, [encoding]);
    else candidates.push(encoding);
  }
}

/** Each character moves the earlier ones by 8 bits, so that the key depends on the last four characters only. */
function appendToKey(key: number, code: number): number {
  return (key << 8) ^ code;
}

/** Whether `text`, from `start` on, is the beginning of an encoding that is longer. */
function endsWithinEncoding(text: string, start: number, encoding: string): boolean {
  const length = text.length - start;
  return length < encoding.length && encoding.slice(0, length) === text.slice(start);
}

/** Redacts output that arrives in chunks, including secrets that are split across chunks. */
export class RedactedStream {
  #held = '';
  /** The number of characters at the start of `#held` that are written or masked already. */
  #masked = 0;

  constructor(
    readonly redactor: Redactor,
    readonly write: (text: string) => void,
  ) {}

  /** Writes a chunk, except for an end that may be the beginning of a secret. */
  push(text: string): void {
    this.#scan(text, false);
  }

  /** Writes text that the user requested in plaintext, after everything that was held back. */
  pushClear(text: string): void {
    this.flush();
    this.write(text);
  }

  /**
   * Writes a held-back line end before another stream continues on the same terminal. It is shorter than every secret
   * that is searched for. If a secret does continue after it, the rest of the secret is not written.
   */
  endLine(): void {
    const held = this.#held;
    if (!held.endsWith('\n') || held.length >= MIN_SEARCHED_LENGTH || held.length === this.#masked) return;
    this.write(held.slice(this.#masked));
    this.#masked = held.length;
  }

  /** Writes what is held back; the output ends or pauses here. */
  flush(): void {
    if (this.#held !== '') this.#scan('', true);
  }

  #scan(text: string, isLast: boolean): void {
    const { safe, held, masked } = this.redactor.scan(this.#held + text, isLast, this.#masked);
    this.#held = held;
    this.#masked = masked;
    if (safe !== '') this.write(safe);
  }
}
