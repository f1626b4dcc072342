import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, createSecureContext, type TLSSocket } from 'node:tls';
import { OAuthProfileError, TransportError } from '../errors.ts';
import type { CertificateInfo, EmulatorEndpoint, Environment, InspectCertificate, TlsFiles } from '../ports.ts';
import type { ConnectionTarget } from './connector.ts';
import { formatHost, serverNameOf } from './host-of.ts';
import { toNetworkError } from './network-errors.ts';
import { proxyFor } from './proxy.ts';
import { tlsOptions } from './tls-connector.ts';
import { TunnelAgent } from './tunnel.ts';

/** Shakes hands with a server as a request would, straight, through a proxy or to an emulator, and hangs up: nothing is sent. */
export function createInspectCertificate(env: Environment, emulator: EmulatorEndpoint | undefined): InspectCertificate {
  return async (profile, url, ca, { timeoutMs, signal }) => {
    // A client certificate is for servers that are trusted.
    const tls = { ca, cert: undefined, certKey: undefined };
    const proxy = emulator === undefined ? proxyFor(url, env) : undefined;
    const wire: ConnectionTarget = { profile, url, reuseConnection: false, tls };
    const attempt: { wire: ConnectionTarget; cancelConnect: (() => void) | undefined } = {
      wire,
      cancelConnect: undefined,
    };
    const options = connectionTo(url, tls, env, emulator);
    let socket: Duplex | undefined;
    let onEnd = (): void => {};
    try {
      return await new Promise((resolve, reject) => {
        const onAbort = (): void => reject(new OAuthProfileError('aborted', 'the check was interrupted'));
        const timer = setTimeout(() => reject(tooLate(url, timeoutMs)), timeoutMs);
        signal?.addEventListener('abort', onAbort, { once: true });
        onEnd = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        };
        if (signal?.aborted) onAbort();
        const onConnection = (error: Error | null, made: Duplex): void => {
          if (error !== null) reject(error);
          socket = made.on('error', reject);
          made.once('close', () => reject(Object.assign(new Error('it hung up'), { code: 'ECONNRESET' })));
          made.once('secureConnect', () =>
            resolve({ ...certificateOf(made as TLSSocket, wire), proxy: proxy?.url.host }),
          );
        };
        if (proxy === undefined) onConnection(null, connect(options));
        else {
          const toProxy = { secureContext: createSecureContext(tlsOptions(tls, env)) };
          new TunnelAgent({}, proxy, toProxy).createConnection({ ...(options as object), attempt }, onConnection);
        }
      });
    } catch (error) {
      throw error instanceof OAuthProfileError ? error : toNetworkError(error as Error, wire, false);
    } finally {
      onEnd();
      attempt.cancelConnect?.();
      socket?.destroy();
    }
  };
}

/** Whoever signed it, a certificate is looked at; it is judged afterwards. */
function connectionTo(
  url: URL,
  tls: TlsFiles,
  env: Environment,
  emulator: EmulatorEndpoint | undefined,
): ConnectionOptions {
  const host = formatHost(url);
  const judged = { servername: serverNameOf(host), rejectUnauthorized: false };
  if (emulator !== undefined) return { ...judged, host: '127.0.0.1', port: emulator.port, ca: emulator.ca };
  return { ...judged, host, port: Number(url.port || 443), ...tlsOptions(tls, env) };
}

function certificateOf(socket: TLSSocket, wire: ConnectionTarget): Omit<CertificateInfo, 'proxy'> {
  const { issuer, valid_to } = socket.getPeerCertificate();
  const code = String(socket.authorizationError);
  return {
    issuer: [issuer?.CN, issuer?.O].filter((part) => part !== undefined).join(', ') || 'nobody in particular',
    expiresAt: Date.parse(valid_to),
    failure: socket.authorized ? undefined : toNetworkError(Object.assign(new Error(code), { code }), wire, false),
  };
}

function tooLate({ host }: URL, ms: number): TransportError {
  return new TransportError('timeout', `no connection to ${host} came about within ${ms / 1000} s`, {
    sent: false,
    hint: 'check the address, the network and the proxy',
  });
}
