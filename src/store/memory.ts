import type { Clock, FoundRecord } from '../ports.ts';
import type { RecordPlaintext } from './encryption.ts';
import { type Acquisition, LockingStore, type Waiter } from './locking-store.ts';

/** Records without a version that are stored at most: a cached token can be requested again, a refresh token cannot. */
const MAX_CACHED = 1_000;

/** A store that ends with the process. */
export class MemoryStore extends LockingStore {
  readonly location = 'the memory of this process';
  readonly #records = new Map<string, RecordPlaintext>();
  /** Keys of the records without a version, oldest first. */
  readonly #cachedKeys = new Set<string>();
  /** Key of the record for each alias. */
  readonly #aliases = new Map<string, string>();

  constructor(readonly clock: Pick<Clock, 'now'> = { now: Date.now }) {
    super();
  }

  now(): number {
    return this.clock.now();
  }

  async read(name: string): Promise<FoundRecord | undefined> {
    return this.#records.get(name) ?? this.#records.get(this.#aliases.get(name) ?? '');
  }

  async list(): Promise<FoundRecord[]> {
    return [...this.#records.values()];
  }

  protected async acquire<T>(key: string, { hasWaited, accept }: Waiter<T>): Promise<Acquisition<T>> {
    const found = this.#records.get(key);
    const accepted = hasWaited ? accept(found) : undefined;
    if (accepted !== undefined) return { found, accepted };
    const operations = {
      read: async () => this.#records.get(key),
      replace: async (next: RecordPlaintext) => this.#replace(key, next),
      remove: async () => this.#replace(key, undefined),
      release: async () => {},
    };
    return { found, operations };
  }

  #replace(key: string, next: RecordPlaintext | undefined): boolean {
    for (const alias of this.#records.get(key)?.aliases ?? []) this.#aliases.delete(alias);
    for (const alias of next?.aliases ?? []) this.#aliases.set(alias, key);
    this.#records.delete(key);
    this.#cachedKeys.delete(key);
    if (next === undefined) return true;
    this.#records.set(key, next);
    if (next.version === '') this.#cachedKeys.add(key);
    const [oldest] = this.#cachedKeys;
    if (oldest !== undefined && this.#cachedKeys.size > MAX_CACHED) return this.#replace(oldest, undefined);
    return true;
  }
}
