const FIRST_BYTES = 16_384;

/** Bytes that come in pieces, copied into one place: a piece that was kept would keep the whole buffer that it was received in. */
export class Collected {
  #buffer = Buffer.allocUnsafe(0);
  #length = 0;

  constructor(readonly maxBytes: number) {}

  /** `false` where they have become too many. */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length;
    if (length > this.maxBytes) return false;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(piece, this.#length);
    this.#length = length;
    return true;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, FIRST_BYTES, Math.min(2 * this.#buffer.length, this.maxBytes)));
    larger.set(this.bytes);
    this.#buffer = larger;
  }
}
