import { OAuthProfileError, TransportError } from '../../errors.ts';
import type { ApiResponse, CertificateInfo } from '../../ports.ts';
import type { Profile } from '../../profile/profile.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import type { Diagnostic } from './finding.ts';

const DAY_MS = 86_400_000;
const EXPIRY_DAYS = 14;
const SKEW_SECONDS = 60;
/** Few servers take an assertion that is older, or from further ahead. */
const SIGNED_SKEW_SECONDS = 300;

/** Whether a certificate is trusted, and for how long. */
export function checkCertificate({ provider, url }: Profile, seen: CertificateInfo, now: number): Diagnostic {
  const { failure, endsAt } = seen;
  const finding = { about: 'certificate', where: url.host } as const;
  const issuer = excerpt(seen.issuer, 100);
  if (failure !== undefined) {
    const { code } = (failure.cause ?? {}) as { readonly code?: unknown };
    const site = (host: string): string => host.split('.').slice(-2).join('.');
    const isPublic = provider.tokenUrl !== undefined && site(provider.tokenUrl.split('/')[2] ?? '') === site(url.host);
    const between =
      isPublic && /SELF_SIGNED|UNABLE_TO/.test(String(code))
        ? `; that of ${provider.type} is known everywhere, so a proxy or a virus scanner reads along: ask those who run it for the certificate`
        : '';
    const message = `${failure.message}; its certificate is from ${issuer}`;
    return { level: 'fault', ...finding, message, hint: `${failure.hint ?? ''}${between}` };
  }
  const day = new Date(endsAt).toISOString().slice(0, 10);
  if (endsAt - now > EXPIRY_DAYS * DAY_MS)
    return { level: 'ok', ...finding, message: `certified until ${day} by ${issuer}` };
  const days = Math.max(0, Math.floor((endsAt - now) / DAY_MS));
  const message = `its certificate ends in ${days} ${days === 1 ? 'day' : 'days'}, on ${day}`;
  return { level: 'warning', ...finding, message, hint: 'ask those who run the server whether it will be renewed' };
}

/** How far this machine's clock is off, by the header Date, which counts whole seconds; a cache adds how old that is. */
export function checkClock({ clientAuth }: Profile, host: string, { headers }: ApiResponse, now: number): Diagnostic[] {
  const age = /^\d{1,9}$/.test(String(headers['age'])) ? Number(headers['age']) : 0;
  const seconds = Math.round((now - Date.parse(String(headers['date']))) / 1000) - age;
  if (Number.isNaN(seconds)) return [];
  const finding = { about: 'clock', where: 'clock of this machine' } as const;
  const skew = Math.abs(seconds);
  if (skew <= SKEW_SECONDS) return [{ level: 'ok', ...finding, message: `agrees with that of ${host}` }];
  const message = `${skew} s ${seconds < 0 ? 'behind' : 'ahead of'} that of ${host}`;
  const signs = clientAuth === 'private_key_jwt';
  const effect = signs ? 'assertions signed with it are refused' : 'tokens seem to live longer or shorter than they do';
  const level = signs && skew > SIGNED_SKEW_SECONDS ? 'fault' : 'warning';
  return [{ level, ...finding, message, hint: `set it, best by NTP: ${effect}` }];
}

/** What kept a request from arriving keeps a token request too; a server that was reached may only have a bad day. */
export function checkFailure({ url }: Profile, error: unknown): Diagnostic {
  if (!(error instanceof OAuthProfileError) || error.code === 'aborted') throw error;
  const reached = error instanceof TransportError && error.sent && !['tls_failed', 'not_emulated'].includes(error.code);
  const finding = { about: 'connection', where: url.host, message: error.message } as const;
  return reached
    ? { level: 'warning', ...finding, hint: 'try again later; if it stays so, ask those who run the server' }
    : { level: 'fault', ...finding, hint: error.hint };
}
