const nothing = Buffer.alloc(0);

/** Puts a body together from its pieces. It grows as they come and keeps none: a piece of one byte can hold a whole page of memory. */
export class ByteCollector {
  #bytes: Buffer = nothing;
  #length = 0;

  constructor(readonly maxBytes: number) {}

  /** `false` where they have become too many. */
  add(piece: Buffer): boolean {
    const length = this.#length + piece.length;
    if (length > this.maxBytes) return false;
    // The first piece is the whole body more often than not, and is then used as it is.
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
    return true;
  }

  /** All that came so far; of a single piece, that piece. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.min(2 * length, this.maxBytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
