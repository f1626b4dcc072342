import type { Clock, FoundRecord } from '../ports.ts';
import type { RecordPlaintext } from './encryption.ts';
import { type Acquisition, LockingStore, type Waiter } from './locking-store.ts';

/** A store that ends with the process. */
export class MemoryStore extends LockingStore {
  readonly location = 'the memory of this process';
  readonly #records = new Map<string, RecordPlaintext>();

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
      replace: async (next: RecordPlaintext) => this.#records.set(key, next) === this.#records,
      remove: async () => this.#records.delete(key) || true,
      release: async () => {},
    };
    return { found, operations };
  }
}
