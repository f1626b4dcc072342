import { randomBytes } from 'node:crypto';
import type { Clock, StoredRecord, TokenStore } from '../ports.ts';
import type { Secret } from '../redaction/secret.ts';
import type { RecordPlaintext } from './encryption.ts';
import { fingerprint } from './fingerprint.ts';
import { type Acquisition, LockingStore, type Waiter } from './locking-store.ts';

/** Creates a store that ends with the process. */
export function createMemoryStore(clock: Pick<Clock, 'now'> = { now: Date.now }): TokenStore {
  return new MemoryStore(clock);
}

class MemoryStore extends LockingStore {
  readonly location = 'the memory of this process';
  readonly #fingerprintKey = randomBytes(32);
  readonly #records = new Map<string, RecordPlaintext>();

  constructor(readonly clock: Pick<Clock, 'now'>) {
    super();
  }

  now(): number {
    return this.clock.now();
  }

  override fingerprint(value: string | Secret): string {
    return fingerprint(value, this.#fingerprintKey);
  }

  async read(key: string): Promise<StoredRecord | undefined> {
    return this.#records.get(key)?.record;
  }

  async list(): Promise<RecordPlaintext[]> {
    return [...this.#records.values()];
  }

  protected async acquire<T>(key: string, { hasWaited, accept }: Waiter<T>): Promise<Acquisition<T>> {
    const found = this.#records.get(key);
    const accepted = hasWaited ? accept(found?.record) : undefined;
    if (accepted !== undefined) return { found, accepted };
    const operations = {
      read: async () => this.#records.get(key),
      replace: async (next: RecordPlaintext) => this.#records.set(key, next) === this.#records,
      remove: async () => this.#records.delete(key) || true,
      release: async () => {},
    };
    return { found, operations };
  }

  protected override describeOwner(): string {
    return `process ${process.pid}`;
  }
}
