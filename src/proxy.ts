import { sharedClient } from './client.ts';
import { type CallOptions, validateCall } from './oauth-profile.ts';
import { type ProxySettings, type RunningProxy, startProxy } from './proxy/start-proxy.ts';

export type { ProxiedRequest } from './proxy/proxy-server.ts';
export type { RunningProxy } from './proxy/start-proxy.ts';

/** Options of {@link createProxy}. */
export interface ProxyOptions extends ProxySettings, Omit<CallOptions, 'signal'> {}

/**
 * Starts a proxy on this machine that adds the access tokens of profiles to requests, so that its clients need none. A token is sent only to the
 * profile's `options.origins`.
 */
export async function createProxy(
  profiles: string | readonly string[],
  options: ProxyOptions = {},
): Promise<RunningProxy> {
  const names = typeof profiles === 'string' ? [profiles] : profiles;
  for (const name of names.length === 0 ? [''] : names) validateCall('createProxy', name, options);
  if (names.length > 1 && options.mode !== 'forward')
    throw new TypeError("createProxy: several profiles need mode: 'forward'");
  const client = sharedClient(options);
  return startProxy(client, await client.loadVariables({ data: options.data }), names, options);
}
