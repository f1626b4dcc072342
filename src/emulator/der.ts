/** DER (X.690), as much of it as a certificate needs. */
export function tagged(tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), body]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 255);
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length, ...bytes]), body]);
}

export const sequence = (...items: Uint8Array[]): Buffer => tagged(0x30, ...items);
export const set = (...items: Uint8Array[]): Buffer => tagged(0x31, ...items);
export const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes);
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
export const truth = (): Buffer => tagged(0x01, Buffer.from([0xff]));
export const bits = (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), bytes);
export const explicit = (number: number, content: Uint8Array): Buffer => tagged(0xa0 | number, content);

/** A positive integer. */
export function integer(bytes: Uint8Array): Buffer {
  return tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** `1.2.840.10045.4.3.2` */
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

/** A time, as RFC 5280 §4.1.2.5 wants it after 2049. */
export function time(epochMs: number): Buffer {
  return tagged(0x18, Buffer.from(new Date(epochMs).toISOString().replace(/[-:T]|\.\d+/g, '')));
}
