import { TransportError } from '../errors.ts';

const TLS_CODES =
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERROR_IN_|UNSPECIFIED)/;
/** With TLS 1.3, a server rejects a client certificate only after the handshake. */
const TLS_ALERTS = /^ERR_SSL_\w+_ALERT_/;

/** Codes of failed connections. `{host}` is host and port of the URL. */
const connectErrors: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ENOTFOUND: ['host not found: {host}', 'check the spelling of the host and the network'],
  EAI_AGAIN: ['cannot resolve {host}', 'the DNS server did not respond: check the network'],
  ECONNREFUSED: ['connection refused by {host}', 'check host and port, and that the server is running'],
  ECONNRESET: ['connection reset by {host}', 'check host and port, and whether a proxy is required'],
  EHOSTUNREACH: ['no route to {host}', 'check the network, and whether a proxy or VPN is required'],
  ENETUNREACH: ['no route to {host}', 'check the network, and whether a proxy or VPN is required'],
  ETIMEDOUT: ['connection to {host} timed out', 'check the network, and whether a proxy is required'],
};

/** Describes the failure of a request. `sent` is whether the server may have received it. */
export function toNetworkError(
  error: NodeJS.ErrnoException,
  { url: { host }, profile }: { readonly url: URL; readonly profile: string | undefined },
  sent: boolean,
): TransportError {
  const code = codeOf(error);
  const details = { sent, cause: safeCause(error) };
  if (sent ? TLS_ALERTS.test(code) : TLS_CODES.test(code)) return tlsError(host, profile, error, sent);
  if (code.startsWith('HPE_')) {
    return new TransportError('response_unreadable', `the response from ${host} is not valid HTTP (${code})`, {
      ...details,
      hint: 'check the URL: host, port, and whether it starts with https:',
    });
  }
  if (sent) {
    return new TransportError(
      'connection_failed',
      `connection to ${host} closed before the response was complete (${code})`,
      {
        ...details,
        hint: 'try again; a proxy, a gateway or the server closed the connection',
      },
    );
  }
  const [message, hint] = connectErrors[code] ?? [
    `cannot connect to {host} (${code})`,
    'check the URL and the network',
  ];
  return new TransportError('connection_failed', message.replace('{host}', host), { ...details, hint });
}

/** Describes the failure of a connection to a proxy. `proxy` is its host and port. */
export function toProxyError(error: NodeJS.ErrnoException, proxy: string, profile: string | undefined): TransportError {
  const code = codeOf(error);
  if (TLS_CODES.test(code)) return tlsError(`the proxy ${proxy}`, profile, error, false);
  return new TransportError('connection_failed', `cannot connect to the proxy ${proxy} (${code})`, {
    sent: false,
    cause: safeCause(error),
    hint: 'check HTTPS_PROXY, or add the host to NO_PROXY if it can be reached without a proxy',
  });
}

/** Only code and system call: Node's errors contain received bytes, certificates and names, and a server may echo a secret in them. */
function safeCause(error: NodeJS.ErrnoException): Error {
  const code = codeOf(error);
  const { syscall } = error;
  return Object.assign(new Error(code), { code }, syscall === undefined ? undefined : { syscall });
}

/** If several IP addresses were tried, the code of the first. */
function codeOf(error: NodeJS.ErrnoException): string {
  if (error.code !== undefined && error.code !== '') return error.code;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return (first as NodeJS.ErrnoException | undefined)?.code ?? error.message;
}

function tlsError(
  peer: string,
  profile: string | undefined,
  cause: NodeJS.ErrnoException,
  sent: boolean,
): TransportError {
  const code = codeOf(cause);
  return new TransportError('tls_failed', `TLS verification failed for ${peer} (${code})`, {
    sent,
    cause: safeCause(cause),
    hint: tlsHint(code, profile),
  });
}

function tlsHint(code: string, profile: string | undefined): string {
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) {
    const setting = profile === undefined ? 'NODE_EXTRA_CA_CERTS' : `${profile}.options.ca_file`;
    return `the issuer of the certificate is not trusted: if you trust it, set ${setting} to a file with its certificate`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate of the server has expired: its operator has to renew it';
  if (code === 'CERT_NOT_YET_VALID')
    return 'the certificate of the server is not valid yet: check the clock of this machine';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'the certificate is for another host: check the URL, and whether the connection is intercepted';
  }
  const check = 'check that the URL is an https server';
  return profile === undefined
    ? check
    : `${check}, and ${profile}.options.cert_file if the server requires a client certificate`;
}
