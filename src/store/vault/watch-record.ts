import type { Wait } from '../../ports.ts';
import type { KeyRing } from '../encryption.ts';
import type { Records } from './records.ts';

/** What others write to a record, looked at each time that it changes, by one who may be content with it. */
export class RecordWatch<T> {
  /** What the caller is content with. */
  found: T | undefined;
  #seen: string | undefined;

  constructor(
    readonly name: string,
    readonly records: Records,
    readonly ring: KeyRing,
    readonly contentWith: Wait<T>['contentWith'],
    readonly queuedAt: number,
  ) {}

  readonly isContent = (): boolean => {
    if (this.contentWith === undefined) return false;
    const mark = this.records.mark(this.name, this.ring);
    if (mark === this.#seen) return false;
    this.#seen = mark;
    this.found = this.contentWith(this.records.find(this.name, this.ring)?.kept, this.queuedAt);
    return this.found !== undefined;
  };
}
