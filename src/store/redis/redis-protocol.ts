const END = Buffer.from('\r\n');
/** The longest that Redis itself takes. */
const LONGEST = 512 * 1024 * 1024;

/** What Redis answers: bytes, numbers, its short words, nothing, an error in words, or a list of these. */
export type Reply = Buffer | number | string | null | ReplyError | Reply[];

/** Redis did not do what it was asked; its first word tells why. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** Somebody answers, and it is no Redis. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code = 'NO_REDIS';
}

/** A command as Redis takes it: a list of byte strings, each with its length. */
export function encodeCommand(parts: readonly (string | number | Buffer)[]): Buffer {
  const chunks: Buffer[] = [Buffer.from(`*${parts.length}\r\n`)];
  for (const part of parts) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    chunks.push(Buffer.from(`$${bytes.length}\r\n`), bytes, END);
  }
  return Buffer.concat(chunks);
}

/** Reads replies (RESP2) out of a stream that may break anywhere. */
export class ReplyReader {
  #rest: Buffer = Buffer.alloc(0);
  /** The lists that are not complete yet, the innermost last. */
  readonly #open: { readonly items: Reply[]; readonly length: number }[] = [];

  /** The replies that these bytes complete. */
  read(chunk: Buffer): Reply[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const complete: Reply[] = [];
    let at = 0;
    for (let part = partAt(this.#rest, at); part !== undefined; part = partAt(this.#rest, at)) {
      at = part.end;
      if ('length' in part) this.#open.push({ items: [], length: part.length });
      else this.#add(part.value, complete);
    }
    this.#rest = this.#rest.subarray(at);
    return complete;
  }

  /** Puts a value where it belongs, and every list that it completes. */
  #add(value: Reply, complete: Reply[]): void {
    let whole = value;
    for (;;) {
      const list = this.#open.at(-1);
      if (list === undefined) break;
      list.items.push(whole);
      if (list.items.length < list.length) return;
      this.#open.pop();
      whole = list.items;
    }
    complete.push(whole);
  }
}

/** A whole value, or the beginning of a list that is not empty; nothing while bytes are missing. */
type Part = { readonly end: number; readonly value: Reply } | { readonly end: number; readonly length: number };

function partAt(bytes: Buffer, at: number): Part | undefined {
  if (at === bytes.length) return undefined;
  const sign = bytes.toString('latin1', at, at + 1);
  // A stranger is noticed by the first sign, though he may never end a line.
  if (!'+-:$*'.includes(sign)) throw new ProtocolError();
  const lineEnd = bytes.indexOf(END, at);
  if (lineEnd < 0) return undefined;
  const line = bytes.toString('utf8', at + 1, lineEnd);
  const end = lineEnd + END.length;
  if (sign === '+') return { end, value: line };
  if (sign === '-') return { end, value: new ReplyError(line) };
  const number = toNumber(line);
  if (sign === ':') return { end, value: number };
  if (number < -1 || number > LONGEST) throw new ProtocolError();
  if (number < 0) return { end, value: null };
  if (sign === '*') return number === 0 ? { end, value: [] } : { end, length: number };
  const valueEnd = end + number;
  if (bytes.length < valueEnd + END.length) return undefined;
  return { end: valueEnd + END.length, value: bytes.subarray(end, valueEnd) };
}

function toNumber(line: string): number {
  if (/^-?\d{1,16}$/.test(line)) return Number(line);
  throw new ProtocolError();
}
