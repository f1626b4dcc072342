/**
 * How a client authenticates at the token endpoint (RFC 7591 §2, `token_endpoint_auth_method`).
 * `client_secret_basic_raw` does not encode the values of the Basic header. `passthrough` is internal: the fields of a
 * custom profile are sent as given.
 */
export type ClientAuth =
  | 'client_secret_post'
  | 'client_secret_basic'
  | 'client_secret_basic_raw'
  | 'none'
  | 'client_secret_jwt'
  | 'private_key_jwt'
  | 'tls_client_auth'
  | 'self_signed_tls_client_auth'
  | 'passthrough';

/**
 * How the provider handles a refresh token that is used a second time (RFC 9700 §4.14): it accepts it (`allowed`),
 * accepts it for `graceMs` (`grace`), rejects it (`rejected`), or also revokes all tokens of the same family
 * (`revokes_family`).
 */
export type RefreshTokenReuse = 'allowed' | 'grace' | 'rejected' | 'revokes_family';

/**
 * Hints for error responses, by provider-specific code (`AADSTS50126`, `99`) or by `error` (RFC 6749 §5.2). Of several
 * hints the first that matches is used. `{client_secret}` is replaced with the profile's variable, such as
 * `graph.client_secret`, and `{login}` with the command that logs a user in.
 */
export type ErrorHints = Readonly<Record<string, string | readonly (string | ConditionalHint)[]>>;

/** A hint for error responses to one grant, or with a certain description. */
interface ConditionalHint {
  readonly grant?: string;
  /** Pattern of `error_description`. */
  readonly description?: RegExp;
  readonly hint: string;
}

/** A field that is part of the token URL. */
export interface UrlVariable {
  /** In a host name, a wrong value would send the credentials elsewhere (D13): the pattern must not match `/`, `@`, `:`, `?` or `#` there. */
  readonly pattern: RegExp;
  /** A valid value that does not belong to a user. */
  readonly example: string;
  /** Completes "set tenant_id to …". */
  readonly description: string;
  /** Value of a profile that sets none. Default: the field is required. */
  readonly default?: string;
}

/** How users log in. URLs are relative to the token URL, so that they follow `<profile>.url`. */
interface ProviderLogin {
  readonly preferredFlow: 'device' | 'browser';
  /** Authorization endpoint (RFC 6749 §3.1). */
  readonly authorizationUrl?: string;
  /** Device authorization endpoint (RFC 8628 §3.1). */
  readonly deviceAuthorizationUrl?: string;
  /** Revocation endpoint (RFC 7009 §2). */
  readonly revocationUrl?: string;
  /** Whether a revocation request contains the token only, without client authentication. Default: false. */
  readonly revocationWithoutClientAuth?: boolean;
  /** Metadata document (RFC 8414 §3, OpenID Connect Discovery §4). */
  readonly metadataUrl?: string;
  /** Userinfo endpoint (OpenID Connect Core §5.3). Default: that of the metadata, if it has the same origin. */
  readonly userinfoUrl?: string;
  /** Fields that a login requires in addition to the client id. */
  readonly requiredFields?: readonly string[];
  /** Scopes without which the provider returns no refresh token. */
  readonly requiredScopes?: readonly string[];
  /** Whether the `scope` of a token response is not comparable with the requested one. Default: false. */
  readonly grantedScopeDiffers?: boolean;
  /** Parameters of the redirect that are added to the token response. */
  readonly redirectMembers?: readonly string[];
  /** Additional parameters of the authorization request. */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
  /** Hint for a login that returned no refresh token; placeholders as in {@link ErrorHints}. */
  readonly missingRefreshTokenHint?: string;
  /** Host of the loopback redirect URI, whose path is then `/`. Default: `127.0.0.1` with the path `/callback`. */
  readonly redirectHost?: 'localhost';
  /** Tenant at which device codes are requested first, and the codes with which it rejects applications of a single tenant (D23). */
  readonly deviceTenant?: { readonly name: string; readonly rejectedWith: readonly string[] };
  /** Name of a second parameter with the device code in poll requests. */
  readonly deviceCodeAlias?: string;
}

