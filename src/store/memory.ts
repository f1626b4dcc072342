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

  constructor(readonly clock: Pick<Clock, 'now'> = { now: Date.now }) {
    super();
  }

  now(): number {
    return this.clock.now();
  }

  async read(key: string): Promise<FoundRecord | undefined> {
    return this.#records.get(key);
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
      replace: async (next: RecordPlaintext) => this.#replace(next),
      remove: async () => this.#remove(key),
      release: async () => {},
    };
    return { found, operations };
  }

  #replace(next: RecordPlaintext): boolean {
    this.#remove(next.key);
    this.#records.set(next.key, next);
    if (next.version === '') this.#cachedKeys.add(next.key);
    const [oldest] = this.#cachedKeys;
    if (oldest !== undefined && this.#cachedKeys.size > MAX_CACHED) this.#remove(oldest);
    return true;
  }

  #remove(key: string): boolean {
    this.#records.delete(key);
    this.#cachedKeys.delete(key);
    return true;
  }
}
