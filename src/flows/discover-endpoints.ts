import { OAuthProfileError, ProviderError, TransportError } from '../errors.ts';
import { encodeTuple } from '../oauth/cache-key.ts';
import { issuerLocations, metadataLifetimeMs, parseIssuerEndpoints } from '../oauth/discovery.ts';
import type { Ports, TokenStore } from '../ports.ts';
import type { IssuerEndpoints } from '../profile/issuer.ts';
import type { ParsedProfile } from '../profile/parse-profile.ts';
import { excerpt } from '../redaction/sanitize.ts';
import { type MetadataPorts, requestDocument } from './read-metadata.ts';
import { type MetadataRecord, parseRecordOf, serializeRecord } from './records.ts';
import { timeUntil } from './token-cache.ts';
import { withLock } from './token-family.ts';

/**
 * Whether cached metadata is used: `cached` as long as it is valid, `reload` never, `offline` without reading it from the server, `unstored` without
 * reading or writing the store.
 */
export type MetadataUse = 'cached' | 'reload' | 'offline' | 'unstored';

/** A profile whose endpoints are discovered. */
export type IssuerProfile = Pick<ParsedProfile, 'name' | 'options'> & { readonly issuer: string };

/** Ports of {@link discoverEndpoints}. */
export interface DiscoveryPorts extends MetadataPorts {
  readonly ports: Ports;
  openStore(): Promise<TokenStore>;
}

const TIMEOUT_MS = 10_000;
const MAX_AGE_MS = 24 * 3_600_000;

/**
 * Finds the endpoints of an issuer: in the store, else in the metadata that it publishes. Returns `undefined` only for `offline`. If the server cannot be
 * reached, an expired document is used. Nothing of the profile is sent.
 */
export async function discoverEndpoints(
  profile: IssuerProfile,
  client: DiscoveryPorts,
  use: MetadataUse,
  signal: AbortSignal | undefined,
): Promise<IssuerEndpoints | undefined> {
  const { issuer, name } = profile;
  const { log } = client.ports;
  const store = use === 'unstored' ? undefined : await client.openStore().catch(() => undefined);
  // With another certificate authority it may be another server.
  const key = store?.fingerprint(encodeTuple(['metadata', issuer, profile.options.ca?.text ?? '']));
  const record = store && key && parseRecordOf('metadata', await store.read(key).catch(() => undefined));
  if (record && store && use !== 'reload' && timeUntil(record.expiresAt, MAX_AGE_MS, store) > 0)
    return record.endpoints;
  if (use === 'offline') return record ? record.endpoints : undefined;
  try {
    const { endpoints, lifetimeMs } = await requestEndpoints(profile, client, signal);
    if (store && key) {
      const next: MetadataRecord = {
        kind: 'metadata',
        profile: name,
        tokens: {},
        endpoints,
        expiresAt: store.now() + lifetimeMs,
      };
      await withLock(store, key, (lock) => lock.write(serializeRecord(next))).catch((error: Error) => {
        log(`the metadata of ${issuer} is not cached: ${error.message}`);
      });
    }
    return endpoints;
  } catch (error) {
    const isUnavailable =
      error instanceof OAuthProfileError &&
      ['connection_failed', 'timeout', 'provider_unavailable'].includes(error.code);
    if (!record || use === 'reload' || !isUnavailable) throw error;
    log(`${error.message}; using the metadata that was read before`);
    return record.endpoints;
  }
}

async function requestEndpoints(
  profile: IssuerProfile,
  client: DiscoveryPorts,
  signal: AbortSignal | undefined,
): Promise<{ readonly endpoints: IssuerEndpoints; readonly lifetimeMs: number }> {
  const { issuer, name, options } = profile;
  const hint = `check the issuer of ${name}; for a server without metadata, set type: custom and ${name}.url`;
  const { clock } = client.ports;
  const deadline = clock.now() + Math.min(TIMEOUT_MS, options.timeoutMs);
  let failure: OAuthProfileError | undefined;
  for (const location of issuerLocations(issuer)) {
    const { response, members } = await requestDocument(location, options, client, {
      timeoutMs: Math.max(1, deadline - clock.now()),
      signal,
    }).catch((error: unknown) => {
      if (!(error instanceof TransportError)) throw error;
      throw new TransportError(error.code, `cannot read the metadata of ${issuer}: ${error.message}`, {
        sent: false,
        hint: error.hint,
        cause: error,
      });
    });
    const { status } = response;
    if (status === 200 && members !== undefined) {
      const endpoints = parseIssuerEndpoints(members, issuer, options.allowHttp);
      if (typeof endpoints !== 'string')
        return { endpoints, lifetimeMs: metadataLifetimeMs(response.headers['cache-control']) };
      throw new ProviderError('response_unreadable', `the metadata at ${location.href} ${excerpt(endpoints, 300)}`, {
        provider: { status },
        hint,
      });
    }
    const code = status === 429 ? 'rate_limited' : status >= 500 ? 'provider_unavailable' : 'response_unreadable';
    const message = `there is no metadata at ${location.href} (HTTP ${status})`;
    failure ??= new ProviderError(code, message, { provider: { status }, hint });
  }
  throw failure ?? new TypeError('an issuer has two locations');
}
