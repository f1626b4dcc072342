import type { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { OAuthProfileError } from '../errors.ts';
import type { CertificateInfo, InspectCertificate } from '../ports.ts';
import type { ConnectionTarget, Connector } from './connector.ts';
import { connectTimeout, withLimits } from './limits.ts';
import { toNetworkError } from './network-errors.ts';
import type { ConnectionAttempt } from './tunnel.ts';

/** Creates the {@link InspectCertificate} port. It connects as a request would, and closes the connection after the TLS handshake. */
export function createInspectCertificate(connector: Connector): InspectCertificate {
  return async (profile, url, ca, limits) => {
    // The client certificate is only for servers that are trusted.
    const target = { profile, url, reuseConnection: false, tls: { ca, cert: undefined, certKey: undefined } };
    const { options, proxyHost } = connector.route(target);
    const agent = options.agent as Agent;
    const attempt: ConnectionAttempt = { profile, cancel: undefined };
    let socket: Duplex | null | undefined;
    const connect = (): Promise<CertificateInfo> =>
      new Promise((resolve, reject) => {
        // An untrusted certificate is reported, not rejected.
        const settings = { ...options, ...agent.options, rejectUnauthorized: false, attempt };
        socket = agent.createConnection(settings, (error: Error | null, connected: Duplex) => {
          if (error) reject(error);
          else onConnection(connected);
        });
        if (socket) onConnection(socket);

        function onConnection(connected: Duplex): void {
          socket = connected;
          connected.on('error', reject);
          connected.once('close', () => reject(Object.assign(new Error(), { code: 'ECONNRESET' })));
          connected.once('secureConnect', () =>
            resolve({ ...certificateOf(connected as TLSSocket, target), proxy: proxyHost }),
          );
        }
      });
    try {
      return await withLimits(limits, () => connectTimeout(url, `${limits.timeoutMs / 1000} s`), connect);
    } catch (error) {
      throw error instanceof OAuthProfileError ? error : toNetworkError(error as Error, target, false);
    } finally {
      attempt.cancel?.();
      socket?.destroy();
    }
  };
}

function certificateOf(socket: TLSSocket, target: ConnectionTarget): Omit<CertificateInfo, 'proxy'> {
  const { issuer, valid_to } = socket.getPeerCertificate();
  const code = String(socket.authorizationError);
  return {
    issuer: [issuer?.CN, issuer?.O].filter((name) => name !== undefined).join(', ') || 'unknown issuer',
    expiresAt: Date.parse(valid_to),
    failure: socket.authorized ? undefined : toNetworkError(Object.assign(new Error(code), { code }), target, false),
  };
}
