/** What is shown in place of a secret. */
export const MASK = '••••';

const watchers = new Set<(secret: Secret) => void>();

/** Tells `watcher` of every secret from now on, until the returned function is called: a sink cannot hide what it was not told of. */
export function onSecretCreated(watcher: (secret: Secret) => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** A text that cannot be printed by accident: in a template, in JSON and in `console.log` it is `••••`. */
export class Secret {
  readonly #value: string;
  readonly #shown: string;

  /** `shown` stands in its place where a part may be seen: `Basic ••••`. */
  constructor(value: string, shown = MASK, watched = true) {
    this.#value = value;
    this.#shown = shown;
    if (watched) for (const watcher of watchers) watcher(this);
  }

  /** A text around secrets that are known already, such as a record of them: sinks need not look for the whole. */
  static untracked(value: string): Secret {
    return new Secret(value, MASK, false);
  }

  /** The value in clear. The layer check lists the few files that may call this. */
  reveal(): string {
    return this.#value;
  }

  /** A secret made from this one; the value never leaves the wrapper. */
  map(change: (value: string) => string): Secret {
    return new Secret(change(this.#value));
  }

  /** Answers a question about the value without handing it out. */
  test(question: (value: string) => boolean): boolean {
    return question(this.#value);
  }

  get length(): number {
    return this.#value.length;
  }

  toString(): string {
    return this.#shown;
  }

  toJSON(): string {
    return this.#shown;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.#shown;
  }
}

/** Puts texts together; with a secret among them the whole becomes one. */
export function joinStrings(parts: readonly (string | Secret)[]): string | Secret {
  if (!parts.some((part) => part instanceof Secret)) return parts.join('');
  return new Secret(parts.map((part) => (part instanceof Secret ? part.reveal() : part)).join(''));
}
