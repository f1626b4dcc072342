/** A value in BER (X.690). Most programs write DER; some write indefinite lengths, and strings in parts. */
export interface BerValue {
  readonly tag: number;
  /** The whole encoding. */
  readonly raw: Buffer;
  /** The members; empty for a primitive value. */
  readonly items: readonly BerValue[];
  /** The content, without tag and length. */
  readonly body: Buffer;
}

/** Levels of nested values. A PKCS #12 file has about ten. */
const MAX_DEPTH = 32;
const CONSTRUCTED = 0x20;
const INDEFINITE = 0x80;

/** Parses the value at the start of `data` with all its members. Throws a RangeError if it is malformed. */
export function parseBer(data: Buffer, depth = 0): BerValue {
  const tag = data.readUInt8(0);
  const first = data.readUInt8(1);
  const size = first > INDEFINITE ? first - INDEFINITE : 0;
  const isIndefinite = first === INDEFINITE;
  const start = 2 + size;
  const limit = isIndefinite ? data.length : start + (size > 0 ? data.readUIntBE(2, size) : first);
  const isConstructed = (tag & CONSTRUCTED) !== 0;
  if (limit > data.length || depth > MAX_DEPTH || (isIndefinite && !isConstructed)) throw new RangeError('malformed');
  const items: BerValue[] = [];
  let end = isConstructed ? start : limit;
  // Two zero bytes end an indefinite length.
  while (isIndefinite ? data.readUInt16BE(end) !== 0 : end < limit) {
    const item = parseBer(data.subarray(end, limit), depth + 1);
    items.push(item);
    end += item.raw.length;
  }
  return { tag, raw: data.subarray(0, isIndefinite ? end + 2 : end), items, body: data.subarray(start, end) };
}

/** Returns the member at a path of indexes. Throws a RangeError if there is none. */
export function memberAt(value: BerValue, ...path: readonly number[]): BerValue {
  return path.reduce((parent, index) => {
    const item = parent.items[index];
    if (item === undefined) throw new RangeError('a member is missing');
    return item;
  }, value);
}

/** The bytes of a string. */
export function bytesOf({ tag, body, items }: BerValue): Buffer {
  return (tag & CONSTRUCTED) === 0 ? body : Buffer.concat(items.map(bytesOf));
}

/** The bytes of an object identifier or string, to compare them. */
export function hexOf(value: BerValue): string {
  return bytesOf(value).toString('hex');
}

/** A non-negative INTEGER of up to 6 bytes. Throws a RangeError for other lengths. */
export function numberOf({ body }: BerValue): number {
  return body.readUIntBE(0, body.length);
}
