import { createPublicKey, type KeyObject } from 'node:crypto';
import { requestTarget } from './endpoints/target.ts';
import { parseUrl } from './messages.ts';
import type { Action, EmulatedProvider } from './provider.ts';
import { catalogue } from './providers/catalogue.ts';
import { custom } from './providers/custom.ts';
import { gitlab } from './providers/gitlab.ts';
import { google } from './providers/google.ts';
import { microsoft } from './providers/microsoft.ts';
import { okta } from './providers/okta.ts';
import { twitter } from './providers/twitter.ts';
import { BUILT_IN_USER, Realm } from './realm.ts';
import { ConfigError, type ProviderOptions, type ProviderSettings, resolveSettings } from './settings.ts';
import type { User } from './subjects.ts';

/** The fields of one profile, as in `oauth-profiles.yaml`: `{type: 'microsoft', client_id: …, basic: {user, password}}`. */
export interface EmulatedProfile {
  readonly [field: string]: unknown;
}

/** Profiles by name. The emulator accepts only their clients, users and refresh tokens. */
export type EmulatedProfiles = Readonly<Record<string, EmulatedProfile>>;

const providers: readonly EmulatedProvider[] = [microsoft, google, okta, gitlab, twitter, ...catalogue, custom];

/** All realms of an emulator: one per provider, and one per host of custom and self-managed servers. */
export class Realms {
  readonly #byHost = new Map<string, Realm>();
  readonly #tokenUrls = new Map<string, { realm: Realm; url: URL }>();
  readonly #settings = new Map<EmulatedProvider, ProviderSettings>();
  readonly users = new Map<string, User>();

  constructor(
    readonly profiles: EmulatedProfiles,
    options: Readonly<Record<string, ProviderOptions>> = {},
  ) {
    for (const provider of providers) this.#settings.set(provider, resolveSettings(provider, options[provider.type]));
    this.reset();
  }

  /** Forgets everything that was issued or added, except what the profiles have. */
  reset(): void {
    for (const realm of this.all()) realm.clear();
    this.users.clear();
    this.users.set(BUILT_IN_USER.login, BUILT_IN_USER);
    for (const [name, profile] of Object.entries(this.profiles)) this.#register(name, profile);
  }

  /** The realm of a host, if it is emulated. */
  find(host: string): Realm | undefined {
    const known = this.#byHost.get(host);
    if (known !== undefined) return known;
    const provider = providers.find(({ hosts }) => hosts?.test(host));
    // An isolated host without a profile has no clients and no state. It is not stored, because there may be any number of them.
    return provider?.isolatedHosts ? this.#createRealm(provider) : provider && this.#create(provider, host);
  }

  hosts(): string[] {
    return [...this.#byHost.keys()];
  }

  /** All realms that have a profile or were used. */
  all(): ReadonlySet<Realm> {
    return new Set(this.#byHost.values());
  }

  /** The realm for a client that is registered for a provider, a host or both. */
  open(type: string | undefined, host: string | undefined): Realm {
    if (host === undefined) {
      const provider = findProvider(type ?? 'custom');
      const [, usual] = /^https:\/\/([^/{]+)\//.exec(provider?.tokenUrl ?? '') ?? [];
      if (provider === undefined || usual === undefined)
        throw new ConfigError(`a client of ${type ?? 'custom'} needs a host`);
      return this.#create(provider, usual);
    }
    const known = this.#byHost.get(host);
    if (known !== undefined) return known;
    const provider = type === undefined ? providers.find(({ hosts }) => hosts?.test(host)) : findProvider(type);
    const realm = this.#create(provider ?? custom, host);
    const tenant = realm.provider.tenantOf?.({ host, path: '/oauth2/default/v1/token' });
    if (tenant !== undefined) addTenant(realm, tenant);
    return realm;
  }

  /** The production URLs of each profile. The issuer is `undefined` if the provider has no metadata. */
  endpoints(): { profile: string; provider: string; issuer?: string; jwksUri?: string; tokenUrl: string }[] {
    return [...this.#tokenUrls].map(([profile, { realm, url }]) => {
      const { provider } = realm;
      const target = requestTarget(realm, { host: url.host, path: url.pathname });
      const common = { profile, provider: provider.type, tokenUrl: url.href };
      if (provider.metadata === undefined) return common;
      const issuer = provider.issuer(target);
      const path = `${issuer.replace(/^https?:\/\/[^/]+/, '')}/.well-known/openid-configuration`;
      const host = new URL(issuer).host;
      const { jwks_uri: jwksUri } = provider.metadata({ ...requestTarget(realm, { host, path }) }) ?? {};
      return { ...common, issuer, ...(typeof jwksUri === 'string' && { jwksUri }) };
    });
  }

  #createRealm(provider: EmulatedProvider): Realm {
    return new Realm(provider, this.users, this.#settings.get(provider) ?? resolveSettings(provider));
  }

  #create(provider: EmulatedProvider, host: string): Realm {
    // All hosts of a provider share one realm; a self-managed server has its own.
    const key = provider.isolatedHosts || provider.hosts?.test(host) !== true ? host : provider.type;
    const existing = this.#byHost.get(key) ?? this.#createRealm(provider);
    this.#byHost.set(key, existing);
    this.#byHost.set(host, existing);
    return existing;
  }

  /** The endpoints of a server may have several hosts. A host of another realm stays there. */
  #addEndpoint(realm: Realm, configured: string | undefined, action: Action): void {
    const url = configured === undefined ? undefined : parseUrl(configured);
    if (url === undefined) return;
    if (this.find(url.host) === undefined) this.#byHost.set(url.host, realm);
    realm.endpoints.set(`${url.host}${url.pathname}`, action);
  }

