import { parseMetadata, type ServerMetadata } from '../../oauth/metadata.ts';
import type { LoginPorts, Ports } from '../../ports.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { tlsFiles } from '../../profile/profile.ts';

const TIMEOUT_MS = 5_000;

/** Reads the metadata of the authorization server; `undefined` if it publishes none (RFC 8414, OpenID Connect Discovery). */
export async function findIssuer(
  { endpoints, url, options }: LoginProfile,
  ports: Ports,
  loginPorts: Pick<LoginPorts, 'readDocument'>,
  signal: AbortSignal | undefined,
): Promise<ServerMetadata | undefined> {
  const tls = tlsFiles(options);
  for (const location of endpoints.metadataUrls) {
    try {
      const document = await loginPorts.readDocument(location, tls, { timeoutMs: TIMEOUT_MS, signal });
      const issuer = parseMetadata(document, location, { authorizationUrl: endpoints.authorizationUrl, tokenUrl: url });
      if (issuer !== undefined) return issuer;
    } catch (error) {
      ports.log(`no metadata at ${location.href}: ${(error as Error).message}`);
    }
  }
  return undefined;
}
