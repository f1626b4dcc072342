import type { RecordLock, StoredRecord } from '../ports.ts';

/** Operations of a store on a record whose lock it holds. */
export type LockedOperations = Pick<RecordLock, 'reload' | 'write' | 'remove' | 'release'>;

/** Creates the result of a wait that `acceptIf` ended: nothing is locked. */
export function acceptedRecord<T>(accepted: T, record: StoredRecord | undefined, queuedAt: number): RecordLock<T> {
  return { ...lockedRecord<T>(record, queuedAt, undefined), accepted };
}

/** Creates the lock that a store hands out. Its `operations` can be used until `release`, which has an effect once. */
export function lockedRecord<T>(
  record: StoredRecord | undefined,
  queuedAt: number,
  operations: LockedOperations | undefined,
): RecordLock<T> {
  let current = operations;
  const requireLock = (): LockedOperations => {
    if (current === undefined) throw new TypeError('the lock is not held');
    return current;
  };
  return {
    accepted: undefined,
    record,
    queuedAt,
    reload: async () => requireLock().reload(),
    write: async (next, options) => requireLock().write(next, options),
    remove: async () => requireLock().remove(),
    async release() {
      const held = current;
      current = undefined;
      await held?.release();
    },
  };
}
