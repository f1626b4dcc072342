import { readFileSync } from 'node:fs';
import { Agent, type AgentOptions, request } from 'node:https';
import * as tls from 'node:tls';
import type { Environment, TlsFiles } from '../ports.ts';
import type { ConnectionTarget } from './connector.ts';
import type { ProxyServer } from './proxy.ts';
import { checkTlsFiles } from './tls-files.ts';
import { TunnelAgent } from './tunnel.ts';

export { request };

/** An agent for TLS connections, straight or through a proxy's tunnel. */
export function createAgent(
  { profile, tls: files }: ConnectionTarget,
  options: AgentOptions,
  env: Environment,
  proxy: ProxyServer | undefined,
): Agent {
  const own = { ...options, rejectUnauthorized: true, ...contextOf(profile, files, env) };
  if (proxy === undefined) return new Agent(own);
  return new TunnelAgent(own, proxy, contextOf(profile, withoutCertificate(files), env));
}

/** An agent for TLS connections to a proxy itself. */
export function createProxyAgent(
  { profile, tls: files }: ConnectionTarget,
  options: AgentOptions,
  env: Environment,
): Agent {
  return new Agent({ ...options, rejectUnauthorized: true, ...contextOf(profile, withoutCertificate(files), env) });
}

/** A proxy may have a certificate of the same private authority, but ours is not its business. */
function withoutCertificate({ ca }: TlsFiles): TlsFiles {
  return { ca, cert: undefined, certKey: undefined };
}

const MAX_CONTEXTS = 16;
const contexts = new Map<string, tls.SecureContext>();

/** Reading all authorities takes longer than the rest of a request, so it is done once for each set of files. */
function contextOf(
  profile: string | undefined,
  files: TlsFiles,
  env: Environment,
): { secureContext?: tls.SecureContext } {
  if (files.ca === undefined && files.cert === undefined) return {};
  const key = JSON.stringify([files.ca, files.cert, files.certKey, env['NODE_EXTRA_CA_CERTS']]);
  let secureContext = contexts.get(key);
  if (secureContext === undefined) {
    checkTlsFiles(profile ?? '', files);
    secureContext = tls.createSecureContext(tlsOptions(files, env));
    // Certificates that are renewed every hour must not pile up.
    if (contexts.size >= MAX_CONTEXTS) contexts.clear();
    contexts.set(key, secureContext);
  }
  return { secureContext };
}

/** TLS options of a profile's files; `ca` replaces what is trusted by default, so the default set goes along. */
export function tlsOptions({ ca, cert, certKey }: TlsFiles, env: Environment): tls.SecureContextOptions {
  const options: tls.SecureContextOptions = {};
  if (ca !== undefined) options.ca = [...defaultRoots(env), ca];
  if (cert !== undefined) {
    options.cert = cert;
    options.key = certKey ?? cert;
  }
  return options;
}

function defaultRoots(env: Environment): string[] {
  // From Node 22.15 on; before, NODE_EXTRA_CA_CERTS has to be read again.
  const get = (tls as { getCACertificates?: (type: 'default') => string[] }).getCACertificates;
  if (get !== undefined) return get('default');
  const extra = env['NODE_EXTRA_CA_CERTS'];
  if (!extra) return [...tls.rootCertificates];
  try {
    return [...tls.rootCertificates, readFileSync(extra, 'utf8')];
  } catch {
    // Node itself warned of it at start-up.
    return [...tls.rootCertificates];
  }
}