/** How an application gets tokens of its installations: with a JWT that it signs as the bearer token, in the place of client authentication. */
export interface ProviderInstallation {
  /** The grant of such a profile. It is not sent. */
  readonly grant: string;
  /** Root of the API by host; the first match is used. */
  readonly apiUrls: readonly { readonly host: RegExp; readonly url: string }[];
  /** Token endpoint below the root; `{installation_id}` is replaced. */
  readonly tokenPath: string;
  /** Where the id of the installation is found if the profile has only `{repository}`. */
  readonly lookupPath: string;
  /** Media type of the responses. */
  readonly accept: string;
  /** Time from `iat` to `exp` of the JWT, and from `iat` to now, in milliseconds. */
  readonly lifetimeMs: number;
  readonly backdatedMs: number;
}

/** Everything that is known about a provider. No code branches on a provider's name. */
export interface Provider {
  /** Value of `<profile>.type`. */
  readonly type: string;
  /** Other values of `<profile>.type`, each with the grant that it implies. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Token endpoint; `{tenant_id}` and other {@link Provider.variables} are replaced with the profile's. Default: `<profile>.url` is required. */
  readonly tokenUrl?: string;
  /** Whether the endpoints are those that the metadata of `<profile>.issuer` names. Default: false. */
  readonly usesIssuer?: boolean;
  /** The fields that are part of the token URL, by name. They are never sent. */
  readonly variables?: Readonly<Record<string, UrlVariable>>;
  /** Format of token requests. Default: `form` (RFC 6749 §4). */
  readonly requestFormat?: 'form' | 'json';
  /** Separator of the scopes in a request. Default: `space` (RFC 6749 §3.3). */
  readonly scopeSeparator?: 'comma';
  /** For `oauth-profile providers` and the documentation. Set for the types of the catalogue. */
  readonly about?: {
    readonly name: string;
    /** Page of the provider about its OAuth endpoints. */
    readonly documentation: string;
    /** Facts that users should know, one sentence each. */
    readonly notes: readonly string[];
  };
  /** The header in which the provider's API expects the token. Default: `Authorization`. */
  readonly apiHeader?: string;
  /** The scheme in that header, for providers whose `token_type` is another one. Default: `Bearer` in a header for authorization, else none. */
  readonly apiScheme?: string;
  /** Username that its git server expects with a token as the password. Default: `oauth2`. */
  readonly gitUsername?: string;
  /** Username that its container registry expects with a token as the password. Default: `oauth2`. */
  readonly dockerUsername?: string;
  /** Grants that the provider rejects: always, or at some tenants. */
  readonly unsupportedGrants?: readonly { readonly grant: string; readonly tenants?: readonly string[] }[];
  /** Grants implied by fields: the first grant whose fields are all set is used, else `defaultGrant`. */
  readonly grantsByFields: readonly { readonly grant: string; readonly fields: readonly string[] }[];
  readonly defaultGrant?: string;
  readonly required: Readonly<Record<string, readonly string[]>>;
  /** Formats that a grant expects of a field. Other values are sent too, with a note in `check`. */
  readonly valueHints?: readonly {
    readonly grant: string;
    readonly field: string;
    readonly pattern: RegExp;
    /** Completes "should be …". */
    readonly description: string;
  }[];
  readonly clientAuth: ClientAuth;
  /** Client authentication of a profile without a secret. Default: `clientAuth`. */
  readonly clientAuthWithoutSecret?: ClientAuth;
  /** Signature algorithm of client assertions with an RSA key. Default: RS256. */
  readonly rsaAlgorithm?: 'RS256' | 'PS256';
  /** Audience of assertions that another issuer supplies (`options.assertion_source`). Default: the token URL. */
  readonly federationAudience?: string;
  /** Whether the provider finds the key of an assertion by its certificate, which the key file must contain. Default: false. */
  readonly keyNeedsCertificate?: boolean;
  /**
   * Origins of the provider's API, for a profile without `url`; `https://*.example.com` for one label. `token_url`: the API has the origin of the
   * token URL. Default: unknown, because the tokens are for APIs of others.
   */
  readonly apiOrigins?: readonly string[] | 'token_url';
  readonly refreshTokenReuse: RefreshTokenReuse;
  /** How long a used refresh token is accepted again, in milliseconds. Default: 30,000. */
  readonly graceMs?: number;
  /** Whether a refresh revokes the access tokens issued before. Default: false. */
  readonly refreshRevokesAccessTokens?: boolean;
  /** Lifetime of a token whose response has no `expires_in`, in milliseconds. Default: unknown. */
  readonly defaultLifetimeMs?: number;
  /** Set if users can log in. */
  readonly login?: ProviderLogin;
  /** Set if applications are installed by others and get tokens for that. */
  readonly installation?: ProviderInstallation;
  readonly hints: ErrorHints;
}
