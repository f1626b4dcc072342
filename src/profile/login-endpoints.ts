import type { Provider } from '../providers/provider.ts';
import type { ProfileOptions } from './profile.ts';

/** Where a device code is asked for, and where it is exchanged. */
export interface DeviceEndpoints {
  readonly device: URL;
  readonly token: URL;
}

/** Where a profile's people sign in. */
export interface LoginEndpoints {
  readonly prefers: 'device' | 'browser';
  readonly authorize: URL | undefined;
  /** Tried one after the other, the next where the provider says that the application is not for the first. */
  readonly device: readonly DeviceEndpoints[];
  readonly revoke: URL | undefined;
  /** Where the server may publish its issuer. */
  readonly metadata: readonly URL[];
}

/** The addresses of a sign-in: the options', else the provider's, which follow the token endpoint. */
export function loginEndpoints(
  provider: Provider,
  token: URL,
  options: Pick<ProfileOptions, 'authorizationUrl' | 'deviceAuthorizationUrl'>,
): LoginEndpoints {
  const { login: signIn } = provider;
  const at = (address: string | undefined): URL | undefined =>
    address === undefined ? undefined : new URL(address, token);
  const authorize = options.authorizationUrl ?? at(signIn?.authorize);
  return {
    prefers: signIn?.prefers ?? (authorize === undefined ? 'device' : 'browser'),
    authorize,
    device: devicePlaces(provider, token, options.deviceAuthorizationUrl),
    revoke: revocationUrl(provider, token),
    metadata: metadataUrls(at(signIn?.metadata), authorize ?? token),
  };
}

/** Microsoft's own steps ask the tenant `organizations`; a `url` of the profile's own is taken at its word. */
function devicePlaces({ login: signIn, tokenUrl }: Provider, token: URL, own: URL | undefined): DeviceEndpoints[] {
  if (own !== undefined) return [{ device: own, token }];
  const path = signIn?.device;
  if (path === undefined) return [];
  const place = (url: URL): DeviceEndpoints => ({ device: new URL(path, url), token: url });
  const [start, end] = tokenUrl?.split('{tenant_id}') ?? [];
  const shared = signIn?.deviceTenant?.name;
  if (shared === undefined || start === undefined || end === undefined) return [place(token)];
  if (!token.href.startsWith(start) || !token.href.endsWith(end)) return [place(token)];
  const first = new URL(start + shared + end);
  return first.href === token.href ? [place(token)] : [place(first), place(token)];
}

/** A refresh token goes to the server that issued it, and to the one that its provider names for this. */
function revocationUrl({ login: signIn, tokenUrl }: Provider, token: URL): URL | undefined {
  if (signIn?.revoke === undefined) return undefined;
  const url = new URL(signIn.revoke, token);
  const origins = [
    url.origin,
    tokenUrl === undefined ? undefined : new URL(tokenUrl.replace('{tenant_id}', 't')).origin,
  ];
  return origins.includes(token.origin) ? url : undefined;
}

function metadataUrls(known: URL | undefined, authorize: URL): URL[] {
  if (known !== undefined && known.origin === authorize.origin) return [known];
  const names = ['oauth-authorization-server', 'openid-configuration'];
  return names.map((name) => new URL(`/.well-known/${name}`, authorize));
}
