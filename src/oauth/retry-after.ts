import type { HttpResponse } from './http-response.ts';

/** Beyond this nobody waits, and a date can still be made of it. */
const MAX_SECONDS = 1_000_000_000;

/** IMF-fixdate and the older forms of RFC 9110 §5.6.7, or ISO 8601; `Date.parse` alone takes `1.5` for a day of the year 2001. */
const dateForm = /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*|\d{4}-\d\d-\d\dT.*)$/;

/** When a provider wants to be asked again (epoch milliseconds): `Retry-After` (RFC 9110 §10.2.3), else Okta's and X's reset time. */
export function parseRetryAfter(headers: HttpResponse['headers'], receivedAt: number): number | undefined {
  const after = first(headers['retry-after']) ?? '';
  if (/^\d+$/.test(after)) return receivedAt + Math.min(Number(after), MAX_SECONDS) * 1000;
  const date = dateForm.test(after) ? Date.parse(after) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(date, receivedAt);
  const reset = first(headers['x-rate-limit-reset']) ?? '';
  return /^\d{9,11}$/.test(reset) ? Math.max(Number(reset) * 1000, receivedAt) : undefined;
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
