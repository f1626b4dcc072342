import { type Client, sharedClient } from './client.ts';
import type { DataObject } from './config/flatten.ts';
import { getProfileToken } from './get-token.ts';
import type { EmulatorEndpoint } from './ports.ts';
import type { Profile } from './profile/profile.ts';
import { Secret } from './redaction/secret.ts';

/** A string, or a secret that is masked in all output. */
type Text = string | Secret;

/** The client: its ID, or Basic credentials. */
type ClientFields =
  | { readonly client_id: Text; readonly basic?: undefined }
  | { readonly client_id?: Text; readonly basic: { readonly user: Text; readonly password: Text } };

/** The token endpoint: of a tenant, or a URL. */
type TenantFields = { readonly tenant_id: Text } | { readonly tenant_id?: undefined; readonly url: Text };

/** The types of the catalogue. `oauth-profile providers` lists the fields of each. */
type CatalogueType =
  | 'atlassian'
  | 'auth0'
  | 'box'
  | 'cognito'
  | 'discord'
  | 'dropbox'
  | 'github'
  | 'hubspot'
  | 'keycloak'
  | 'linear'
  | 'notion'
  | 'quickbooks'
  | 'salesforce'
  | 'shopify'
  | 'slack'
  | 'spotify'
  | 'x'
  | 'xero'
  | 'zoom';

/** A profile by its `type`, with the fields that the type requires for every grant. Other fields are sent as they are. */
export type ProfileDefinition = DataObject &
  (
    | ({ readonly type: 'microsoft' | 'microsoft-refresh' | 'okta' } & TenantFields & ClientFields)
    | ({ readonly type: 'google' | 'twitter' } & ClientFields)
    | { readonly type: 'gitlab' }
    | ({ readonly type: 'oidc'; readonly issuer: Text } & ClientFields)
    | ({ readonly type: CatalogueType } & ClientFields)
    | { readonly type: 'custom'; readonly url: Text }
    | { readonly type: 'custom'; readonly options: { readonly issuer: Text } }
  );

/** Value of `type` of a profile. */
export type ProfileType = ProfileDefinition['type'];

/** Profiles by name. `const data = {…} satisfies Profiles` finds a misspelled type or a missing field at compile time. */
export type Profiles = Readonly<Record<string, ProfileDefinition>>;

/** Options of every library call. */
export interface CallOptions {
  /**
   * Variables that define profiles: `{'graph.type': 'microsoft'}` or `{graph: {type: 'microsoft'}}`. Default: the profile files that the command
   * line reads.
   */
  readonly data?: DataObject | undefined;
  /** Ends the call early, with an error of code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** An emulator from `oauth-profile/emulator`: every request goes there, with its real URL. */
  readonly emulator?: EmulatorEndpoint | undefined;
  /** URL of a Redis, or `memory` for this process only. Default: `OAUTH_PROFILE_STORE`, else the vault of this user. */
  readonly store?: string | undefined;
}

/** Options of {@link oauthProfile}. */
export type OAuthProfileOptions = CallOptions;

/** A token response with every member that the provider sent. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type?: string;
  /** In seconds; a string if the provider sent a form-encoded response. */
  readonly expires_in?: number | string;
  readonly refresh_token?: string;
  readonly scope?: string;
  readonly id_token?: string;
  readonly [member: string]: unknown;
}

/** Requests a token for a profile and returns the provider's response. Every failure is an {@link OAuthProfileError}. */
export async function oauthProfile(profile: string, options: OAuthProfileOptions = {}): Promise<TokenResponse> {
  validateCall('oauthProfile', profile, options);
  const client = sharedClient(options);
  const loaded = await loadProfile(client, profile, options.data);
  const { token } = await getProfileToken(client, loaded, { signal: options.signal });
  return token.response as TokenResponse;
}

/**
 * The profile of the last call with `data`, for programs that request tokens in a loop: parsing it again for each call costs 20 % of the
 * throughput. A profile with a login or with discovered endpoints is not remembered: the store and the server may change.
 */
let last: { readonly key: string; readonly profile: Profile } | undefined;

async function loadProfile(client: Client, name: string, data: DataObject | undefined): Promise<Profile> {
  const key = data && profileKey(name, data);
  if (key !== undefined && last?.key === key) return last.profile;
  const parsed = await client.parseProfile(name, await client.loadVariables({ data }));
  const profile = await client.completeProfile(parsed);
  if (key !== undefined && parsed.binding === undefined && parsed.options.issuer === undefined) last = { key, profile };
  return profile;
}

/**
 * Identifies a profile by its data. `undefined` if the same data may define another profile later (references, files), and for data that JSON does
 * not show: secrets, which it masks, and cyclic data, which is reported when it is parsed.
 */
function profileKey(name: string, data: DataObject): string | undefined {
  try {
    const key = JSON.stringify([name, data]);
    return /\$\{|_file"/.test(key) || hasSecret(data) ? undefined : key;
  } catch {
    return undefined;
  }
}

function hasSecret(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Secret || Object.values(value).some(hasSecret);
}

/** Rejects arguments that TypeScript would not allow. */
export function validateCall(caller: string, profile: unknown, options: CallOptions): void {
  if (typeof profile !== 'string' || profile === '')
    throw new TypeError(`${caller}: profile must be a non-empty string`);
  validateOptions(caller, options);
}

/** Rejects options that TypeScript would not allow. */
export function validateOptions(caller: string, { data, signal, store }: CallOptions): void {
  if (data !== undefined && (typeof data !== 'object' || data === null || Symbol.iterator in data))
    throw new TypeError(`${caller}: data must be an object of variables`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new TypeError(`${caller}: signal must be an AbortSignal`);
  if (store !== undefined && !/^(?:memory|(?:rediss?|unix)(?:\+\w+)?:\/\/.+)$/.test(store))
    throw new TypeError(`${caller}: store must be a Redis URL or 'memory'`);
}
