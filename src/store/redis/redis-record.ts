import { createHmac, randomBytes } from 'node:crypto';
import { type Key, type KeyRing, recordId, type SealedRecord, seal } from '../encryption.ts';
import type { Names, Stored } from './redis-client.ts';
import { MARK_LENGTH } from './scripts.ts';

/** A record with the stamp that it has in Redis. */
export interface StampedRecord extends SealedRecord {
  readonly stamp: string;
}

/** What a name is called; what is sealed with an old key has its name from it too. */
export function namesOf(name: string, ring: KeyRing): Names {
  return ring.map((key) => ({ keyId: key.id, id: recordId(key, name) }));
}

/** What Redis compares before it writes over this record: a mark of its head; empty where there is none. */
export function markOf(record: StampedRecord | undefined): string {
  return record?.stamp.slice(0, MARK_LENGTH) ?? '';
}

/** A record as it is stored. */
export function toStored(record: SealedRecord, key: Key): Pick<Stored, 'stamp' | 'sealed'> {
  // The same under every key; without the record's name it says nothing, not even that two records share a token.
  const mark = createHmac('sha256', record.name).update(record.kept.head).digest('hex').slice(0, MARK_LENGTH);
  return { stamp: `${mark}${randomBytes(16).toString('hex')}`, sealed: seal(record, key) };
}
