import { OAuthProfileError, TransportError } from '../../errors.ts';
import type { ApiResponse, CertificateInfo } from '../../ports.ts';
import type { Profile } from '../../profile/profile.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import type { Diagnostic } from './diagnostic.ts';

const DAY_MS = 86_400_000;
const EXPIRY_DAYS = 14;
const MAX_SKEW_SECONDS = 60;
/** Most servers reject an assertion whose times differ by more than this. */
const MAX_ASSERTION_SKEW_SECONDS = 300;

/** Checks whether a certificate is trusted and when it expires. */
export function checkCertificate({ provider, url }: Profile, certificate: CertificateInfo, now: number): Diagnostic {
  const { failure, expiresAt } = certificate;
  const about = { about: 'certificate', where: url.host } as const;
  const issuer = excerpt(certificate.issuer, 100);
  if (failure !== undefined) {
    const { code } = (failure.cause ?? {}) as { readonly code?: unknown };
    const domain = (host: string): string => host.split('.').slice(-2).join('.');
    const isPublic = domain(provider.tokenUrl?.split('/')[2] ?? '') === domain(url.host);
    const interception =
      isPublic && /SELF_SIGNED|UNABLE_TO/.test(String(code))
        ? `; ${provider.type} uses a public certificate, so a proxy or a virus scanner intercepts the connection: ask its administrator for the CA certificate`
        : '';
    const message = `${failure.message}; issued by ${issuer}`;
    return { level: 'error', ...about, message, hint: `${failure.hint ?? ''}${interception}` };
  }
  const day = new Date(expiresAt).toISOString().slice(0, 10);
  if (expiresAt - now > EXPIRY_DAYS * DAY_MS)
    return { level: 'ok', ...about, message: `certificate valid until ${day}, issued by ${issuer}` };
  const days = Math.max(0, Math.floor((expiresAt - now) / DAY_MS));
  const message = `certificate expires in ${days} ${days === 1 ? 'day' : 'days'}, on ${day}`;
  const hint = 'ask the administrator of the server whether it will be renewed';
  return { level: 'warning', ...about, message, hint };
}

/** Compares the clock of this machine with the Date header, which has whole seconds. Age is added by caches. */
export function checkClock(
  { clientAuth, createsGrant }: Profile,
  host: string,
  { headers }: ApiResponse,
  now: number,
): Diagnostic[] {
  const age = /^\d{1,9}$/.test(String(headers['age'])) ? Number(headers['age']) : 0;
  const seconds = Math.round((now - Date.parse(String(headers['date']))) / 1000) - age;
  if (Number.isNaN(seconds)) return [];
  const about = { about: 'clock', where: 'clock of this machine' } as const;
  const skew = Math.abs(seconds);
  if (skew <= MAX_SKEW_SECONDS) return [{ level: 'ok', ...about, message: `agrees with ${host}` }];
  const message = `${skew} s ${seconds < 0 ? 'behind' : 'ahead of'} ${host}`;
  const signs = clientAuth.endsWith('_jwt') || createsGrant;
  const effect = signs ? 'servers reject assertions with wrong times' : 'token lifetimes are computed wrongly';
  const level = signs && skew > MAX_ASSERTION_SKEW_SECONDS ? 'error' : 'warning';
  return [{ level, ...about, message, hint: `set the clock, preferably with NTP: ${effect}` }];
}

/** An unreachable server also fails token requests. Errors of a server that was reached may be temporary. */
export function checkFailure({ url }: Profile, error: unknown): Diagnostic {
  if (!(error instanceof OAuthProfileError) || error.code === 'aborted') throw error;
  const isReachable =
    error instanceof TransportError && error.sent && !['tls_failed', 'not_emulated'].includes(error.code);
  const about = { about: 'connection', where: url.host, message: error.message } as const;
  return isReachable
    ? { level: 'warning', ...about, hint: 'try again later; if it persists, ask the administrator of the server' }
    : { level: 'error', ...about, hint: error.hint };
}
