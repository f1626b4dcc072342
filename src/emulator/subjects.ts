import type { KeyObject } from 'node:crypto';

/** Members of a JWT payload. */
export type Claims = Readonly<Record<string, unknown>>;

/** One way in which a client may authenticate. Profiles that share a client id each add one. */
export interface Credential {
  readonly secret: string | undefined;
  /** `client_secret_basic`, `client_secret_post`, `client_secret_jwt`, `none` or `private_key_jwt`. */
  readonly auth: string;
  readonly key: KeyObject | undefined;
  /** An accepted audience of its assertions in addition to the endpoint's URL. */
  readonly audience: string | undefined;
}

/** Settings of a client. */
export interface ClientSettings {
  /** Default: every https URI and every loopback URI. */
  readonly redirect_uris?: readonly string[] | undefined;
  /** The audience of its access tokens. Default: the provider's. */
  readonly audience?: string | undefined;
  /** Scopes that it may request. Default: all. */
  readonly scopes?: readonly string[] | undefined;
  /** Application roles, in tokens without a user. */
  readonly roles?: readonly string[] | undefined;
  /** Claims that its tokens have in addition. */
  readonly claims?: Claims | undefined;
  /** Seconds. */
  readonly access_token_lifetime?: number | undefined;
}

/** A registered client. */
export interface Client extends ClientSettings {
  readonly id: string;
  readonly credentials: Credential[];
}

/** A user who can sign in with a password. */
export interface UserOptions {
  readonly password?: string | undefined;
  /** The subject, where the provider does not derive it from the login name. */
  readonly sub?: string | undefined;
  /** The full name. */
  readonly name?: string | undefined;
  readonly given_name?: string | undefined;
  readonly family_name?: string | undefined;
  readonly email?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Claims that the user's tokens and the userinfo response have in addition. */
  readonly claims?: Claims | undefined;
}

/** A user with the login name. */
export interface User extends UserOptions {
  readonly login: string;
}
