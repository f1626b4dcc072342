import type { EmulatedProvider } from './provider.ts';

/** An invalid configuration of the emulator, or an invalid request to its control API. */
export class ConfigError extends TypeError {}

/** A number of seconds, or a string such as `90s`, `5m`, `1h` or `30d`. */
export type Duration = number | string;

/** Settings of a provider that differ from its real defaults. */
export interface ProviderOptions {
  readonly access_token_lifetime?: Duration | undefined;
  readonly id_token_lifetime?: Duration | undefined;
  readonly refresh_token_lifetime?: Duration | undefined;
  /** Whether a refresh returns a new refresh token. */
  readonly refresh_token_rotation?: boolean | undefined;
  /** The effect of a second use of a refresh token after a rotation. */
  readonly refresh_token_reuse?: 'allowed' | 'rejected' | 'revokes_family' | undefined;
  /** How long a used refresh token is still accepted where reuse revokes the token family. */
  readonly refresh_token_grace?: Duration | undefined;
  /** The audience of access tokens. */
  readonly audience?: string | undefined;
  /** Opaque tokens can only be checked by introspection. Default: as the provider issues them. */
  readonly access_token_format?: 'jwt' | 'opaque' | undefined;
}

/** The behaviour of a provider after its settings have been applied. Lifetimes are in seconds. */
export interface ProviderSettings {
  readonly accessTokenLifetime: number;
  readonly idTokenLifetime: number;
  readonly refreshTokenLifetime: number;
  readonly refreshPolicy: EmulatedProvider['refresh']['policy'];
  readonly graceSeconds: number;
  readonly audience: string | undefined;
  readonly isOpaque: boolean;
}

/** Applies the settings of a provider to its defaults. */
export function resolveSettings(provider: EmulatedProvider, options: ProviderOptions = {}): ProviderSettings {
  const { refresh, lifetimeSeconds, accessToken } = provider;
  const seconds = (value: Duration | undefined, byDefault: number): number =>
    value === undefined ? byDefault : parseDuration(value);
  return {
    accessTokenLifetime: seconds(options.access_token_lifetime, lifetimeSeconds),
    idTokenLifetime: seconds(options.id_token_lifetime, provider.idTokenLifetimeSeconds ?? 3600),
    refreshTokenLifetime: seconds(options.refresh_token_lifetime, refresh.lifetimeSeconds),
    refreshPolicy: refreshPolicy(refresh.policy, options),
    graceSeconds: seconds(options.refresh_token_grace, refresh.graceSeconds ?? 0),
    audience: options.audience,
    isOpaque: (options.access_token_format ?? (accessToken === undefined ? 'opaque' : 'jwt')) === 'opaque',
  };
}

function refreshPolicy(
  byDefault: ProviderSettings['refreshPolicy'],
  { refresh_token_rotation: rotation, refresh_token_reuse: reuse }: ProviderOptions,
): ProviderSettings['refreshPolicy'] {
  if (rotation === false) return 'static';
  if (reuse !== undefined)
    return ({ allowed: 'reusable', rejected: 'single_use', revokes_family: 'rotating' } as const)[reuse];
  return rotation === true && byDefault === 'static' ? 'rotating' : byDefault;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses a duration into seconds. */
export function parseDuration(value: Duration): number {
  if (typeof value === 'number') return value;
  const [, digits, unit = 's'] = /^(\d+)([smhd])?$/.exec(value) ?? [];
  if (digits === undefined) throw new ConfigError(`invalid duration "${value}": expected seconds or 90s, 5m, 1h, 30d`);
  return Number(digits) * (UNITS[unit] ?? 1);
}
