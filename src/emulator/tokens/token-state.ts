import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';

/** State of an access token that is not in its claims. */
export interface TokenState {
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  readonly clientId: string;
  /** The login name; empty for a token without a user. */
  readonly user: string;
  /** The id of the token family, 0 if there is none, and the number of refreshes before this token. */
  readonly family: number;
  readonly generation: number;
}

const ID_BYTES = 24;
const MAC_BYTES = 8;
/** Names are written as two bytes. */
const MAX_NAMES = 65_535;

/**
 * Creates token ids and opaque strings that contain their own state with a message authentication code, so that the
 * emulator need not store the tokens that it issues. Clients and users appear as numbers, because an id is short.
 */
export class TokenStates {
  readonly #key = createSecretKey(randomBytes(32));
  readonly #names = [''];
  readonly #numbers = new Map([['', 0]]);

  /** A token id of 43 characters. */
  createId({ issuedAt, clientId, user, family, generation }: TokenState): string {
    const bytes = Buffer.alloc(ID_BYTES);
    bytes.writeUIntBE(issuedAt, 0, 6);
    bytes.writeUInt16BE(this.#numberOf(clientId), 6);
    bytes.writeUInt16BE(this.#numberOf(user), 8);
    bytes.writeUInt32BE(family, 10);
    bytes.writeUInt32BE(generation, 14);
    randomBytes(6).copy(bytes, 18);
    return Buffer.concat([bytes, this.#mac(bytes)]).toString('base64url');
  }

  /** The state in a token id that this emulator created. */
  readId(id: string): TokenState | undefined {
    const all = Buffer.from(id, 'base64url');
    const bytes = all.subarray(0, ID_BYTES);
    if (all.length !== ID_BYTES + MAC_BYTES || !timingSafeEqual(all.subarray(ID_BYTES), this.#mac(bytes))) return;
    return {
      issuedAt: bytes.readUIntBE(0, 6),
      clientId: this.#names[bytes.readUInt16BE(6)] ?? '',
      user: this.#names[bytes.readUInt16BE(8)] ?? '',
      family: bytes.readUInt32BE(10),
      generation: bytes.readUInt32BE(14),
    };
  }

  /** An opaque string that contains a value. Equal values result in equal strings. */
  encode(value: object): string {
    const json = Buffer.from(JSON.stringify(value));
    return Buffer.concat([this.#mac(json), json]).toString('base64url');
  }

  /** The value in an opaque string that this emulator created. */
  decode<T>(opaque: string): T | undefined {
    const all = Buffer.from(opaque, 'base64url');
    const json = all.subarray(MAC_BYTES);
    if (all.length <= MAC_BYTES || !timingSafeEqual(all.subarray(0, MAC_BYTES), this.#mac(json))) return undefined;
    return JSON.parse(json.toString());
  }

  /** A unique, unguessable string, for codes and refresh tokens. */
  random(prefix: string): string {
    return `${prefix}${randomBytes(32).toString('base64url')}`;
  }

  /** The names of clients and users. Requests cannot add any, only the control API can. */
  #numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      if (this.#names.length > MAX_NAMES) return 0;
      number = this.#names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  #mac(bytes: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(bytes).digest().subarray(0, MAC_BYTES);
  }
}
