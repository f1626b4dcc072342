import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { TransportError } from '../errors.ts';
import type { TlsFiles } from '../ports.ts';
import type { Secret } from '../redaction/secret.ts';

/** How one request reaches its host. */
export interface Route {
  readonly options: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly secure: boolean;
  /** `https.request`, where TLS is spoken; `http.request` serves else. */
  readonly request:
    | ((options: RequestOptions, onResponse: (response: IncomingMessage) => void) => ClientRequest)
    | undefined;
  /** Where a proxy answers in the provider's place: its failures are not the provider's. */
  readonly proxy:
    | {
        refused(status: number): TransportError;
        unreachable(cause: NodeJS.ErrnoException): TransportError;
        /** What the proxy was sent, and may repeat. */
        readonly secrets: readonly Secret[];
      }
    | undefined;
}

/** What decides which way a request takes. */
export interface ConnectionTarget {
  /** For messages; `undefined` where no profile is at work. */
  readonly profile: string | undefined;
  readonly url: URL;
  readonly reuseConnection: boolean;
  readonly tls: TlsFiles;
}

/** Finds the way to a request's host. */
export interface Connector {
  routeTo(destination: ConnectionTarget): Route | Promise<Route>;
}
