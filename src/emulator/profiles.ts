import { createPublicKey, type KeyObject } from 'node:crypto';
import { parseUrl } from './messages.ts';
import type { EmulatedProvider } from './provider.ts';
import { custom } from './providers/custom.ts';
import { gitlab } from './providers/gitlab.ts';
import { google } from './providers/google.ts';
import { microsoft } from './providers/microsoft.ts';
import { okta } from './providers/okta.ts';
import { twitter } from './providers/twitter.ts';
import { Realm } from './realm.ts';

/** The fields of one profile, as in `oauth-profiles.yaml`: `{type: 'microsoft', client_id: …, basic: {user, password}}`. */
export interface EmulatedProfile {
  readonly [field: string]: unknown;
}

/** Profiles by name. The emulator accepts only their clients, users and refresh tokens. */
export type EmulatedProfiles = Readonly<Record<string, EmulatedProfile>>;

const providers: readonly EmulatedProvider[] = [microsoft, google, okta, gitlab, twitter, custom];

/** All realms of an emulator: one per provider, and one per host of custom and self-managed servers. */
export class Realms {
  readonly #byHost = new Map<string, Realm>();

  constructor(profiles: EmulatedProfiles) {
    for (const [name, profile] of Object.entries(profiles)) this.#register(name, profile);
  }

  /** The realm of a host, if it is emulated. */
  find(host: string): Realm | undefined {
    const known = this.#byHost.get(host);
    if (known !== undefined) return known;
    const provider = providers.find(({ hosts }) => hosts?.test(host));
    // An isolated host without a profile has no clients and no state. It is not stored, because there may be any number of them.
    return provider?.isolatedHosts ? new Realm(provider) : provider && this.#create(provider, host);
  }

  /** The hosts of all realms. */
  hosts(): string[] {
    return [...this.#byHost.keys()];
  }

  #create(provider: EmulatedProvider, host: string): Realm {
    // All hosts of a provider share one realm; a self-managed server has its own.
    const key = provider.isolatedHosts || provider.hosts?.test(host) !== true ? host : provider.type;
    const existing = this.#byHost.get(key) ?? new Realm(provider);
    this.#byHost.set(key, existing);
    this.#byHost.set(host, existing);
    return existing;
  }

  #register(name: string, profile: EmulatedProfile): void {
    const text = (field: string): string | undefined => toText(profile[field]);
    const type = text('type')?.replace(/^microsoft-refresh$/, 'microsoft');
    const provider = providers.find((candidate) => candidate.type === type);
    if (provider === undefined) throw new TypeError(`startEmulator: profile ${name} has an unknown type`);
    const tokenUrl = text('url') ?? provider.tokenUrl?.replace('{tenant}', () => text('tenant_id') ?? 'organizations');
    const url = tokenUrl === undefined ? undefined : parseUrl(tokenUrl);
    if (url === undefined) return;
    const { host, pathname: path } = url;
    const realm = this.#create(provider, host);
    if (!realm.tokenUrls.has(host)) realm.tokenUrls.set(host, url);
    const tenant = provider.tenantOf?.({ host, path });
    if (tenant !== undefined) realm.tenants.add(tenant.toLowerCase());
    const basic = subfields(profile, 'basic');
    const options = subfields(profile, 'options');
    const id = text('client_id') ?? basic['user'];
    const secret = text('client_secret') ?? basic['password'];
    if (id !== undefined)
      realm.addClient({
        id,
        secret,
        auth: registeredMethod(options['client_auth'], provider, secret, basic),
        key: toPublicKey(options['key']),
        audience: options['audience'],
      });
    const [user, password] = [text('username'), text('password')];
    if (user !== undefined) realm.users.set(user, password);
    const refreshToken = text('refresh_token');
    if (refreshToken !== undefined) realm.registerRefreshToken(refreshToken, id ?? '', user, scopeOf(profile['scope']));
  }
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

/** The public key for a profile's private key (PEM or JWK). */
function toPublicKey(pem: string | undefined): KeyObject | undefined {
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
