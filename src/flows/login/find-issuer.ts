import { parseMetadata, type ServerMetadata } from '../../oauth/metadata.ts';
import type { LoginPorts, Ports } from '../../ports.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { tlsFiles } from '../../profile/profile.ts';

const TIMEOUT_MS = 5_000;

/** What the server of a sign-in publishes of itself; many publish nothing, which is no failure. */
export async function findIssuer(
  { endpoints, url, options }: LoginProfile,
  ports: Ports,
  outside: Pick<LoginPorts, 'readDocument'>,
  signal: AbortSignal | undefined,
): Promise<ServerMetadata | undefined> {
  const tls = tlsFiles(options);
  for (const location of endpoints.metadataUrls) {
    try {
      const document = await outside.readDocument(location, tls, { timeoutMs: TIMEOUT_MS, signal });
      const found = parseMetadata(document, location, {
        authorizationUrl: endpoints.authorizationUrl,
        tokenUrl: url,
      });
      if (found !== undefined) return found;
    } catch (error) {
      ports.log(`nothing is published at ${location.href}: ${(error as Error).message}`);
    }
  }
  return undefined;
}
