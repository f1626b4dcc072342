import type { CallApi } from '../../src/ports.ts';

/** A server that publishes this document, or the one of a promise, at every URL; without one, every response is 404. An error fails every request. */
export function publishing(published: unknown): CallApi {
  return async () => {
    const document = await published;
    if (document instanceof Error) throw document;
    const body = new TextEncoder().encode(document === undefined ? '' : JSON.stringify(document));
    return { status: document === undefined ? 404 : 200, statusText: '', headers: {}, body };
  };
}
