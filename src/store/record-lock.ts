import type { RecordLock, StoredRecord } from '../ports.ts';

/** Result of a wait that `acceptIf` ended: nothing is locked. */
export function acceptedRecord<T>(accepted: T, record: StoredRecord | undefined, queuedAt: number): RecordLock<T> {
  const rejectUse = async (): Promise<never> => {
    throw new TypeError('the record was accepted without its lock');
  };
  return {
    accepted,
    record,
    queuedAt,
    reload: rejectUse,
    write: rejectUse,
    remove: rejectUse,
    release: async () => {},
  };
}

/** Operations of a store on a record whose lock it holds. */
export type LockedOperations = Pick<RecordLock, 'reload' | 'write' | 'remove' | 'release'>;

/** Adds the rules of {@link RecordLock} that are the same in every store: no use after `release`, and one release only. */
export function heldRecord<T>(
  record: StoredRecord | undefined,
  queuedAt: number,
  operations: LockedOperations,
): RecordLock<T> {
  let released: Promise<void> | undefined;
  const assertHeld = (): void => {
    if (released !== undefined) throw new TypeError('the lock was already released');
  };
  return {
    accepted: undefined,
    record,
    queuedAt,
    async reload() {
      assertHeld();
      return operations.reload();
    },
    async write(next, options) {
      assertHeld();
      return operations.write(next, options);
    },
    async remove() {
      assertHeld();
      return operations.remove();
    },
    release() {
      released ??= operations.release();
      return released;
    },
  };
}
