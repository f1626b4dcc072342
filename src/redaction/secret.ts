/** Printed in place of a secret. */
export const MASK = '••••';

const listeners = new Set<(secret: Secret) => void>();

/** Calls `listener` for every secret that is created from now on. Returns a function that removes the listener. */
export function onSecretCreated(listener: (secret: Secret) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A string that is not printed by accident: in templates, in JSON and in `console.log` it appears as `••••`. */
export class Secret {
  readonly #value: string;
  readonly #shown: string;
  readonly #tracked: boolean;

  /** `shown` is printed instead of the value; it may include parts that are not secret: `Basic ••••`. */
  constructor(value: string, shown = MASK, tracked = true) {
    this.#value = value;
    this.#shown = shown;
    this.#tracked = tracked;
    if (tracked) for (const listener of listeners) listener(this);
  }

  /**
   * A secret that output is not searched for: it only wraps secrets that are tracked themselves, or it came from an API that a script
   * calls, and only the output of that script is searched for it.
   */
  static untracked(value: string): Secret {
    return new Secret(value, MASK, false);
  }

  /** Returns the plaintext. `tools/check-layers.js` lists the files that may call this. */
  reveal(): string {
    return this.#value;
  }

  /** Returns a new secret derived from this one. */
  map(change: (value: string) => string): Secret {
    return new Secret(change(this.#value), MASK, this.#tracked);
  }

  /** Whether output is searched for this secret. */
  get isTracked(): boolean {
    return this.#tracked;
  }

  /** Tests the plaintext without returning it. */
  test(predicate: (value: string) => boolean): boolean {
    return predicate(this.#value);
  }

  /** The number of UTF-16 code units of the plaintext. */
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

/** Makes sinks mask `value` from now on, for values that are used as plain strings. */
export function registerSecret(value: string): void {
  new Secret(value);
}

/** Concatenates strings and secrets. The result is a secret if any part is one. */
export function joinStrings(parts: readonly (string | Secret)[]): string | Secret {
  if (!parts.some((part) => part instanceof Secret)) return parts.join('');
  const isTracked = parts.some((part) => part instanceof Secret && part.isTracked);
  return new Secret(parts.map((part) => (part instanceof Secret ? part.reveal() : part)).join(''), MASK, isTracked);
}
