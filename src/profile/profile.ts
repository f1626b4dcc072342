import type { ClientAuth, Provider, RefreshTokenReuse } from '../providers/provider.ts';
import type { Secret } from '../redaction/secret.ts';

/** A form field as it will be sent, and where it came from. */
export interface Field {
  readonly name: string;
  readonly value: string | Secret;
  /** For a person: `oauth-profiles.yaml:4`, `default of google`. */
  readonly source: string;
}

/** A file that an option names, read. It may hold a private key, so printing a profile shows its path alone. */
export class LoadedFile {
  readonly path: string;
  readonly #text: string;

  constructor(path: string, text: string) {
    this.path = path;
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}

/** `<profile>.options.*`, checked and in our own units. */
export interface ProfileOptions {
  readonly timeoutMs: number;
  readonly tokenPath: readonly (string | number)[] | undefined;
  readonly refreshTokenReuse: RefreshTokenReuse;
  readonly graceMs: number;
  /** Whether a token that is still fresh is handed out again; `undefined` leaves it to the provider and the caller. */
  readonly reuse: boolean | undefined;
  /** A token with no more time left than this is not fresh. */
  readonly minTtlMs: number;
  /** How long a token lives whose response does not say; `undefined` where nobody knows. */
  readonly defaultTtlMs: number | undefined;
  /** The origin that a script's requests take the token to, in the header Authorization. */
  readonly authorizeOrigin: string | undefined;
  /** Where people sign in, where that is not the provider's own page or there is none. */
  readonly authorizationUrl: URL | undefined;
  readonly deviceAuthorizationUrl: URL | undefined;
  /** Where the browser comes back to after a sign-in, exactly as it is registered; on this machine. */
  readonly redirectUri: string | undefined;
  readonly audience: string | undefined;
  readonly keyId: string | undefined;
  readonly key: LoadedFile | undefined;
  readonly ca: LoadedFile | undefined;
  readonly cert: LoadedFile | undefined;
  readonly certKey: LoadedFile | undefined;
}

/** What a profile's files bring to a connection, in clear. */
export function tlsFiles({ ca, cert, certKey }: ProfileOptions): Record<'ca' | 'cert' | 'certKey', string | undefined> {
  return { ca: ca?.text, cert: cert?.text, certKey: certKey?.text };
}

/** What a message calls the provider: its type, or the host of a custom one. */
export function providerName({ provider, url }: Pick<Profile, 'provider' | 'url'>): string {
  return provider.tokenUrl === undefined ? url.host : provider.type;
}

/** User and password of a Basic header. */
export interface BasicPair {
  readonly user: Field;
  readonly password: Field;
}

/** A complete, checked profile: whoever has one can build a request, and nobody checks again. */
export interface Profile {
  readonly name: string;
  readonly provider: Provider;
  readonly url: URL;
  /** `undefined` only for a custom profile that names no grant. */
  readonly grant: string | undefined;
  readonly clientAuth: ClientAuth;
  /** Given with `basic.user` and `basic.password`; else client id and secret serve. */
  readonly basic: BasicPair | undefined;
  /** Everything that is sent, client credentials included, `grant_type` first. */
  readonly fields: readonly Field[];
  /** The family in the vault that a login began, where the profile's refresh token comes from one. */
  readonly family: string | undefined;
  readonly options: ProfileOptions;
  /** What is no fault but may be a mistake. */
  readonly notes: readonly string[];
}

/** The client id as it is sent: `basic.user`, else the field `client_id`; empty if there is neither. */
export function getClientId({ basic, fields }: Pick<Profile, 'basic' | 'fields'>): string | Secret {
  return basic?.user.value ?? fields.find(({ name }) => name === 'client_id')?.value ?? '';
}
