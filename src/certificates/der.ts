/** A DER value (X.690); this file has the types that a certificate needs. */
export function tagged(tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), body]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 255);
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length, ...bytes]), body]);
}

/** SEQUENCE. */
export const sequence = (...items: Uint8Array[]): Buffer => tagged(0x30, ...items);
/** SET. */
export const set = (...items: Uint8Array[]): Buffer => tagged(0x31, ...items);
/** OCTET STRING. */
export const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes);
/** UTF8String. */
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
/** BOOLEAN true. */
export const truth = (): Buffer => tagged(0x01, Buffer.from([0xff]));
/** BIT STRING. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), bytes);
/** A context-specific, explicit tag. */
export const explicit = (number: number, content: Uint8Array): Buffer => tagged(0xa0 | number, content);

/** A positive INTEGER. */
export function integer(bytes: Uint8Array): Buffer {
  return tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** OBJECT IDENTIFIER, such as `1.2.840.10045.4.3.2`. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 127];
    for (let value = arc >> 7; value > 0; value >>= 7) groups.unshift((value & 127) | 128);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** A UTCTime, which certificates use for the years before 2050 (RFC 5280 §4.1.2.5.1). */
export function time(epochMs: number): Buffer {
  return tagged(0x17, Buffer.from(new Date(epochMs).toISOString().replace(/^20|[-:T]|\.\d+/g, '')));
}
