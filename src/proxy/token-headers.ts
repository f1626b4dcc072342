import type { IncomingMessage } from 'node:http';
import type { Client } from '../client.ts';
import type { Variables } from '../config/variables.ts';
import { usableUntil } from '../flows/token-cache.ts';
import { getToken } from '../get-token.ts';
import { createApiHeader } from '../oauth/api-header.ts';
import type { Dpop } from '../ports.ts';
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
  readonly accessToken: Secret;
  /** The key that the token is bound to (RFC 9449). */
  readonly dpopKey: Secret | undefined;
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
    const { name, value } = createApiHeader(result.profile, token, true);
    const loadedAt = clock.now();
    // A token that replaces a rejected one is on probation until the API accepts it.
    let isAccepted = rejected === undefined;
    const next: HeldToken = {
      headers: [name, value.reveal()],
      accessToken: token.accessToken,
      dpopKey: result.profile.dpopKey,
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

  /** Requests that arrive while a token is loaded share it. */
  async function current(): Promise<HeldToken> {
    if (held !== undefined && clock.now() < held.usableUntil) return held;
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  return {
    profile,
    names: new Set(['authorization', 'dpop', profile.options.apiHeader.toLowerCase()]),
    async authorize(method, url) {
      const token = await current();
      const { dpopKey, accessToken } = token;
      return dpopKey === undefined
        ? token
        : withProof(token, await client.ports.dpop(), { dpopKey, accessToken, method, url });
    },
  };
}

/** Adds the proof that a request with a bound token needs (RFC 9449 §7.1). A request without the server's nonce can be repeated with it (§9). */
function withProof(
  token: Authorization,
  dpop: Dpop,
  { dpopKey, accessToken, method, url }: { dpopKey: Secret; accessToken: Secret; method: string; url: URL },
): Authorization {
  return {
    headers: [...token.headers, 'DPoP', dpop.createProof(dpopKey, method, url, accessToken).reveal()],
    isRejectedBy(response) {
      const { statusCode: status = 0, headers } = response;
      return dpop.acceptNonce(url, { status, headers }) || token.isRejectedBy(response);
    },
  };
}
