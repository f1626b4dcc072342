import { abortError, TransportError } from '../errors.ts';
import type { Limits } from '../ports.ts';

/** Runs an operation. A timeout or an abort does not wait for its end. */
export async function withLimits<T>(
  { timeoutMs, signal }: Limits,
  timeoutError: () => TransportError,
  operation: () => Promise<T>,
): Promise<T> {
  if (signal?.aborted) throw abortError(signal);
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), timeoutMs);
    onAbort = () => reject(abortError(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([operation(), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** No connection was made in time; nothing was sent. */
export function connectTimeout({ host }: URL, time: string): TransportError {
  return new TransportError('timeout', `no connection to ${host} within ${time}`, {
    sent: false,
    hint: 'check the URL, the network and the proxy settings',
  });
}
