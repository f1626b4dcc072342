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

/** A registered client. */
export interface Client {
  readonly id: string;
  readonly credentials: Credential[];
  /** Default: every https URI and every loopback URI. */
  redirectUris?: readonly string[] | undefined;
  /** The audience of its access tokens. Default: the provider's. */
  audience?: string | undefined;
  /** Scopes that it may request. Default: all. */
  scopes?: readonly string[] | undefined;
  /** Application roles, in tokens without a user. */
  roles?: readonly string[] | undefined;
  /** Claims that its tokens have in addition. */
  claims?: Claims | undefined;
  /** Seconds. */
  accessTokenLifetime?: number | undefined;
}

/** A user who can sign in. */
export interface User {
  readonly name: string;
  readonly password: string | undefined;
  /** The subject, where the provider does not derive it from the name. */
  readonly sub?: string | undefined;
  readonly email?: string | undefined;
  readonly displayName?: string | undefined;
  readonly givenName?: string | undefined;
  readonly familyName?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Claims that the user's tokens and the userinfo response have in addition. */
  readonly claims?: Claims | undefined;
}
