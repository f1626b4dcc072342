import type { CallApi } from '../../src/ports.ts';

/** A server that publishes this document at every URL; without one, every response is 404. An error fails every request. */
export function publishing(document: unknown): CallApi {
  return async () => {
    if (document instanceof Error) throw document;
    const body = new TextEncoder().encode(document === undefined ? '' : JSON.stringify(document));
    return { status: document === undefined ? 404 : 200, statusText: '', headers: {}, body };
  };
}
