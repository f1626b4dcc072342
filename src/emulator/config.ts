import { readFileSync } from 'node:fs';
import { isSensitiveName, type RequestLog, type ServedRequest } from './control/request-log.ts';
import { createStubs, pathInside, type StubOptions } from './endpoints/stubs.ts';
import type { Fault } from './faults.ts';
import { parseUrl } from './messages.ts';
import type { Realm } from './realm.ts';
import { type EmulatedProfiles, type Realms, toPublicKey } from './realms.ts';
import { configSchema, findIssues } from './schemas.ts';
import { ConfigError, type Duration, type ProviderOptions, parseDuration } from './settings.ts';
import type { Client, ClientSettings, UserOptions } from './subjects.ts';
import type { SigningAlgorithm } from './tokens/signing-keys.ts';

/** A client, in addition to those of the profiles. */
export interface ClientOptions extends Omit<ClientSettings, 'access_token_lifetime'> {
  readonly client_id: string;
  readonly provider?: string | undefined;
  readonly host?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly auth_method?: string | undefined;
  readonly public_key?: string | undefined;
  readonly access_token_lifetime?: Duration | undefined;
}

/** The members of `emulator.yaml`. */
export interface EmulatorConfig {
  /** Users of all providers, by login name. */
  readonly users?: Readonly<Record<string, UserOptions>> | undefined;
  readonly clients?: readonly ClientOptions[] | undefined;
  /** Settings by type of provider. */
  readonly providers?: Readonly<Record<string, ProviderOptions>> | undefined;
  /** Stub responses by host. */
  readonly hosts?: Readonly<Record<string, readonly StubOptions[]>> | undefined;
  readonly signing?:
    | {
        readonly alg?: SigningAlgorithm | undefined;
        /** A fixed private key, PEM or JWK. */
        readonly key?: string | undefined;
        readonly key_file?: string | undefined;
      }
    | undefined;
  /** Origins that clients may reach directly, such as `https://staging.example.com`. */
  readonly allow?: readonly string[] | undefined;
  /** Whether the control API and the console are available. Default: true. */
  readonly control?: boolean | undefined;
}

/** Options of `startEmulator`: the members of `emulator.yaml`, and what only a program can supply. */
export interface EmulatorOptions extends EmulatorConfig {
  /** Profiles by name, as in `oauth-profiles.yaml`. Their clients, users and refresh tokens are accepted. */
  readonly profiles?: EmulatedProfiles | undefined;
  /** Port on 127.0.0.1. Default: a free port. */
  readonly port?: number | undefined;
  /** Faults to inject. */
  readonly faults?: readonly Fault[] | undefined;
  /** The directory of the files that the options name. Default: the working directory. */
  readonly directory?: string | undefined;
  /** The current time in epoch milliseconds, for tests. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** Called after each request, without its secrets. */
  readonly onRequest?: ((request: ServedRequest) => void) | undefined;
}

function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Validates the options of an emulator and reads the files that they name. Throws a `ConfigError` with all issues. */
export async function readConfig(options: EmulatorOptions) {
  const { profiles, directory = process.cwd(), clock, onRequest, ...config } = options;
  const given = JSON.parse(JSON.stringify(config));
  // Loading Ajv takes longer than starting the emulator, and most emulators need no configuration.
  const isDefault = Object.entries(given).every(([name, value]) => name === 'port' || isEmptyArray(value));
  const issues = isDefault ? [] : await findIssues(configSchema, given);
  if (issues.length > 0) throw new ConfigError(`invalid emulator configuration: ${issues.join('; ')}`);
  const { users = {}, clients = [], providers = {}, hosts = {}, signing = {}, faults = [], allow = [] } = config;
  const { alg, key, key_file: keyFile } = signing;
  return {
    port: config.port ?? 0,
    providers,
    faults,
    signing: { alg, key: keyFile === undefined ? key : readKeyFile(directory, keyFile) },
    stubs: createStubs(hosts, directory),
    allow: allow.map(parseOrigin),
    control: config.control ?? true,
    /** Adds users and clients. Also called when the control API resets the emulator. */
    apply(realms: Realms, log: RequestLog) {
      for (const profile of Object.values(profiles ?? {})) addSecrets(log, profile);
      for (const [name, user] of Object.entries(users)) addUser(realms, log, name, user);
      for (const client of clients) addClient(realms, log, client);
    },
  };
}

function readKeyFile(directory: string, file: string): string {
  try {
    return readFileSync(pathInside(directory, file), 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`cannot read signing.key_file ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Registers a user of all providers. */
export function addUser(realms: Realms, log: RequestLog, login: string, options: UserOptions): void {
  log.addSecret(options.password);
  realms.users.set(login, { ...options, login });
}

/** Registers a client. */
export function addClient(
  realms: Realms,
  log: RequestLog,
  options: ClientOptions,
): { readonly realm: Realm; readonly client: Client } {
  const { client_id: id, client_secret: secret, public_key: publicKey, auth_method: auth } = options;
  log.addSecret(secret);
  const realm = realms.open(options.provider, options.host?.toLowerCase());
  const key = toPublicKey(publicKey);
  if (publicKey !== undefined && key === undefined)
    throw new ConfigError(`the public_key of client ${id} is neither PEM nor JWK`);
  const usual =
    key !== undefined ? 'private_key_jwt' : secret === undefined ? 'none' : realm.provider.clientAuth.default;
  const client = realm.addClient(id, { secret, auth: auth ?? usual, key, audience: undefined });
  const { redirect_uris, audience, scopes, roles, claims, access_token_lifetime: lifetime } = options;
  const seconds = lifetime === undefined ? undefined : parseDuration(lifetime);
  const settings: ClientSettings = { redirect_uris, audience, scopes, roles, claims, access_token_lifetime: seconds };
  Object.assign(client, settings);
  return { realm, client };
}

/** The secrets of a profile never appear in the list of requests, whatever the names of the fields that contain them. */
function addSecrets(log: RequestLog, profile: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(profile)) {
    if (typeof value === 'object' && value !== null) addSecrets(log, value as Record<string, unknown>);
    else if (isSensitiveName(name)) log.addSecret(String(value));
  }
}

function parseOrigin(value: string): string {
  const url = parseUrl(value);
  if (url === undefined || !/^https?:$/.test(url.protocol) || ![url.origin, `${url.origin}/`].includes(url.href))
    throw new ConfigError(`invalid emulator configuration: allow: ${value} is not an origin such as https://host`);
  return url.origin;
}
