import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Dialect } from './dialect.ts';
import { custom } from './dialects/custom.ts';
import { gitlab } from './dialects/gitlab.ts';
import { google } from './dialects/google.ts';
import { microsoft } from './dialects/microsoft.ts';
import { okta } from './dialects/okta.ts';
import { twitter } from './dialects/twitter.ts';
import { Realm } from './realm.ts';

/** The fields of one profile, as in a file of profiles: `{type: 'microsoft', client_id: …, basic: {user, password}}`. */
export interface EmulatedProfile {
  readonly [field: string]: unknown;
}

/** Profiles by name; the emulator knows their clients, users and refresh tokens, and no others. */
export type EmulatedProfiles = Readonly<Record<string, EmulatedProfile>>;

const dialects: readonly Dialect[] = [microsoft, google, okta, gitlab, twitter, custom];

/** All realms of an emulator: one for each provider, and one for each further address that a profile names. */
export class Realms {
  readonly #byHost = new Map<string, Realm>();

  constructor(profiles: EmulatedProfiles) {
    for (const [name, profile] of Object.entries(profiles)) this.#register(name, profile);
  }

  /** The realm that serves a host, if the host is emulated. */
  find(host: string): Realm | undefined {
    const known = this.#byHost.get(host);
    if (known !== undefined) return known;
    const dialect = dialects.find(({ hosts }) => hosts?.test(host));
    // A host of its own without a profile has no clients, so nothing that it would be asked to keep; callers can make up any number of them.
    return dialect?.hostsApart === true ? new Realm(dialect) : dialect && this.#create(dialect, host);
  }

  /** Hosts that stand in profiles, for certificates that name addresses. */
  hosts(): string[] {
    return [...this.#byHost.keys()];
  }

  #create(dialect: Dialect, host: string): Realm {
    // The several hosts of one provider share their clients; a self-managed server is a world of its own.
    const shared = dialect.hostsApart || dialect.hosts?.test(host) !== true ? host : dialect.type;
    const existing = this.#byHost.get(shared) ?? new Realm(dialect);
    this.#byHost.set(shared, existing);
    this.#byHost.set(host, existing);
    return existing;
  }

  #register(name: string, profile: EmulatedProfile): void {
    const text = (name: string): string | undefined => textOf(profile[name]);
    const type = text('type')?.replace(/^microsoft-refresh$/, 'microsoft');
    const dialect = dialects.find((one) => one.type === type);
    if (dialect === undefined) throw new TypeError(`startEmulator: profile ${name} has no known type`);
    const address = text('url') ?? dialect.tokenUrl?.replace('{tenant}', () => text('tenant_id') ?? 'organizations');
    if (address === undefined || !URL.canParse(address)) return;
    const url = new URL(address);
    const { host, pathname: path } = url;
    const realm = this.#create(dialect, host);
    if (!realm.tokenUrls.has(host)) realm.tokenUrls.set(host, url);
    const tenant = dialect.tenantOf({ host, path });
    if (tenant !== undefined) realm.tenants.add(tenant.toLowerCase());
    const basic = partsOf(profile, 'basic');
    const options = partsOf(profile, 'options');
    const id = text('client_id') ?? basic['user'];
    const secret = text('client_secret') ?? basic['password'];
    if (id !== undefined)
      realm.addClient({
        id,
        secret,
        auth: authOf(options['client_auth'], dialect, secret, basic),
        key: keyOf(options['key']),
        audience: options['audience'],
      });
    const [user, password] = [text('username'), text('password')];
    if (user !== undefined) realm.users.set(user, password);
    const refreshToken = text('refresh_token');
    if (refreshToken !== undefined) realm.adopt(refreshToken, id ?? '', user, scopeOf(profile['scope']));
  }
}

/** How the client is registered: as its profile authenticates. */
function authOf(
  asked: string | undefined,
  dialect: Dialect,
  secret: string | undefined,
  basic: Record<string, string>,
): string {
  if (basic['user'] !== undefined || asked === 'basic_raw') return 'basic';
  if (asked !== undefined) return asked;
  if (secret === undefined) return 'none';
  return dialect.clientAuth.usual;
}

/** A public key, from the private key that a profile signs with. */
function keyOf(pem: string | undefined): KeyObject | undefined {
  if (pem === undefined) return undefined;
  try {
    return createPublicKey(pem.trimStart().startsWith('{') ? { key: JSON.parse(pem), format: 'jwk' } : pem);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function scopeOf(value: unknown): string {
  return Array.isArray(value) ? value.join(' ') : (textOf(value) ?? '');
}

/** `basic: {user}` or `'basic.user'`. */
function partsOf(profile: EmulatedProfile, name: string): Record<string, string> {
  const parts: Record<string, string> = {};
  const nested = profile[name];
  const entries = [
    ...Object.entries(typeof nested === 'object' && nested !== null ? nested : {}),
    ...Object.entries(profile)
      .filter(([key]) => key.startsWith(`${name}.`))
      .map(([key, value]) => [key.slice(name.length + 1), value] as const),
  ];
  for (const [key, value] of entries) {
    const text = textOf(value);
    if (text !== undefined) parts[key] = text;
  }
  return parts;
}
