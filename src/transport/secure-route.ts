import { readFileSync } from 'node:fs';
import { Agent, type AgentOptions, request } from 'node:https';
import * as tls from 'node:tls';
import type { TlsFiles } from '../ports.ts';
import type { Environment, ProxyServer } from './proxy.ts';
import { TunnelAgent } from './tunnel.ts';

export { request };

/** An agent for TLS connections, straight or through a proxy's tunnel. */
export function createAgent(
  files: TlsFiles,
  keepAlive: boolean,
  env: Environment,
  proxy: ProxyServer | undefined,
): Agent {
  const options: AgentOptions = { keepAlive, ...tlsOptions(files, env) };
  return proxy === undefined ? new Agent(options) : new TunnelAgent(options, proxy);
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
