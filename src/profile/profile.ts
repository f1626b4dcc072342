import type { Source, Variables } from '../config/variables.ts';
import type { ProfileRemarks } from '../errors.ts';
import type { ClientAuth, Provider, RefreshTokenReuse } from '../providers/provider.ts';
import { Secret } from '../redaction/secret.ts';

/** A form field as it is sent, and where its value came from. */
export interface Field {
  readonly name: string;
  readonly value: string | Secret;
  /** For display: `oauth-profiles.yaml:4`, `default of google`, `vault`. */
  readonly source: string;
  /** Whether the value contains data from `${env:…}` or `${file:…}`. Such a value may be a secret, whatever the name of its field. */
  readonly external?: true;
  /** Further values of a field in {@link REPEATABLE_FIELDS}. */
  readonly others?: readonly (string | Secret)[];
}

/** Parameters that a request may repeat (RFC 8707 §2, RFC 8693 §2.1): a list in a profile gives one for each item. */
export const REPEATABLE_FIELDS: readonly string[] = ['audience', 'resource'];

/** The parameters of a field: one for each of its values. */
export function expandField({ others = [], ...field }: Field): Field[] {
  return [field, ...others.map((value) => ({ ...field, value }))];
}

/** The content of a file named by an option. It may be a private key: printing a profile shows only the path. */
export class LoadedFile {
  readonly path: string;
  /** Passphrase of a PKCS #12 file. */
  readonly passphrase: Secret | undefined;
  readonly #text: string;

  constructor(path: string, text: string, passphrase?: Secret) {
    this.path = path;
    this.passphrase = passphrase;
    this.#text = text;
  }

  /** The content; that of a PKCS #12 file in base64. */

  get text(): string {
    return this.#text;
  }
}

/** Whether a file is PKCS #12, by its name. */
export function isPkcs12(path: string): boolean {
  return /\.(?:pfx|p12)$/i.test(path);
}

/** Host of the metadata services of clouds: link-local, so that no other machine can respond. */
export const METADATA_HOST = '169.254.169.254';

