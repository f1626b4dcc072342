import type { Reply } from './reply.ts';

/** When a provider wants to be asked again (epoch milliseconds): `Retry-After` (RFC 9110 §10.2.3), else Okta's and X's reset time. */
export function retryAtOf(headers: Reply['headers'], receivedAt: number): number | undefined {
  const after = first(headers['retry-after']);
  if (after !== undefined) {
    if (/^\d{1,9}$/.test(after)) return receivedAt + Number(after) * 1000;
    const date = Date.parse(after);
    return Number.isNaN(date) ? undefined : Math.max(date, receivedAt);
  }
  const reset = first(headers['x-rate-limit-reset']);
  if (reset === undefined || !/^\d{9,11}$/.test(reset)) return undefined;
  return Math.max(Number(reset) * 1000, receivedAt);
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
