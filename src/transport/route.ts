import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { TransportError } from '../errors.ts';

/** How one request reaches its host. */
export interface Route {
  readonly options: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly secure: boolean;
  /** `https.request`, where TLS is spoken; `http.request` serves else. */
  readonly request:
    | ((options: RequestOptions, onResponse: (response: IncomingMessage) => void) => ClientRequest)
    | undefined;
  /** Where a proxy answers in the provider's place, tells its refusal from the provider's. */
  readonly refusedByProxy: ((status: number) => TransportError) | undefined;
}
