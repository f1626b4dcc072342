/** How a client proves who it is to a token endpoint; `as_given` sends what the profile holds and adds nothing. */
export type ClientAuth =
  | 'client_secret_post'
  | 'client_secret_basic'
  | 'client_secret_basic_raw'
  | 'none'
  | 'private_key_jwt'
  | 'as_given';

/**
 * What becomes of a refresh token whose reply was lost: `safe` it stays valid, `grace` it stays valid for a while, `refused` it is dead,
 * `revokes` using it again revokes everything that came from it.
 */
export type RefreshTokenReuse = 'allowed' | 'grace' | 'rejected' | 'revokes_family';

/** A hint for one kind of refusal. `{client_secret}` in it becomes the profile's own variable, such as `graph.client_secret`, `{login}` the command to run. */
export interface ErrorHint {
  /** Finer codes of the provider: `AADSTS50126`, `99`. */
  readonly codes?: readonly string[];
  readonly error?: string;
  readonly description?: RegExp;
  readonly grant?: string;
  readonly hint: string;
}

/** How a person signs in at a provider. Addresses are taken relative to the token endpoint, so that they follow `<profile>.url`. */
interface ProviderLogin {
  readonly prefers: 'device' | 'browser';
  /** Device authorization endpoint (RFC 8628). */
  readonly device?: string;
  /** Authorization endpoint. */
  readonly authorize?: string;
  /** Revocation endpoint (RFC 7009). */
  readonly revoke?: string;
  /** The revocation endpoint asks for the token alone: who holds it may end it. */
  readonly revocationWithoutClientAuth?: boolean;
  /** What the provider publishes of itself (RFC 8414, OpenID Connect Discovery). */
  readonly metadata?: string;
  /** Fields that a sign-in cannot do without, beside the client id. */
  readonly required?: readonly string[];
  /** Sent to the authorization endpoint beside the standard parameters. */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
  /** Scopes without which no refresh token comes. */
  readonly scopes?: readonly string[];
  /** Why no refresh token may have come, and what to do; a hint's placeholders serve here too. */
  readonly withoutRefreshToken?: string;
  /** Host of the loopback redirect; `127.0.0.1` with the path `/callback` unless the provider wants `localhost`. */
  readonly redirectHost?: 'localhost';
  /** The tenant that device codes are asked of, whatever the profile's; the provider's codes that say to use the profile's own instead. */
  readonly deviceTenant?: { readonly name: string; readonly rejectedWith: readonly string[] };
  /** The device code is sent under this name too. */
  readonly deviceCodeAlias?: string;
}

/** Everything the product knows of one provider. */
export interface Provider {
  readonly type: string;
  /** Other values of `<profile>.type` for this provider, with the grant that each implies. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Token endpoint; `{tenant_id}` in it is replaced by the profile's. */
  readonly tokenUrl?: string;
  readonly tenant?: {
    readonly pattern: RegExp;
    /** Completes "must be …". */
    readonly form: string;
    /** Tenants that a grant does not work with. */
    readonly unsupported?: readonly { readonly grant: string; readonly tenants: readonly string[] }[];
  };
  /** The grant of a profile that names none: the first whose fields are all there, else `defaultGrant`. */
  readonly grantsByFields: readonly { readonly grant: string; readonly fields: readonly string[] }[];
  readonly defaultGrant?: string;
  /** Fields that a grant cannot do without. */
  readonly required: Readonly<Record<string, readonly string[]>>;
  /** Fields whose values a grant wants in a certain form; another one may be a mistake, which the provider will tell. */
  readonly valueHints?: readonly {
    readonly grant: string;
    readonly field: string;
    readonly pattern: RegExp;
    /** Completes "should be …". */
    readonly form: string;
  }[];
  readonly clientAuth: ClientAuth;
  /** Client authentication of a profile without a secret, where it differs. */
  readonly clientAuthWithoutSecret?: ClientAuth;
  /** Signature of client assertions with an RSA key; RS256 unless the provider documents another. */
  readonly rsaAlgorithm?: 'RS256' | 'PS256';
  readonly refreshTokenReuse: RefreshTokenReuse;
  readonly graceMs?: number;
  /** A refresh ends the access tokens that were issued before. */
  readonly refreshRevokesAccessTokens?: boolean;
  /** How long a token lives whose response does not say. */
  readonly defaultLifetimeMs?: number;
  /** Where a person can sign in. */
  readonly login?: ProviderLogin;
  readonly hints: readonly ErrorHint[];
}
