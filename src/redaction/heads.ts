import { HEAD_LENGTH, type Spelling } from './spellings.ts';

/** What many spellings are looked up by: the hash of the first characters. */
export class Heads {
  /** For each hash a bit for each length of a head's beginning that has it. */
  readonly #known = new Uint8Array(HASHES);
  readonly #byHead = new Map<number, Spelling[]>();
  readonly #byFirst = new Map<number, Spelling[]>();

  add(spelling: Spelling): void {
    let hash = 0;
    for (let at = 0; at < spelling.head.length; at++) {
      hash = hashOn(hash, spelling.head.charCodeAt(at));
      this.#known[hash] = (this.#known[hash] ?? 0) | (1 << at);
    }
    push(this.#byHead, hash, spelling);
    push(this.#byFirst, hashOn(0, spelling.head.charCodeAt(0)), spelling);
  }

  get isEmpty(): boolean {
    return this.#byHead.size === 0;
  }

  /** The first position, from `at` to before `stop`, whose characters could be a head; `stop` if there is none. */
  next(text: string, at: number, stop: number): number {
    const known = this.#known;
    const first = at + HEAD_LENGTH - 1;
    const last = stop + HEAD_LENGTH - 1;
    let hash = 0;
    for (let end = at; end < last; end++) {
      hash = hashOn(hash, text.charCodeAt(end));
      if (((known[hash] ?? 0) & WHOLE) !== 0 && end >= first) return end - HEAD_LENGTH + 1;
    }
    return stop;
  }

  /** Whether any head begins with so many characters of this hash. */
  has(hash: number, length: number): boolean {
    return ((this.#known[hash] ?? 0) & (1 << (length - 1))) !== 0;
  }

  with(hash: number): readonly Spelling[] {
    return this.#byHead.get(hash) ?? [];
  }

  withFirst(code: number): readonly Spelling[] {
    return this.#byFirst.get(hashOn(0, code)) ?? [];
  }
}

function push(lists: Map<number, Spelling[]>, key: number, spelling: Spelling): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [spelling]);
  else list.push(spelling);
}

/** How many hashes there are. */
export const HASHES = 0x10000;
const WHOLE = 1 << (HEAD_LENGTH - 1);

/** Each character is shifted out by the fourth after it, so that the hash is always that of a head. */
export function hashOn(hash: number, code: number): number {
  scattered ??= scatter();
  return ((hash << 4) ^ (code < 0x100 ? (scattered[code] ?? 0) : Math.imul(code, 0x9e37))) & (HASHES - 1);
}

/** Numbers of characters; what some spelling takes for the same has the same. */
let scattered: Uint16Array | undefined;

function scatter(): Uint16Array {
  return Uint16Array.from({ length: 0x100 }, (_, code) => {
    const char = String.fromCharCode(code).toLowerCase();
    const same = '+-\n\r\t '.includes(char) ? ' ' : char === '_' ? '/' : char;
    return Math.imul(same.charCodeAt(0) + 1, 0x9e3779b1) >>> 12;
  });
}
