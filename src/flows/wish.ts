import type { ParsedToken } from '../oauth/token-response.ts';
import type { Held, Ports, TokenStore } from '../ports.ts';
import type { Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';

/** What a caller wants of a token. */
export interface Wish {
  /** A kept token with no more time left than this does not do. */
  readonly minTtlMs: number;
  /** No kept token does: the provider is asked. */
  readonly anew: boolean;
  /** The token is kept for others; what a refresh brings always is. */
  readonly keep: boolean;
  /** A refusal that is remembered is forgotten. */
  readonly forgetRefusal: boolean;
  /** An access token that an API has just refused: this one does not do, one that came since does. */
  readonly rejected: Secret | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A token, and whether it was handed out before. */
export interface Obtained {
  readonly reply: ParsedToken;
  readonly reused: boolean;
}

/** One token to be obtained, by the only one who may. */
export interface Task {
  readonly profile: Profile;
  /** Fingerprint of everything that shapes the token. */
  readonly key: string;
  readonly wish: Wish;
  readonly ports: Ports;
  readonly store: TokenStore;
  readonly held: Held;
  /** Tells a person what could not be kept. */
  readonly warn: (text: string) => void;
}