  #register(name: string, profile: EmulatedProfile): void {
    const text = (field: string): string | undefined => toText(profile[field]);
    const issuer = text('issuer') ?? subfields(profile, 'options')['issuer'];
    const provider = findProvider(text('type') ?? '') ?? ((text('url') ?? issuer) ? custom : undefined);
    if (provider === undefined) throw new ConfigError(`startEmulator: profile ${name} has an unknown type`);
    const usual = issuer === undefined ? provider.tokenUrl : `${issuer.replace(/\/$/, '')}/token`;
    const tokenUrl =
      text('url') ??
      usual?.replace(/\{(\w+)\}/g, (_, field: string) =>
        field === 'tenant'
          ? (text('tenant_id') ?? 'organizations')
          : (text(field) ?? provider.urlDefaults?.[field] ?? ''),
      );
    const url = tokenUrl === undefined ? undefined : parseUrl(tokenUrl);
    if (url === undefined) return;
    const { host, pathname: path } = url;
    const realm = this.#create(provider, host);
    this.#tokenUrls.set(name, { realm, url });
    realm.issuer ??= issuer;
    if (!realm.tokenUrls.has(host)) realm.tokenUrls.set(host, url);
    const tenant = provider.tenantOf?.({ host, path });
    if (tenant !== undefined) addTenant(realm, tenant);
    const basic = subfields(profile, 'basic');
    const options = subfields(profile, 'options');
    for (const [option, action] of Object.entries(endpointOptions)) this.#addEndpoint(realm, options[option], action);
    if (options['request_format'] === 'json') realm.acceptsJson = true;
    const account = parseServiceAccount(options['key']);
    const id = text('client_id') ?? text('app_id') ?? basic['user'] ?? account?.client_email;
    const secret = text('client_secret') ?? basic['password'];
    if (id !== undefined)
      realm.addClient(id, {
        secret,
        auth: registeredMethod(options['client_auth'], provider, secret, basic),
        key: toPublicKey(account?.private_key ?? options['key']),
        audience: options['audience'],
      });
    const [user, password] = [text('username'), text('password')];
    if (user !== undefined) realm.addUser(user, password);
    const refreshToken = text('refresh_token');
    if (refreshToken !== undefined) realm.addRefreshToken(refreshToken, id ?? '', user, scopeOf(profile['scope']));
  }
}

/** Options of a profile that name an endpoint. */
const endpointOptions: Readonly<Record<string, Action>> = {
  authorization_url: 'authorize',
  device_authorization_url: 'device',
  revocation_url: 'revoke',
  refresh_url: 'token',
};

function findProvider(type: string): EmulatedProvider | undefined {
  return providers.find((provider) => provider.type === type.replace(/^microsoft-refresh$/, 'microsoft'));
}

function addTenant(realm: Realm, tenant: string): void {
  for (const one of [tenant, ...(realm.provider.relatedTenants?.(tenant) ?? [])]) realm.tenants.add(one.toLowerCase());
}

/** The authentication method that a client is registered with: the one that its profile uses. */
function registeredMethod(
  configured: string | undefined,
  provider: EmulatedProvider,
  secret: string | undefined,
  basic: Record<string, string>,
): string {
  if (basic['user'] !== undefined || configured === 'client_secret_basic_raw') return 'client_secret_basic';
  if (configured !== undefined) return configured;
  if (secret === undefined) return 'none';
  return provider.clientAuth.default;
}

/** The key file of a Google service account. */
function parseServiceAccount(key: string | undefined): Record<'client_email' | 'private_key', string> | undefined {
  try {
    const account = JSON.parse(key ?? '{}');
    return typeof account.client_email === 'string' && typeof account.private_key === 'string' ? account : undefined;
  } catch {
    return undefined;
  }
}

/** The public key for a profile's private key (PEM or JWK). */
export function toPublicKey(pem: string | undefined): KeyObject | undefined {
  if (pem === undefined) return undefined;
  try {
    return createPublicKey(pem.trimStart().startsWith('{') ? { key: JSON.parse(pem), format: 'jwk' } : pem);
  } catch {
    return undefined;
  }
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function scopeOf(value: unknown): string {
  return Array.isArray(value) ? value.join(' ') : (toText(value) ?? '');
}

/** Fields such as `basic: {user}` or `'basic.user'`. */
function subfields(profile: EmulatedProfile, name: string): Record<string, string> {
  const fields: Record<string, string> = {};
  const nested = profile[name];
  const entries = [
    ...Object.entries(typeof nested === 'object' && nested !== null ? nested : {}),
    ...Object.entries(profile)
      .filter(([key]) => key.startsWith(`${name}.`))
      .map(([key, value]) => [key.slice(name.length + 1), value] as const),
  ];
  for (const [key, value] of entries) {
    const text = toText(value);
    if (text !== undefined) fields[key] = text;
  }
  return fields;
}
