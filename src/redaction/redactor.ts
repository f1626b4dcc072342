import { Heads } from './heads.ts';
import { Scan } from './scan.ts';
import { MASK, type Secret } from './secret.ts';
import { spellings } from './spellings.ts';

/** Shorter values are hidden in their own field only: scanning for `abc` would blacken innocent text. */
const SCANNED_LENGTH = 8;

/** What came of a piece of text. */
export interface Redacted {
  /** What can be shown, masked. */
  readonly safe: string;
  /** An end that could be the beginning of a secret, if more may follow. */
  readonly held: string;
  /** How many characters of `held` belong to a secret that is masked in `safe` already. */
  readonly masked: number;
}

/** Finds known secrets in texts, however they are written. */
export class Redactor {
  readonly #waiting: Secret[] = [];
  readonly #seen = new Set<string>();
  readonly #heads = new Heads();

  /** Spellings are made when a text is scanned, so that a secret costs nothing where nothing is printed. */
  add(secret: Secret): void {
    this.#waiting.push(secret);
  }

  /** The text with every known secret masked. */
  redact(text: string): string {
    return this.scan(text, true).safe;
  }

  /** Masks a text; if more may follow, an end that is not decided is held back. `masked` characters were part of a mask before it. */
  scan(text: string, complete: boolean, masked = 0): Redacted {
    this.#prepare();
    if (this.#heads.isEmpty) return { safe: text, held: '', masked: 0 };
    const { found, decided } = new Scan(text, this.#heads, complete).run();
    let safe = '';
    let shown = masked;
    for (const [start, end] of found) {
      if (start >= decided) break;
      // Secrets that overlap are one mask, secrets side by side are two.
      if (start >= shown) safe += text.slice(shown, start) + MASK;
      shown = Math.max(shown, end);
    }
    if (shown < decided) safe += text.slice(shown, decided);
    return { safe, held: text.slice(decided), masked: Math.max(0, shown - decided) };
  }

  #prepare(): void {
    for (const secret of this.#waiting.splice(0)) {
      const value = secret.reveal();
      // Who repeats a secret may leave out the white space around it.
      for (const text of [value, value.trim()]) {
        if (text.length < SCANNED_LENGTH || this.#seen.has(text)) continue;
        this.#seen.add(text);
        for (const spelling of spellings(text)) this.#heads.add(spelling);
      }
    }
  }
}

/** Redacts a text that arrives in pieces: a secret split over two of them is found too. */
export class RedactedStream {
  #held = '';
  #masked = 0;

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

  /**
   * Shows the end of a line that was held back, before another output goes on. It is shorter than any secret that is searched for, and
   * stays known: should a secret go on after it, the rest of it is not shown.
   */
  endLine(): void {
    const held = this.#held;
    if (!held.endsWith('\n') || held.length > SCANNED_LENGTH || held.length === this.#masked) return;
    this.write(held.slice(this.#masked));
    this.#masked = held.length;
  }

  /** Lets go of an end that turned out to be no secret. */
  flush(): void {
    if (this.#held !== '') this.#scan('', true);
  }

  #scan(text: string, complete: boolean): void {
    const { safe, held, masked } = this.redactor.scan(this.#held + text, complete, this.#masked);
    this.#held = held;
    this.#masked = masked;
    if (safe !== '') this.write(safe);
  }
}
