import { OAuthProfileError, TransportError } from '../../errors.ts';
import { parseErrorResponse } from '../../oauth/error-response.ts';
import { isErrorBody } from '../../oauth/http-response.ts';
import { findHint } from '../../oauth/provider-error.ts';
import type { CertificateInfo, InspectCertificate, Limits, LoginPorts } from '../../ports.ts';
import type { Profile } from '../../profile/profile.ts';
import { excerpt } from '../../redaction/printable.ts';
import { checkCertificate, checkClock, checkFailure } from './check-connection.ts';
import { compareMetadata, compareScopes, isSameEndpoint } from './compare-metadata.ts';
import type { Diagnostic } from './finding.ts';
import { type MetadataPorts, type Published, readMetadata } from './read-metadata.ts';

/** What looking takes of the outside world. */
export interface OnlinePorts extends MetadataPorts {
  readonly listen: LoginPorts['listen'];
  readonly seeCertificate: InspectCertificate;
}

const AT_ONCE = 4;
const TIMEOUT_MS = 10_000;

/** Looks at the provider of each profile, at the way to it and at this machine; no secret is sent and no token asked for. */
export async function checkOnline(
  profiles: readonly Profile[],
  outside: OnlinePorts,
  signal: AbortSignal | undefined,
): Promise<Map<Profile, readonly Diagnostic[]>> {
  const found = new Map<Profile, readonly Diagnostic[]>();
  // One after the other: two profiles may share a port.
  for (const profile of profiles) found.set(profile, await tryRedirect(profile, outside));
  const queue = [...profiles];
  const work = async (): Promise<void> => {
    for (let profile = queue.shift(); profile !== undefined; profile = queue.shift())
      found.set(profile, [...(await lookAt(profile, outside, signal)), ...(found.get(profile) ?? [])]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

async function lookAt(profile: Profile, outside: OnlinePorts, signal: AbortSignal | undefined): Promise<Diagnostic[]> {
  const findings: Diagnostic[] = [];
  const { host } = profile.url;
  const bounds = { timeoutMs: TIMEOUT_MS, signal };
  try {
    const seen = await certificateOf(profile, outside, bounds);
    if (seen?.proxy !== undefined) {
      const message = `reached through the proxy ${excerpt(seen.proxy, 100)}`;
      findings.push({ level: 'ok', about: 'connection', where: host, message });
    }
    if (seen !== undefined) findings.push(checkCertificate(profile, seen, outside.clock.now()));
    if (seen?.failure !== undefined) return findings;
    const published = await readMetadata(profile, outside, bounds);
    const [{ location, reply, receivedAt }] = published;
    findings.push(...checkClock(profile, location.host, reply, receivedAt), ...judgePublished(profile, published));
  } catch (error) {
    findings.push(checkFailure(profile, error));
  }
  return findings;
}

async function certificateOf(
  { name, url, options }: Profile,
  outside: OnlinePorts,
  bounds: Limits,
): Promise<CertificateInfo | undefined> {
  if (url.protocol !== 'https:') return undefined;
  try {
    return await outside.seeCertificate(name, url, options.ca?.text, bounds);
  } catch (error) {
    // A server that wants a client certificate may not speak without one; the request that follows has it.
    if (options.cert !== undefined && error instanceof TransportError && error.code === 'tls_failed') return undefined;
    throw error;
  }
}

function judgePublished(profile: Profile, published: readonly [Published, ...Published[]]): Diagnostic[] {
  const { provider, url } = profile;
  const documents = published.filter(({ reply, members }) => reply.status === 200 && members?.['issuer'] !== undefined);
  const ours = documents.find(({ members }) => isSameEndpoint(members?.['token_endpoint'], url, provider));
  const document = ours ?? documents[0];
  if (document?.members === undefined) return [nothingPublished(profile, published[0]), ...compareScopes(profile)];
  const findings = compareMetadata(profile, document.members);
  if (findings.some(({ level, about }) => about === 'discovery' && level !== 'note')) return findings;
  const where = document.location.href;
  return [{ level: 'ok', about: 'discovery', where, message: 'agrees with the profile' }, ...findings];
}

/** That a server publishes nothing is no fault, unless it says that what was asked for does not exist. */
function nothingPublished(profile: Profile, { location, reply, members }: Published): Diagnostic {
  const { status } = reply;
  const { name, provider } = profile;
  const finding = { about: 'discovery', where: location.href } as const;
  const known = provider.login?.metadataUrl !== undefined;
  if (!known || (status !== 400 && status !== 404) || members === undefined || !isErrorBody(members)) {
    const message = `nothing is published there (HTTP ${status}), so that the profile cannot be compared`;
    return { level: 'note', ...finding, message };
  }
  const refusal = parseErrorResponse({ status, headers: {}, body: '' }, { kind: 'object', members }, excerpt);
  const words = [refusal.error, refusal.description].filter((part) => part !== undefined).join(': ');
  const tenant = provider.tenant === undefined ? '' : `${name}.tenant_id and `;
  const hint = findHint(profile, refusal, 'provider_rejected') ?? `check ${tenant}${name}.url`;
  return { level: 'fault', ...finding, message: `HTTP ${status}, ${excerpt(words, 300)}`, hint };
}

/** A redirect that is registered with its port serves only while nobody else has that port. */
async function tryRedirect({ name, options }: Profile, { listen }: OnlinePorts): Promise<Diagnostic[]> {
  if (options.redirectUri === undefined) return [];
  const { hostname: host, port, pathname: path } = new URL(options.redirectUri);
  const finding = { about: 'redirect', where: `${name}.options.redirect_uri` } as const;
  try {
    const listener = await listen({ host, port: port === '' ? 80 : Number(port), path }, () => false);
    await listener.close();
    return [{ level: 'ok', ...finding, message: `port ${listener.port} is free` }];
  } catch (error) {
    if (!(error instanceof OAuthProfileError)) throw error;
    const hint = 'end the program that has the port, or register a redirect with another one and set it here';
    return [{ level: 'fault', ...finding, message: error.message, hint }];
  }
}
