/** Puts a body together from its pieces. It grows as they come and keeps none: a piece of one byte can hold a whole page of memory. */
export class ByteCollector {
  #bytes: Buffer;
  #length = 0;

  /** With the first piece, which is the whole body more often than not and is then used as it is. */
  constructor(first: Buffer) {
    this.#bytes = first;
    this.#length = first.length;
  }

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(2 * length);
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** All that came so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}
