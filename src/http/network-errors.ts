import { TransportError } from '../errors.ts';
import type { ConnectionTarget } from './connector.ts';

const TLS_CODES =
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERROR_IN_|UNSPECIFIED)/;
/** TLS 1.3 tells a client that its certificate is refused only after the handshake. */
const TLS_ALERTS = /^ERR_SSL_\w+_ALERT_/;

/** Says in a sentence what kept a request or its reply from arriving. */
export function toNetworkError(
  error: NodeJS.ErrnoException,
  wire: Pick<ConnectionTarget, 'url' | 'profile'>,
  sent: boolean,
): TransportError {
  const { url, profile } = wire;
  const code = codeOf(error);
  const details = { sent, cause: bareCause(error) };
  if (sent ? TLS_ALERTS.test(code) : TLS_CODES.test(code)) return tlsFailed(url.host, profile, error, sent);
  if (code.startsWith('HPE_')) {
    return new TransportError('response_unreadable', `${url.host} answered with something that is not HTTP (${code})`, {
      ...details,
      hint: 'check the address: host, port, and whether it begins with https:',
    });
  }
  if (sent) {
    return new TransportError(
      'connection_failed',
      `the connection to ${url.host} broke before the reply was complete (${code})`,
      {
        ...details,
        hint: 'try again; a proxy, a gateway or the provider ended it',
      },
    );
  }
  const [message, hint] = reasons[code] ?? [
    `cannot connect to ${url.host} (${code})`,
    'check the address and the network',
  ];
  return new TransportError('connection_failed', message.replace('{host}', url.host), { ...details, hint: hint });
}

const reasons: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ENOTFOUND: ['there is no host {host}', 'check its spelling and the network'],
  EAI_AGAIN: ['the name {host} could not be looked up', 'check the network and its name server'],
  ECONNREFUSED: ['{host} takes no connections', 'check host and port, and whether the server runs'],
  ECONNRESET: ['{host} ended the connection before it was ready', 'check host and port, and whether a proxy is needed'],
  EHOSTUNREACH: ['there is no way to {host}', 'check the network, and whether a proxy or VPN is needed'],
  ENETUNREACH: ['there is no way to {host}', 'check the network, and whether a proxy or VPN is needed'],
  ETIMEDOUT: ['{host} did not take the connection in time', 'check the network, and whether a proxy is needed'],
};

/** The failure of a connection to a proxy, which stands between us and the provider. */
export function toProxyError(error: NodeJS.ErrnoException, proxy: string, profile: string | undefined): TransportError {
  const code = codeOf(error);
  if (TLS_CODES.test(code)) return tlsFailed(`the proxy ${proxy}`, profile, error, false);
  return new TransportError('connection_failed', `cannot connect to the proxy ${proxy} (${code})`, {
    sent: false,
    cause: bareCause(error),
    hint: 'check HTTPS_PROXY, or name the host in NO_PROXY if it needs no proxy',
  });
}

/**
 * The code alone: Node's errors hold bytes that could not be parsed, certificates and names in them, and whoever answers may have written a
 * secret there that it was sent.
 */
function bareCause(error: NodeJS.ErrnoException): Error {
  const code = codeOf(error);
  const { syscall } = error;
  return Object.assign(new Error(code), { code }, syscall === undefined ? undefined : { syscall });
}

function tlsFailed(
  peer: string,
  profile: string | undefined,
  cause: NodeJS.ErrnoException,
  sent: boolean,
): TransportError {
  const code = codeOf(cause);
  return new TransportError('tls_failed', `no trusted connection to ${peer} (${code})`, {
    sent,
    cause: bareCause(cause),
    hint: tlsHint(code, profile),
  });
}

/** Several addresses may have been tried; the first failure speaks for all. */
function codeOf(error: NodeJS.ErrnoException): string {
  if (error.code !== undefined && error.code !== '') return error.code;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return (first as NodeJS.ErrnoException | undefined)?.code ?? error.message;
}

function tlsHint(code: string, profile: string | undefined): string {
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) {
    const setting = profile === undefined ? 'NODE_EXTRA_CA_CERTS' : `${profile}.options.ca_file`;
    return `the certificate comes from an authority that this machine does not know: set ${setting} to its certificate`;
  }
  if (code === 'CERT_HAS_EXPIRED') return "the server's certificate has expired: ask those who run it to renew it";
  if (code === 'CERT_NOT_YET_VALID') return "the server's certificate is not valid yet: check this machine's clock";
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'the certificate is for another host: check the address, and whether something intercepts the connection';
  }
  if (profile === undefined) return 'check that the address speaks TLS';
  return `check that the address speaks TLS, and ${profile}.options.cert_file if the server wants a client certificate`;
}