/** The grant whose assertion may be signed with `options.key_file` (RFC 7523 §2.1). */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** RFC 8693 §2.1. */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Where an assertion of another issuer is read (`options.assertion_source`). It is read again for every request and never stored. */
export interface AssertionSource {
  readonly kind:
    | 'github-actions'
    | 'google-metadata'
    | 'azure-imds'
    | 'env'
    | 'file'
    | 'profile'
    // Only in credential files of Google.
    | 'url'
    | 'executable'
    | 'aws';
  /** Name of the variable or profile, path, URL or command. Client id of an `azure-imds` identity, audience for `aws`. Empty for the others. */
  readonly value: string;
  /** Where the source is set: it decides which files can be read. */
  readonly location: Source;
  /** Member of the JSON object that contains the assertion. Default: the content itself, or the access token of a profile. */
  readonly member?: string | undefined;
  /** The variables that define the other profile. */
  readonly variables?: Variables | undefined;
  /** Headers of the request to a `url`; one of them may be a credential. */
  readonly headers?: Readonly<Record<string, Secret>>;
  /** Variables of an `executable` and its `timeout_millis`; URLs of `aws`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Claims and lifetime of the assertion of the jwt-bearer grant (RFC 7523 §2.1). */
interface GrantAssertion {
  /** Never secrets: `explain` shows them. */
  readonly claims: readonly Field[];
  /** Default: 60,000. */
  readonly lifetimeMs: number | undefined;
  /** Whether the assertion has no `jti`. Default: false. */
  readonly omitsId?: boolean;
}

/** https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
export interface Impersonation {
  readonly url: URL;
  readonly scope: readonly string[];
  readonly lifetimeSeconds: number;
}

/** The place of the id in the token URL of an installation that is looked up. */
export const INSTALLATION_ID = '%7Binstallation_id%7D';

/** A token of an installation of an application: the request has a signed JWT as its bearer token. */
export interface InstallationRequest {
  /** `iss` of the JWT: id of the application or its client. */
  readonly issuer: string | Secret;
  /** Set if the id of the installation is read there first. */
  readonly lookupUrl: URL | undefined;
  /** JSON; empty for everything that the installation allows. */
  readonly body: string;
}

/** `<profile>.options.*`, validated; all times are in milliseconds. */
export interface ProfileOptions {
  /** Default: the provider's. */
  readonly clientAuth: ClientAuth | undefined;
  /** Whether secrets may be sent without TLS to other machines. Default: false. */
  readonly allowHttp: boolean;
  /** Total time for a token, retries included. Default: 30,000. */
  readonly timeoutMs: number;
  /** Location of the access token in the response. Default: `access_token`. */
  readonly tokenPath: readonly (string | number)[] | undefined;
  /** Default: the provider's; `revokes_family` for custom profiles. */
  readonly refreshTokenReuse: RefreshTokenReuse;
  /** How long a used refresh token is accepted again. Default: 30,000. */
  readonly graceMs: number;
  /** Whether a cached token is returned while it is usable. Default: the provider and the caller decide. */
  readonly reuse: boolean | undefined;
  /** Minimum remaining lifetime of a cached token. Default: 60,000. */
  readonly minTtlMs: number;
  /** Lifetime of a token whose response has no `expires_in`; `undefined` if unknown. */
  readonly defaultTtlMs: number | undefined;
  /** Origin whose requests in a script get an Authorization header with the token. */
  readonly authorizeOrigin: string | undefined;
  /** Origins that the access token may be sent to, also `https://*.example.com`; empty if none is known. */
  readonly origins: readonly string[];
  /** Header in which the API expects the access token. Default: the provider's, `Authorization`. */
  readonly apiHeader: string;
  /** Scheme before the token in the header; empty for none. `undefined` if the header and the type of the token decide. */
  readonly apiScheme: string | undefined;
  /** Username that git sends with the token as its password. Default: the provider's, `oauth2`. */
  readonly gitUsername: string;
  /** Username that docker sends with the token as its password. Default: the provider's, `oauth2`. */
  readonly dockerUsername: string;
  /** Role that `credential aws` assumes. */
  readonly awsRoleArn: string | undefined;
  readonly awsRegion: string | undefined;
  /** Authorization endpoint, if not the provider's. */
  readonly authorizationUrl: URL | undefined;
  /** Device authorization endpoint, if not the provider's. */
  readonly deviceAuthorizationUrl: URL | undefined;
  /** Revocation endpoint, if not the provider's. */
  readonly revocationUrl: URL | undefined;
  /** Token endpoint of refresh requests, if not the token URL; its origin is the same. */
  readonly refreshUrl: URL | undefined;
  /** Default: the provider's, `form`. */
  readonly requestFormat: 'form' | 'json';
  /** Default: the provider's, `space`. */
  readonly scopeSeparator: 'space' | 'comma';
  /** Whether an authorization request has a code challenge (RFC 7636). Default: true. */
  readonly usesPkce: boolean;
  /** Parameters of the redirect that are added to the token response. Default: the provider's. */
  readonly redirectMembers: readonly string[];
  /** Introspection endpoint (RFC 7662), if not that of the metadata. */
  readonly introspectionUrl: URL | undefined;
  /** Userinfo endpoint (OpenID Connect Core §5.3), if not that of the metadata. */
  readonly userinfoUrl: URL | undefined;
  /** Issuer whose metadata names the endpoints (RFC 8414). */
  readonly issuer: string | undefined;
  /** Loopback redirect URI of a login, exactly as registered. */
  readonly redirectUri: string | undefined;
  /** `aud` of client assertions. Default: the token URL. */
  readonly audience: string | undefined;
  /** `kid` of client assertions. */
  readonly keyId: string | undefined;
  /** Private key for assertions. */
  readonly key: LoadedFile | undefined;
  /** Whether assertions contain the certificate of the key file (`x5c`). Default: false. */
  readonly sendsCertificate: boolean;
  /** Whether tokens are bound to a key (RFC 9449). Default: false. */
  readonly dpop: boolean;
  /** Whether authorization requests are signed (RFC 9101). Default: only if the server requires it. */
  readonly signsRequest: boolean;
  readonly assertion: GrantAssertion;
  readonly assertionSource: AssertionSource | undefined;
  /** Set by a credential file of Google: the service account whose token replaces the exchanged one. */
  readonly impersonation?: Impersonation | undefined;
  /** Set by the grant of an installation. */
  readonly installation?: InstallationRequest | undefined;
  readonly ca: LoadedFile | undefined;
  readonly cert: LoadedFile | undefined;
  readonly certKey: LoadedFile | undefined;
}

/** The content of the TLS files of a profile, in plaintext. */
export function tlsFiles({ ca, cert, certKey }: ProfileOptions): Record<'ca' | 'cert' | 'certKey', string | undefined> {
  return { ca: ca?.text, cert: cert?.text, certKey: certKey?.text };
}

/** The provider's name in messages: its type, or the host of a custom one. */
export function providerName({ provider, url }: Pick<Profile, 'provider' | 'url'>): string {
  return provider.tokenUrl === undefined ? url.host : provider.type;
}

/** The credentials of a Basic header: `basic.user` and `basic.password`. */
export interface BasicPair {
  readonly user: Field;
  readonly password: Field;
}

/** A complete, validated profile, from which a token request can be built. */
export interface Profile extends ProfileRemarks {
  readonly name: string;
  readonly provider: Provider;
  /** Token endpoint, or the endpoint that `endpoint` names. */
  readonly url: URL;
  /** Set for a request of a login to another endpoint; hints name its option. */
  readonly endpoint?: 'device_authorization' | 'pushed_authorization' | 'revocation' | 'introspection';
  /** `undefined` only for a custom profile without `grant_type`. */
  readonly grant: string | undefined;
  /** Whether the grant is an assertion or a subject token that is signed or read for each request. */
  readonly createsGrant: boolean;
  readonly clientAuth: ClientAuth;
  /** `undefined` if the Basic header, if any, contains client id and secret. */
  readonly basic: BasicPair | undefined;
  /** Everything that is sent, client credentials included; `grant_type` comes first. */
  readonly fields: readonly Field[];
  /** Key of the stored token family, if the refresh token comes from a login. */
  readonly family: string | undefined;
  readonly options: ProfileOptions;
  /** The key that the tokens are bound to (`options.dpop`), a private JWK. It is stored with the token. */
  readonly dpopKey?: Secret | undefined;
}

/** The client id as it is sent: `basic.user`, else the field `client_id`; empty if there is neither. */
export function getClientId({ basic, fields }: Pick<Profile, 'basic' | 'fields'>): string | Secret {
  return basic?.user.value ?? fields.find(({ name }) => name === 'client_id')?.value ?? '';
}

/** Whether a field is shown, and may be part of a URL, even if its value comes from `${env:…}` or `${file:…}`. */
export function isPublicField(name: string): boolean {
  return /^(?:type|url|tenant_id|client_id|grant_type|scope|username|audience|basic\.user)$/.test(name);
}

/** Tests a value without revealing it. */
export function testValue(value: string | Secret, predicate: (text: string) => boolean): boolean {
  return value instanceof Secret ? value.test(predicate) : predicate(value);
}

/** Fields that never contain a line break. */
const singleLineFields = /^(?:client_id|client_secret|username|password|refresh_token|basic\.user|basic\.password)$/;

/** Describes characters that were probably not meant to be part of a value; completes "`graph.client_secret` …". */
export function findStrayCharacters({ name, value }: Field): string | undefined {
  const test = (pattern: RegExp): boolean => testValue(value, (text) => pattern.test(text));
  if (test(/[\r\n]\s*$/)) return 'ends with a line break';
  if (test(/^\s|\s$/)) return 'starts or ends with whitespace';
  if (test(/^(?:".*"|'.*'|“.*”)$/s)) return 'is enclosed in quotes';
  return singleLineFields.test(name) && test(/[\r\n]/) ? 'contains a line break' : undefined;
}

/** The command that logs a user in, quoted for a shell. */
export function loginCommand(profile: string): string {
  return `oauth-profile login ${quoteShellArgument(profile)}`;
}

/** Quotes a string as one argument of a POSIX shell. */
export function quoteShellArgument(text: string): string {
  // zsh expands a word that starts with `=`.
  return /^[\w.@+:,/-][\w.@+:=,/-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
