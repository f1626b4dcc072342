import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a token says; tokens carry it themselves, so that none has to be remembered. */
export interface Claims {
  readonly iss: string;
  readonly client_id: string;
  readonly sub?: string | undefined;
  readonly scp?: string | undefined;
  readonly iat: number;
  readonly exp?: number | undefined;
  /** Family and generation, where a refresh or a revocation can kill the token. */
  readonly fam?: string | undefined;
  readonly gen?: number | undefined;
  readonly jti?: string | undefined;
  readonly aud?: string | undefined;
}

const header = Buffer.from(JSON.stringify({ typ: 'JWT', alg: 'HS256' })).toString('base64url');

/** Makes tokens and recognises its own: JWTs signed with a key that lives as long as the emulator. */
export class TokenSigner {
  readonly #key = randomBytes(32);
  #count = 0;

  sign(claims: object): string {
    const body = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    return `${body}.${this.#mac(body)}`;
  }

  /** What a token of ours says, whatever its age. */
  read<T = Claims>(token: string): T | undefined {
    const [head, payload, signature, ...rest] = token.split('.');
    if (payload === undefined || signature === undefined || rest.length > 0) return undefined;
    const expected = Buffer.from(this.#mac(`${head}.${payload}`));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  }

  /** A value that was never given out before and cannot be guessed. */
  opaque(prefix: string): string {
    this.#count++;
    return `${prefix}${this.#mac(`opaque ${this.#count}`)}`;
  }

  #mac(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}
