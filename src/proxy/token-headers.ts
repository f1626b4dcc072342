import type { IncomingMessage } from 'node:http';
import type { Client } from '../client.ts';
import type { Variables } from '../config/variables.ts';
import { usableUntil } from '../flows/token-cache.ts';
import { getToken } from '../get-token.ts';
import { createApiHeader } from '../oauth/api-header.ts';
import type { Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import type { HeaderList } from './header-rules.ts';

/** A new token that an API rejects as well is not replaced before this time: the API would reject the next one too. */
const REPLACE_AFTER_MS = 60_000;

/** The headers that authorize one request. */
export interface Authorization {
  readonly headers: HeaderList;
  /** Evaluates the response. Returns whether the API rejected the token and the request can be repeated with other headers. */
  isRejectedBy(response: Pick<IncomingMessage, 'statusCode' | 'headers'>): boolean;
}

/** Adds a profile's token to requests. */
export interface TokenHeaders {
  readonly profile: Profile;
  /** Names of all headers that authorize a request, in lower case. */
  readonly names: ReadonlySet<string>;
  /** The headers for one request. Throws if there is no token. */
  authorize(method: string, url: URL): Promise<Authorization>;
}

interface HeldToken extends Authorization {
  /** Epoch milliseconds. */
  readonly usableUntil: number;
}

/** Creates the headers of a profile's requests. The token is held in memory while it is usable. */
export function createTokenHeaders(client: Client, profile: Profile, variables: Variables): TokenHeaders {
  const { clock } = client.ports;
  let held: HeldToken | undefined;
  let loading: Promise<HeldToken> | undefined;
  let rejectedToken: Secret | undefined;

  async function load(): Promise<HeldToken> {
    const rejected = rejectedToken;
    const result = await getToken(client, profile.name, { variables, reuse: true, rejectedToken: rejected });
    const { token } = result;
    const { defaultTtlMs = 0, minTtlMs } = result.profile.options;
    const { name, value } = createApiHeader(result.profile, token);
    const loadedAt = clock.now();
    // A token that replaces a rejected one is on probation until the API accepts it.
    let isAccepted = rejected === undefined;
    const next: HeldToken = {
      headers: [name, value.reveal()],
      usableUntil: usableUntil(token.expiresAt ?? loadedAt + defaultTtlMs, loadedAt, minTtlMs),
      isRejectedBy({ statusCode }) {
        if (statusCode !== 401) {
          isAccepted = true;
          return false;
        }
        // Another request may have reported the same token already.
        if (held !== next) return true;
        if (!isAccepted && clock.now() - loadedAt < REPLACE_AFTER_MS) return false;
        rejectedToken = token.accessToken;
        held = undefined;
        return true;
      },
    };
    rejectedToken = undefined;
    held = next;
    return next;
  }

  return {
    profile,
    names: new Set(['authorization', profile.options.apiHeader.toLowerCase()]),
    async authorize() {
      if (held !== undefined && clock.now() < held.usableUntil) return held;
      // Requests that arrive in the meantime share the token.
      loading ??= load().finally(() => {
        loading = undefined;
      });
      return loading;
    },
  };
}
