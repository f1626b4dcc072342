import { OAuthProfileError, TransportError } from '../../errors.ts';
import { parseErrorResponse } from '../../oauth/error-response.ts';
import { isErrorBody } from '../../oauth/http-response.ts';
import { describesServer } from '../../oauth/metadata.ts';
import { findHint } from '../../oauth/provider-error.ts';
import type { InspectCertificate, Limits, LoginPorts } from '../../ports.ts';
import type { Profile } from '../../profile/profile.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { registeredTarget } from '../login/authorization-code.ts';
import { type MetadataPorts, type PublishedDocument, readMetadata } from '../read-metadata.ts';
import { checkCertificate, checkClock, checkFailure } from './check-connection.ts';
import { compareMetadata, compareScopes } from './compare-metadata.ts';
import type { Diagnostic } from './diagnostic.ts';

/** Ports of {@link checkOnline}. A client provides them. */
export interface OnlinePorts extends MetadataPorts {
  readonly inspectCertificate: InspectCertificate;
}

const PARALLEL = 4;
const TIMEOUT_MS = 10_000;

/** Checks the provider of each profile, the connection to it and the redirect port. Sends no secret and requests no token. */
export async function checkOnline(
  profiles: readonly Profile[],
  ports: OnlinePorts,
  { listen }: Pick<LoginPorts, 'listen'>,
  signal: AbortSignal | undefined,
): Promise<Map<Profile, readonly Diagnostic[]>> {
  const results = new Map<Profile, readonly Diagnostic[]>();
  // One after the other: two profiles may use the same port.
  for (const profile of profiles) results.set(profile, await checkRedirect(profile, listen));
  const queue = [...profiles];
  const work = async (): Promise<void> => {
    for (let profile = queue.shift(); profile !== undefined; profile = queue.shift())
      results.set(profile, [...(await checkProvider(profile, ports, signal)), ...(results.get(profile) ?? [])]);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return results;
}

async function checkProvider(profile: Profile, ports: OnlinePorts, signal: AbortSignal | undefined) {
  const results: Diagnostic[] = [];
  const limits = { timeoutMs: TIMEOUT_MS, signal };
  try {
    const certificate = await readCertificate(profile, ports, limits);
    if (certificate?.proxy !== undefined) {
      const message = `reached through the proxy ${excerpt(certificate.proxy, 100)}`;
      results.push({ level: 'ok', about: 'connection', where: profile.url.host, message });
    }
    if (certificate !== undefined) results.push(checkCertificate(profile, certificate, ports.ports.clock.now()));
    if (certificate?.failure !== undefined) return results;
    const documents = await readMetadata(profile, ports, limits);
    const [{ location, response, receivedAt }] = documents;
    results.push(...checkClock(profile, location.host, response, receivedAt), ...checkMetadata(profile, documents));
  } catch (error) {
    results.push(checkFailure(profile, error));
  }
  return results;
}

async function readCertificate({ name, url, options }: Profile, { inspectCertificate }: OnlinePorts, limits: Limits) {
  if (url.protocol !== 'https:') return undefined;
  try {
    return await inspectCertificate(name, url, options.ca?.text, limits);
  } catch (error) {
    // A server that requires a client certificate may reject this connection; the next request sends one.
    if (options.cert !== undefined && error instanceof TransportError && error.code === 'tls_failed') return undefined;
    throw error;
  }
}

function checkMetadata(
  profile: Profile,
  documents: readonly [PublishedDocument, ...PublishedDocument[]],
): Diagnostic[] {
  const metadata = documents.filter(
    ({ response, members }) => response.status === 200 && members?.['issuer'] !== undefined,
  );
  const own = metadata.find(({ members = {} }) => describesServer(members, profile));
  // The root of a built-in provider's host may describe another server.
  const document = own ?? metadata.find((one) => profile.provider.tokenUrl === undefined || one === documents[0]);
  if (document?.members === undefined) return [noMetadata(profile, documents[0]), ...compareScopes(profile)];
  const results = compareMetadata(profile, document.members);
  if (results.some(({ level, about }) => about === 'discovery' && level !== 'note')) return results;
  const where = document.location.href;
  return [{ level: 'ok', about: 'discovery', where, message: 'agrees with the profile' }, ...results];
}

/** A server without metadata is fine, unless it responds that the tenant or server does not exist. */
function noMetadata(profile: Profile, { location, response, members }: PublishedDocument): Diagnostic {
  const { status } = response;
  const { name, provider } = profile;
  const about = { about: 'discovery', where: location.href } as const;
  const isDocumented = provider.login?.metadataUrl !== undefined;
  if (!isDocumented || (status !== 400 && status !== 404) || members === undefined || !isErrorBody(members)) {
    const message = `no metadata (HTTP ${status}): the profile cannot be compared with it`;
    return { level: 'note', ...about, message };
  }
  const error = parseErrorResponse({ status, headers: {}, body: '' }, { kind: 'object', members }, excerpt);
  const details = [error.error, error.description].filter((part) => part !== undefined).join(': ');
  const fields = [...Object.keys(provider.variables ?? {}), 'url'].map((field) => `${name}.${field}`);
  const hint = findHint({ ...profile, warnings: [] }, error, 'provider_rejected') ?? `check ${fields.join(' and ')}`;
  return { level: 'error', ...about, message: `HTTP ${status}, ${excerpt(details, 300)}`, hint };
}

/** A registered redirect URI needs its port to be free. */
async function checkRedirect({ name, options }: Profile, listen: LoginPorts['listen']): Promise<Diagnostic[]> {
  if (options.redirectUri === undefined) return [];
  const about = { about: 'redirect', where: `${name}.options.redirect_uri` } as const;
  try {
    const listener = await listen(registeredTarget(options.redirectUri), () => false);
    await listener.close();
    return [{ level: 'ok', ...about, message: `port ${listener.port} is free` }];
  } catch (error) {
    if (!(error instanceof OAuthProfileError)) throw error;
    const hint = 'stop the program that uses the port, or register a redirect URI with another port and set it here';
    return [{ level: 'error', ...about, message: error.message, hint }];
  }
}
