import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { childEnvironment } from '../../../interactive/browser.ts';
import type { Environment } from '../../../ports.ts';
import { isLoopback } from '../../../profile/url.ts';
import { startProxy } from '../../../proxy/start-proxy.ts';
import { assertExclusive, type Context } from '../../context.ts';
import { runChild, runtimeDirectory } from '../../run-child.ts';
import type { OpenClient } from '../../with-client.ts';
import { warnIfEmulated } from '../token.ts';
import { formatRequest } from './proxy.ts';

/** Variables that name a file with the certificates to trust: Node, OpenSSL and Go, Python's requests, curl, git, the AWS tools. */
const CA_VARIABLES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
];
/** The certificates of the system: Debian and Alpine, Fedora, openSUSE, macOS. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Runs a command whose requests get the tokens of the profiles from a proxy. The command itself gets no token. */
export async function runWithProxy(
  context: Context,
  open: OpenClient,
  profiles: readonly string[],
  [command = '', ...args]: readonly string[],
): Promise<number> {
  const { args: flags, terminal, environment } = context;
  for (const other of ['token-file', 'force-refresh', 'no-store', 'min-ttl']) assertExclusive(context, 'proxy', other);
  const proxy = await startProxy(open.client, open.variables, profiles, {
    mode: 'forward',
    only: flags.switches.has('only'),
    callerSecret: !flags.switches.has('no-caller-secret'),
    allowedOrigins: flags.values.get('allow-origin'),
    onRequest(request) {
      if (!flags.switches.has('verbose')) return;
      terminal.stderr(`${formatRequest(request, terminal.style.err)}\n`);
      terminal.flush();
    },
  });
  const directory = mkdtempSync(join(runtimeDirectory(environment.env), 'oauth-profile-'));
  try {
    warnIfEmulated(context, open);
    // The client secret, and whatever else the profiles read from variables, stays here.
    const variables = Object.entries(childEnvironment(environment.env));
    return await runChild(command, args, {
      ...Object.fromEntries(variables.filter(([, value = '']) => !terminal.containsSecret(value))),
      ...proxyVariables(proxy.url, proxy.origins),
      ...writeBundles(directory, proxy.ca ?? '', environment.env),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await proxy.close();
  }
}

/** Requests to this machine do not use the proxy, unless they get a token. The proxy itself uses the HTTPS_PROXY and NO_PROXY of this process. */
function proxyVariables(url: string, origins: readonly string[]): NodeJS.ProcessEnv {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const isLocal = origins.some((origin) => isLoopback(new URL(origin.replace('*.', '')).hostname));
  const exempt = isLocal ? undefined : 'localhost,127.0.0.1,::1';
  return {
    ...Object.fromEntries(names.map((name) => [name, url])),
    NO_PROXY: exempt,
    no_proxy: exempt,
    // Node 24 and later use the variables only with this one.
    NODE_USE_ENV_PROXY: '1',
  };
}

/** Writes the certificate of the proxy into a copy of the file that each variable names, or of the certificates of the system. */
function writeBundles(directory: string, ca: string, env: Environment): NodeJS.ProcessEnv {
  const files = new Map<string, string>();
  const variables = CA_VARIABLES.map((name) => {
    const given = env[name] ?? '';
    const source = existsSync(given) ? given : (SYSTEM_BUNDLES.find((path) => existsSync(path)) ?? '');
    let file = files.get(source);
    if (file === undefined) {
      file = join(directory, `ca-${files.size + 1}.pem`);
      const roots = source === '' ? rootCertificates.join('\n') : readFileSync(source, 'utf8');
      writeFileSync(file, `${roots.trimEnd()}\n${ca}`, { mode: 0o600 });
      files.set(source, file);
    }
    return [name, file];
  });
  return Object.fromEntries(variables);
}
