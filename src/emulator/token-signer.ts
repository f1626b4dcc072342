import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The claims of a token. Tokens are self-contained, so that the emulator need not store them. */
export interface Claims {
  readonly iss: string;
  readonly client_id: string;
  readonly sub?: string | undefined;
  readonly scp?: string | undefined;
  readonly iat: number;
  readonly exp?: number | undefined;
  /** Token family and generation, if a refresh or a revocation can invalidate the token. */
  readonly fam?: string | undefined;
  readonly gen?: number | undefined;
  readonly jti?: string | undefined;
  readonly aud?: string | undefined;
}

const header = Buffer.from(JSON.stringify({ typ: 'JWT', alg: 'HS256' })).toString('base64url');

/** Signs tokens as JWTs and verifies them, with a random key per emulator. */
export class TokenSigner {
  readonly #key = randomBytes(32);
  #count = 0;

  sign(claims: object): string {
    const body = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    return `${body}.${this.#mac(body)}`;
  }

  /** The claims of a token with a valid signature, expired or not. */
  verify<T = Claims>(token: string): T | undefined {
    const [head, payload, signature, ...rest] = token.split('.');
    if (payload === undefined || signature === undefined || rest.length > 0) return undefined;
    const expected = Buffer.from(this.#mac(`${head}.${payload}`));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  }

  /** A unique, unguessable value. */
  opaque(prefix: string): string {
    this.#count++;
    return `${prefix}${this.#mac(`opaque ${this.#count}`)}`;
  }

  #mac(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}
